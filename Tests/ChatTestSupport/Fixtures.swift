public import ChatCore
public import Foundation

/// Default values for tests that do not depend on them.
public enum Fixtures {
    public static let own = Member(id: MemberID("own"), displayName: "Robin", kind: .own)
    public static let other = Member(id: MemberID("other"), displayName: "Alex", kind: .person)
    /// 2026-01-02 03:04:05.678 UTC.
    public static let date = Date(timeIntervalSince1970: 1_767_323_045.678)

    public static func room(_ id: String = "room", name: String = "A room", kind: Room.Kind = .group) -> Room {
        Room(id: RoomID(id), name: name, kind: kind)
    }

    /// Returns the message at this position of a room, one minute after the previous one.
    public static func message(
        _ position: Int64, in room: String = "room", by sender: Member = own, text: String? = nil
    ) -> Message {
        Message(
            id: MessageID("message-\(position)"), roomID: RoomID(room), sender: sender.id,
            text: text ?? "Message \(position)", sentAt: date.addingTimeInterval(Double(position) * 60),
            position: position)
    }

    public static func outgoing(
        _ text: String, transaction: String = UUID().uuidString
    ) -> (transaction: TransactionID, message: WrittenMessage) {
        (TransactionID(transaction), WrittenMessage(text))
    }

    public static func draft(_ text: String) -> SavedDraft {
        SavedDraft(data: Data("{\"text\":\"\(text)\"}".utf8), preview: text)
    }
}
