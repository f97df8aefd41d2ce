import ChatCore
import ChatStore
import Foundation
import JSONReading

/// An event from the server, or the event that was encrypted in one (``EventOpener``). Required fields are present and
/// validated; the rest is unchecked.
struct MatrixEvent: Equatable, Sendable {
    enum Protection: Equatable, Sendable {
        case clear
        /// It was encrypted, and this is the decrypted event.
        case opened
        /// It cannot be read.
        case sealed(SealReason)
    }

    let id: MessageID
    let type: String
    let sender: MemberID
    /// The state key, or `nil` for an event that is not a state event.
    let stateKey: String?
    let sentAt: Date
    /// The content, always an object.
    let content: JSONValue
    /// Data that the server adds, which is not part of the event.
    let unsigned: JSONValue
    /// The event that a redaction redacts; in its content since room version 11.
    let redacts: MessageID?
    var protection = Protection.clear
    /// A warning about its encryption.
    var trust: MessageTrust?
    /// The latest edit that the server has bundled with the event, if that is encrypted: at most one.
    var encryptedEdit: [MatrixEvent] = []

    /// - Returns: `nil` if the JSON is not a valid event; callers skip such events.
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

    /// Creates the event that was encrypted in another. It is never a state event or a redaction, which are always
    /// unencrypted, and takes its relation from the outer event.
    init?(_ event: MatrixEvent, saying type: String, _ content: [String: JSONValue]) {
        guard let type = Self.identifier(.string(type)), type != Self.encryptedType, type != "m.room.redaction",
            event.stateKey == nil
        else { return nil }
        var content = content
        content["m.relates_to"] = event.content["m.relates_to"]
        id = event.id
        self.type = type
        sender = event.sender
        stateKey = nil
        sentAt = event.sentAt
        unsigned = event.unsigned
        redacts = nil
        self.content = .object(content)
        protection = .opened
    }

    static let encryptedType = "m.room.encrypted"

    /// The same event with other content.
    private init(_ event: MatrixEvent, content: JSONValue) {
        id = event.id
        type = event.type
        sender = event.sender
        stateKey = event.stateKey
        sentAt = event.sentAt
        unsigned = event.unsigned
        redacts = event.redacts
        self.content = content
    }

    /// The message that the event edits, according to its relation.
    var editedMessage: MessageID? {
        let relation = content["m.relates_to"]
        guard relation?["rel_type"]?.string == "m.replace" else { return nil }
        return Self.identifier(relation?["event_id"]).map { MessageID($0) }
    }

    /// Whether the event was redacted before the server returned it.
    var isRedacted: Bool { unsigned["redacted_because"]?.object != nil }

    /// In bytes (specification, size limits).
    static let maxIdentifierLength = 255

    /// Returns an `mxc:` URI, or `nil` for any other value.
    static func contentURI(_ value: JSONValue?) -> String? {
        value?.string.flatMap { $0.hasPrefix("mxc://") && $0.utf8.count <= 1000 ? $0 : nil }
    }

    static func identifier(_ value: JSONValue?) -> String? {
        guard let text = value?.string, !text.isEmpty, text.utf8.count <= maxIdentifierLength, !text.utf8.contains(0)
        else { return nil }
        return text
    }

    /// Converts milliseconds since 1970, clamped to the years 1970 to 9999.
    static func date(_ milliseconds: Int64) -> Date {
        Date(timeIntervalSince1970: Double(min(max(milliseconds, 0), 253_402_300_799_000)) / 1000)
    }
}

// MARK: Redaction

extension MatrixEvent {
    /// The content keys that survive a redaction, for the event types that are read here. They are the same in all room
    /// versions (specification, room versions).
    private static let protected: [String: Set<String>] = [
        "m.room.member": ["membership"],
        "m.room.power_levels": [
            "ban", "events", "events_default", "invite", "kick", "redact", "state_default", "users", "users_default",
        ],
        "m.room.create": ["additional_creators", "creator", "predecessor", "room_version", "type"],
        "m.room.join_rules": ["allow", "join_rule"], "m.room.history_visibility": ["history_visibility"],
    ]

    /// The event as its redaction leaves it.
    var pruned: MatrixEvent {
        let protectedKeys = Self.protected[type] ?? []
        return MatrixEvent(self, content: .object((content.object ?? [:]).filter { protectedKeys.contains($0.key) }))
    }

    /// A stored state event with empty content.
    init?(prunedAt origin: StateOrigin) {
        self.init([
            "event_id": .string(origin.event.rawValue), "type": .string(origin.subject.type), "sender": "@:",
            "state_key": .string(origin.subject.key), "origin_server_ts": 0, "content": [:],
        ])
    }
}
