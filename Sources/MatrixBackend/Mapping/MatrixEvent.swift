import ChatCore
import Foundation
import JSONReading

/// An event of a room as a server told it: what every event has is there and of the right kind, the rest is as it came.
struct MatrixEvent: Equatable, Sendable {
    let id: MessageID
    let type: String
    let sender: MemberID
    /// nil of events that are no state.
    let stateKey: String?
    let sentAt: Date
    /// An object.
    let content: JSONValue
    /// What the server adds: no part of the event.
    let unsigned: JSONValue
    /// What a redaction takes away; in its content since version 11 of rooms.
    let redacts: MessageID?

    /// - Returns: nil if it is no event by the specification: it is then left out, and nothing else is.
    init?(_ json: JSONValue) {
        guard let id = Self.identifier(json["event_id"]), let type = Self.identifier(json["type"]),
            let sender = Self.identifier(json["sender"]), sender.hasPrefix("@"),
            case .integer(let time)? = json["origin_server_ts"], let content = json["content"], content.object != nil
        else { return nil }
        if let key = json["state_key"] {
            guard let text = key.string, text.utf8.count <= Self.maxIdentifierLength else { return nil }
            stateKey = text
        } else {
            stateKey = nil
        }
        self.id = MessageID(id)
        self.type = type
        self.sender = MemberID(sender)
        self.content = content
        sentAt = Self.date(time)
        unsigned = json["unsigned"] ?? .null
        redacts = (Self.identifier(json["redacts"]) ?? Self.identifier(content["redacts"])).map { MessageID($0) }
    }

    /// The same event with another content.
    init(_ event: MatrixEvent, content: JSONValue) {
        id = event.id
        type = event.type
        sender = event.sender
        stateKey = event.stateKey
        sentAt = event.sentAt
        unsigned = event.unsigned
        redacts = event.redacts
        self.content = content
    }

    /// Whether it was deleted before it was told.
    var isRedacted: Bool { unsigned["redacted_because"]?.object != nil }

    /// Bytes (specification, size limits).
    static let maxIdentifierLength = 255

    /// Where a homeserver keeps a file; nil for anything else.
    static func contentURI(_ value: JSONValue?) -> String? {
        value?.string.flatMap { $0.hasPrefix("mxc://") && $0.utf8.count <= 1000 ? $0 : nil }
    }

    static func identifier(_ value: JSONValue?) -> String? {
        guard let text = value?.string, !text.isEmpty, text.utf8.count <= maxIdentifierLength, !text.utf8.contains(0)
        else { return nil }
        return text
    }

    /// Milliseconds since 1970, brought into years that calendars know.
    static func date(_ milliseconds: Int64) -> Date {
        Date(timeIntervalSince1970: Double(min(max(milliseconds, 0), 253_402_300_799_000)) / 1000)
    }
}
