import ChatCore
import ChatStore
import Foundation
import JSONReading

/// Maps events to timeline events. Events that have nothing to display are omitted.
struct EventParser {
    let ownUserID: MemberID
    /// Translates texts that stand for unreadable content.
    let translator: Translator
    /// The push rules and the room they apply to; `nil` where notification levels are not needed.
    var rules: (rules: PushRules, room: PushRoom)?
    /// The users whose events notify of nothing.
    var ignoredUsers = IgnoredUsers()
    /// State events from the room's creation are not displayed.
    var creation: RoomState.Creation?

    /// Maps events in order. A message with a bundled edit becomes the original message and the edit. For whatever
    /// is not a message, a `silent` event keeps the position.
    func timeline(_ events: [MatrixEvent]) -> [TimelineEvent] {
        events.flatMap { event -> [TimelineEvent] in
            switch self.event(event) {
            case .message(let message): [.message(message), bundledEdit(of: event)].compactMap(\.self)
            case .deleted(let message): [.deleted(message)]
            case let other: [.silent(event.id), other].compactMap(\.self)
            }
        }
    }

    func event(_ event: MatrixEvent) -> TimelineEvent? {
        // State events of a message type, such as `m.room.message`, are not messages.
        if let key = event.stateKey { return happening(event, key) }
        switch event.type {
        case "m.room.message", "m.sticker": return message(event)
        case "m.room.encrypted": return encrypted(event)
        case "m.reaction": return reaction(event)
        case "m.call.invite":
            if event.isRedacted { return nil }
            return .message(
                NewMessage(id: event.id, sender: event.sender, event: RoomEvent(.called), sentAt: event.sentAt))
        case "m.room.redaction":
            guard let target = event.redacts else { return nil }
            return change(event, of: target, .deletion)
        default: return fallback(event)
        }
    }

    /// Displays the fallback text of unknown event types (specification, extensible events).
    private func fallback(_ event: MatrixEvent) -> TimelineEvent? {
        if event.isRedacted { return nil }
        guard let text = poll(event.content) ?? Self.fallbackText(event.content) else { return nil }
        return message(
            event,
            ["msgtype": "m.notice", "body": .string(text), "m.relates_to": event.content["m.relates_to"] ?? .null])
    }

    private static func fallbackText(_ content: JSONValue) -> String? {
        for name in ["m.text", "org.matrix.msc1767.text", "body"] {
            if let text = content[name]?.string { return text }
            if let text = content[name]?.array?.compactMap({ $0["body"]?.string }).first { return text }
        }
        return nil
    }

    /// Returns a poll's question and answers as text; voting is not supported yet.
    private func poll(_ content: JSONValue) -> String? {
        guard let poll = content["m.poll"] ?? content["org.matrix.msc3381.poll.start"],
            let question = poll["question"].flatMap(Self.fallbackText)
        else { return nil }
        let answers = (poll["answers"]?.array ?? []).prefix(20).compactMap(Self.fallbackText)
        let title = translator("Poll: {question}", ["question": question])
        return ([title] + answers.map { "• " + $0 }).joined(separator: "\n")
    }

    private func happening(_ event: MatrixEvent, _ key: String) -> TimelineEvent? {
        guard creation?.includes(event) != true, let happened = RoomEvent(event, stateKey: key) else { return nil }
        return .message(NewMessage(id: event.id, sender: event.sender, event: happened, sentAt: event.sentAt))
    }

    private func message(_ event: MatrixEvent) -> TimelineEvent? { message(event, event.content) }

    private func message(_ event: MatrixEvent, _ content: JSONValue) -> TimelineEvent? {
        if event.isRedacted { return .deleted(new(event, Message.Content())) }
        let relation = content["m.relates_to"]
        if relation?["rel_type"]?.string == "m.replace" {
            guard let target = MatrixEvent.identifier(relation?["event_id"]),
                let edited = Message.Content(json: content["m.new_content"] ?? .null)
            else { return nil }
            return .change(
                MessageChange(
                    id: event.id.rawValue, target: MessageID(target), sender: event.sender, at: event.sentAt,
                    kind: .edit(edited.wording),
                    content: MessageMedia(kind: edited.kind, attachments: edited.attachments)))
        }
        let reply = Self.repliedMessage(by: relation)
        guard var content = Message.Content(json: content, isSticker: event.type == "m.sticker") else { return nil }
        if reply != nil { content.dropReplyFallback() }
        return .message(new(event, content, replyTo: reply))
    }

    /// In a thread, a message that replies to nothing else is displayed as a reply to the thread's root.
    private static func repliedMessage(by relation: JSONValue?) -> MessageID? {
        let isInThread = relation?["rel_type"]?.string == "m.thread"
        var repliedEvent = relation?["m.in_reply_to"]?["event_id"]
        if isInThread, repliedEvent == nil || relation?["is_falling_back"]?.bool == true {
            repliedEvent = relation?["event_id"]
        }
        return MatrixEvent.identifier(repliedEvent).map { MessageID($0) }
    }

    /// Returns the latest edit if the server has bundled it with the message.
    func bundledEdit(of event: MatrixEvent) -> TimelineEvent? {
        guard let bundled = event.unsigned["m.relations"]?["m.replace"], let edit = MatrixEvent(bundled),
            edit.sender == event.sender, edit.type == event.type, event.type == "m.room.message", !event.isRedacted,
            edit.content["m.relates_to"]?["event_id"]?.string == event.id.rawValue
        else { return nil }
        return message(edit)
    }

    private func encrypted(_ event: MatrixEvent) -> TimelineEvent? {
        // Encrypted edits are recognized only by their relation, which is not encrypted.
        if event.content["m.relates_to"]?["rel_type"]?.string == "m.replace" { return nil }
        if event.isRedacted { return .deleted(new(event, Message.Content())) }
        return .message(
            new(event, Message.Content(translator("Encrypted message (not supported yet)"), kind: .notice)))
    }

    private func reaction(_ event: MatrixEvent) -> TimelineEvent? {
        if event.isRedacted { return .redacted(event.id, at: event.sentAt) }
        let relation = event.content["m.relates_to"]
        guard relation?["rel_type"]?.string == "m.annotation",
            let target = MatrixEvent.identifier(relation?["event_id"]), let key = relation?["key"]?.string,
            ChatLimits.isValidReaction(key)
        else { return nil }
        return change(event, of: MessageID(target), .reaction(key))
    }

    private func change(_ event: MatrixEvent, of target: MessageID, _ kind: MessageChange.Kind) -> TimelineEvent {
        .change(
            MessageChange(id: event.id.rawValue, target: target, sender: event.sender, at: event.sentAt, kind: kind))
    }

    private func new(_ event: MatrixEvent, _ content: Message.Content, replyTo: MessageID? = nil) -> NewMessage {
        // A transaction ID is meaningful only for the sender; ignore it in other members' events.
        let transaction = event.sender == ownUserID ? MatrixEvent.identifier(event.unsigned["transaction_id"]) : nil
        var new = NewMessage(
            id: event.id, sender: event.sender, content: content, sentAt: event.sentAt,
            transactionID: transaction.map { TransactionID($0) }, replyTo: replyTo)
        if ignoredUsers.contains(event.sender) {
            new.notificationLevel = .none
        } else if let rules {
            new.notificationLevel = rules.rules.notificationLevel(to: event, in: rules.room)
        }
        return new
    }
}
