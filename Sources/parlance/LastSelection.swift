import ChatCore
import ChatStore
import ChatViewModels
import GtkKit

/// The last account and room that the window showed; persisted on each change so that it survives a crash.
final class LastSelection {
    private(set) var account: String
    private(set) var room: RoomID?
    private let settings: Settings?
    private let store: ChatStore
    private let writes = DeliveryQueue()

    /// - Parameter settings: `nil` if the schema is not installed; the selection is then persisted in the store.
    init(settings: Settings?, store: ChatStore) async {
        self.settings = settings
        self.store = store
        var room: String
        if let settings {
            (account, room) = (settings.string(Self.accountKey), settings.string(Self.roomKey))
        } else {
            // Without the last selection the window opens the most recent room.
            account = ((try? await store.setting(Self.storedPrefix + Self.accountKey)) ?? nil) ?? ""
            room = ((try? await store.setting(Self.storedPrefix + Self.roomKey)) ?? nil) ?? ""
        }
        self.room = room.isEmpty ? nil : RoomID(room)
    }

    /// The room to open in an account: the one that was shown last, if it was in this account.
    func room(of account: String) -> RoomID? { account == self.account ? room : nil }

    /// - Parameter room: `nil` if no room is open; the last one of the same account is then retained.
    func note(_ account: String, _ room: RoomID?) {
        guard account != self.account || room != nil && room != self.room else { return }
        let room = room ?? (account == self.account ? self.room : nil)
        (self.account, self.room) = (account, room)
        let values = [(Self.accountKey, account), (Self.roomKey, room?.rawValue ?? "")]
        if let settings { return values.forEach { settings.set($0, $1) } }
        writes.add { [store] in
            // Errors are ignored: at worst, the next start opens another room.
            for (key, value) in values { try? await store.setSetting(value, for: Self.storedPrefix + key) }
        }
    }

    /// Waits for pending writes.
    func flush() async { await writes.finish() }

    private nonisolated static let accountKey = "selected-account"
    private nonisolated static let roomKey = "selected-room"
    private nonisolated static let storedPrefix = "window."
}
