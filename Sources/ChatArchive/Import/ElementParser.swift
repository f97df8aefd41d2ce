import ChatCore
import Foundation
import JSONReading

/// Element's export of a room as JSON: what is told of the room, and its events as Matrix has them.
final class ElementParser: ConversationParser, JSONReceiver {
    private lazy var stream = JSONStream(receiver: self)
    private var events: [ImportEvent] = []
    private var names: [String: String] = [:]
    private var name = ""
    private var hasBegun = false
    /// Names of members are remembered up to so many: an export may name anybody.
    private static let mostNames = 200_000

    func feed(_ bytes: Data) throws { try stream.feed(bytes) }
    func finish() throws { try stream.finish() }

    func take() -> [ImportEvent] {
        defer { events = [] }
        return events
    }

    func entersContainer(at path: [JSONStep]) -> Bool {
        guard path == [.key("messages")] else { return path.isEmpty }
        hasBegun = true
        events.append(.conversation(name: name))
        return true
    }

    func leaveContainer(at path: [JSONStep]) {}

    func receive(_ value: JSONValue, at path: [JSONStep]) {
        switch (path.first, path.count) {
        case (nil, _): events.append(.omission(.wrongType("root")))
        case (.key("room_name"), 1):
            name = value.string ?? ""
            if hasBegun { events.append(.renamed(name)) }
        case (.key("messages"), 1): events.append(.omission(.wrongType("messages")))
        case (.key("messages"), 2): event(value)
        default: break
        }
    }

    private func event(_ value: JSONValue) {
        guard value.object != nil, let type = value["type"]?.string else {
            return events.append(.omission(.wrongType("event")))
        }
        switch type {
        case "m.room.member":
            if let member = value["state_key"]?.string ?? value["sender"]?.string,
                let name = value["content"]?["displayname"]?.string, names.count < Self.mostNames
            {
                names[member] = name
            }
            events.append(.omission(.event(type)))
        case "m.room.message", "m.sticker": message(value, type)
        case "m.reaction": events.append(.omission(.reaction))
        default: events.append(.omission(type.hasPrefix("m.") ? .event(type) : .unknownKind(type)))
        }
    }

    private func message(_ value: JSONValue, _ type: String) {
        guard let id = value["event_id"]?.string else { return events.append(.omission(.incomplete("event_id"))) }
        guard let sender = value["sender"]?.string else { return events.append(.omission(.incomplete("sender"))) }
        guard let milliseconds = value["origin_server_ts"]?.double, abs(milliseconds) < 1e14 else {
            return events.append(.omission(.incomplete("origin_server_ts")))
        }
        let content = value["content"]
        let relation = content?["m.relates_to"]
        if relation?["rel_type"]?.string == "m.replace" { return events.append(.omission(.edit)) }
        guard let body = content?["body"]?.string else {
            // What was deleted has no content left.
            return events.append(.omission(content?.object?.isEmpty == true ? .event("redacted") : .wrongType("body")))
        }
        var parsed = ParsedMessage(
            id: id, senderID: sender, senderName: names[sender] ?? sender, text: body,
            sentAt: Date(timeIntervalSince1970: milliseconds / 1000))
        parsed.replyTo = relation?["m.in_reply_to"]?["event_id"]?.string
        if parsed.replyTo != nil { parsed.text = Self.withoutFallback(body) }
        switch content?["msgtype"]?.string {
        case "m.emote": parsed.kind = .emote
        case "m.notice": parsed.kind = .notice
        case "m.image", "m.file", "m.audio", "m.video": events.append(.omission(.missingFile))
        default: break
        }
        guard !parsed.text.isEmpty else { return events.append(.omission(.incomplete("body"))) }
        events.append(.message(parsed))
    }

    /// The text of an answer, without the quoted lines that older programs put before it.
    private static func withoutFallback(_ text: String) -> String {
        guard text.hasPrefix("> <") || text.hasPrefix("> * <") else { return text }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let rest = lines.drop { $0.hasPrefix(">") }
        return rest.drop { $0.isEmpty }.joined(separator: "\n")
    }
}
