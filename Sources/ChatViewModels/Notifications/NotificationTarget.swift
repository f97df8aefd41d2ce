public import ChatCore
import Foundation

/// The account, room and message that a notification is about, as one text: an action of an application takes one.
public nonisolated struct NotificationTarget: Equatable, Hashable, Sendable {
    public var account: String
    public var room: RoomID
    public var message: MessageID?

    public init(account: String, room: RoomID, message: MessageID? = nil) {
        self.account = account
        self.room = room
        self.message = message
    }

    /// Names the account alone.
    public init(account: String) {
        self.init(account: account, room: RoomID(""))
    }

    /// Whether it names a room, besides the account.
    public var hasRoom: Bool { !room.rawValue.isEmpty }

    /// A JSON array: identifiers come from servers and may contain any separator.
    public var text: String {
        let parts = [account, room.rawValue] + (message.map { [$0.rawValue] } ?? [])
        // An array of strings can always be encoded.
        return (try? JSONEncoder().encode(parts)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// - Parameter text: see ``text``. Anyone on the session bus can activate the action with another.
    public init?(_ text: String) {
        // What is no such text names nothing.
        guard let parts = try? JSONDecoder().decode([String].self, from: Data(text.utf8)), (2...3).contains(parts.count)
        else { return nil }
        self.init(
            account: parts[0], room: RoomID(parts[1]), message: parts.count == 3 ? MessageID(parts[2]) : nil)
    }
}
