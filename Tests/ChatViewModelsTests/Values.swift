import ChatCore
import ChatTestSupport
import ChatViewModels
import Composer
import Foundation

/// Returns a date in the process's time zone.
func localTime(
    _ year: Int, _ month: Int, _ day: Int, _ hour: Int = 12, _ minute: Int = 0, _ second: Int = 0
) -> Date {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .current
    let parts = DateComponents(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    return calendar.date(from: parts)!
}

extension RoomSummary {
    static func of(
        _ id: String, kind: Room.Kind = .group, last: LastMessage? = nil, at date: Date = Fixtures.date,
        unread: Int = 0, draft: String? = nil
    ) -> RoomSummary {
        RoomSummary(
            room: Fixtures.room(id, name: "Room \(id)", kind: kind), lastMessage: last, lastActivity: date,
            unreadCount: unread, draftPreview: draft)
    }
}

extension RoomSummary.LastMessage {
    static func of(
        _ text: String, isOwn: Bool = false, delivery: Message.Delivery = .sent, trust: MessageTrust? = nil
    ) -> Self {
        Self(
            senderName: isOwn ? "Robin" : "Alex", isOwn: isOwn, text: text, sentAt: Fixtures.date, delivery: delivery,
            trust: trust)
    }
}

extension Message {
    static func of(_ position: Int64, by sender: Member = Fixtures.other, _ event: RoomEvent, at date: Date? = nil)
        -> Message
    {
        var message = of(position, by: sender, at: date ?? localTime(2026, 3, 10), text: "")
        message.kind = .event
        message.event = event
        return message
    }
}

extension TimelineViewModel {
    /// The rows without load-more placeholders.
    var items: [TimelineItem] { rows.filter { if case .more = $0 { false } else { true } } }
}

extension Message {
    static func of(
        _ position: Int64, by sender: Member = Fixtures.other, at date: Date = localTime(2026, 3, 10),
        text: String? = nil, isDeleted: Bool = false, delivery: Delivery = .sent
    ) -> Message {
        Message(
            id: MessageID("m\(position)"), roomID: RoomID("room"), sender: sender.id, text: text ?? "Text \(position)",
            sentAt: date, position: position, isDeleted: isDeleted, delivery: delivery)
    }
}

extension MessageItem.Quote {
    /// Returns a quote without mentions.
    static func text(_ id: MessageID, senderName: String, words: String) -> Self {
        .text(id, senderName: senderName, text: WrittenText(words, syntax: .plain))
    }
}

@MainActor extension ConversationCoordinator {
    /// The toasts that would be shown; there is no window to show them.
    var toasts: [WindowRequests.Toast] {
        requests.state.pending.compactMap { if case .show(let toast) = $0.request { toast } else { nil } }
    }

    var leaveRequests: [RoomID] {
        requests.state.pending.compactMap { if case .confirmLeaving(let room, _) = $0.request { room } else { nil } }
    }
}
