import ChatCore
import ChatStore
import Synchronization

/// The user's name, which is the same in every room.
final class OwnProfile: Sendable {
    private static let setting = "local.ownName"
    private let store: ChatStore
    private let current: Mutex<String>

    /// Reads the name that the user has chosen, which takes precedence over that of the system account.
    init(in store: ChatStore, unlessChosen accountName: String) async throws {
        self.store = store
        current = Mutex(try await store.setting(Self.setting) ?? accountName)
    }

    var name: String { current.withLock { $0 } }

    var member: Member { Member(id: LocalBackend.ownUserID, displayName: name, kind: .own) }

    func setName(_ name: String) async throws {
        try await store.setSetting(name, for: Self.setting)
        current.withLock { $0 = name }
    }
}
