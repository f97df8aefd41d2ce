import ChatCore
import ChatStore
import Foundation
import Synchronization

/// The context in which events are interpreted: the user and their current account data.
final class AccountContext: Sendable {
    let ownUserID: MemberID
    let translator: Translator
    let now: @Sendable () -> Date
    private let data: Mutex<AccountData>

    init(ownUserID: MemberID, translator: Translator, data: AccountData, now: @escaping @Sendable () -> Date) {
        self.ownUserID = ownUserID
        self.translator = translator
        self.now = now
        self.data = Mutex(data)
    }

    /// Builds batches using the current account data.
    var batchBuilder: RoomBatchBuilder {
        RoomBatchBuilder(
            ownUserID: ownUserID, translator: translator, accountData: data.withLock { $0 }, now: now())
    }

    var directRooms: DirectRooms {
        get { data.withLock { $0.directRooms } }
        set { data.withLock { $0.directRooms = newValue } }
    }

    /// Applies the account data of an update and adds it to what is to be stored.
    func apply(_ update: SyncUpdate, storing batch: inout SyncBatch) {
        data.withLock { $0.apply(update, storing: &batch) }
    }
}
