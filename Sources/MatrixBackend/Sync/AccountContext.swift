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
    private let settings: ValueFeed<NotificationSettings>

    init(ownUserID: MemberID, translator: Translator, data: AccountData, now: @escaping @Sendable () -> Date) {
        self.ownUserID = ownUserID
        self.translator = translator
        self.now = now
        settings = ValueFeed(data.notificationSettings)
        self.data = Mutex(data)
    }

    /// Builds batches using the current account data.
    var batchBuilder: RoomBatchBuilder {
        RoomBatchBuilder(
            ownUserID: ownUserID, translator: translator, accountData: data.withLock { $0 }, now: now())
    }

    var directRooms: DirectRooms { data.withLock { $0.directRooms } }

    /// Those that the server does not list yet.
    var unlistedDirectRooms: DirectRooms {
        get { data.withLock { $0.unlistedDirectRooms } }
        set { data.withLock { $0.unlistedDirectRooms = newValue } }
    }

    /// Changes whenever a sync brings the list of direct chats.
    var directRoomsVersion: Int { data.withLock { $0.directRoomsVersion } }

    /// Notes that the server lists these, and that no other direct chat is to be added.
    /// - Parameter version: ``directRoomsVersion`` before the server was asked.
    /// - Returns: `false`, without noting it, if a sync has brought another list since, which may be later.
    func noteListed(_ rooms: DirectRooms, since version: Int) -> Bool {
        data.withLock { data in
            guard data.directRoomsVersion == version || data.listedDirectRooms == rooms else { return false }
            data.listedDirectRooms = rooms
            data.unlistedDirectRooms = DirectRooms()
            return true
        }
    }

    /// The users whose messages are hidden: never the user, whatever the list says.
    var ignoredUsers: Set<MemberID> { data.withLock { $0.ignoredUsers.users }.subtracting([ownUserID]) }

    /// Applies the account data of an update and adds it to what is to be stored.
    func apply(_ update: SyncUpdate, storing batch: inout SyncBatch) {
        let found = data.withLock { data in
            data.apply(update, storing: &batch)
            return data.notificationSettings
        }
        batch.ignoredUsers?.remove(ownUserID)
        settings.set(found)
    }

    // MARK: Notifications

    var notificationSettings: NotificationSettings { settings.value }

    /// The current settings, then each change.
    func notificationSettingsChanges() -> AsyncStream<NotificationSettings> { settings.values() }

    /// Marks which of the rooms are muted.
    func muting(_ summaries: [RoomSummary]) -> [RoomSummary] {
        let rules = settings.value.rooms
        return summaries.map { summary in
            var summary = summary
            summary.isMuted = rules[summary.id] == .nothing
            return summary
        }
    }

    /// Ends all streams.
    func finish() { settings.finish() }
}
