public import ChatCore
import Foundation

/// A notification's account, room and message, encoded as the single text that an application's action accepts.
public nonisolated struct NotificationTarget: Equatable, Hashable, Sendable {
    public var account: String
    public var room: RoomID
    public var message: MessageID?

    public init(account: String, room: RoomID, message: MessageID? = nil) {
        self.account = account
        self.room = room
        self.message = message
    }

    /// A target without a room.
    public init(account: String) {
        self.init(account: account, room: RoomID(""))
    }

    /// Whether there is a room besides the account.
    public var hasRoom: Bool { !room.rawValue.isEmpty }

    /// A JSON array, since identifiers come from servers and may contain any separator.
    public var text: String {
        let parts = [account, room.rawValue] + (message.map { [$0.rawValue] } ?? [])
        // An array of strings can always be encoded.
        return (try? JSONEncoder().encode(parts)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// - Parameter text: see ``text``. Untrusted: anyone on the session bus can activate the action.
    public init?(_ text: String) {
        // Ignore a malformed text.
        guard let parts = try? JSONDecoder().decode([String].self, from: Data(text.utf8)), (2...3).contains(parts.count)
        else { return nil }
        self.init(
            account: parts[0], room: RoomID(parts[1]), message: parts.count == 3 ? MessageID(parts[2]) : nil)
    }
}
