import ChatCore
import ChatStore
import JSONReading

/// A user's push rules (specification, push notifications).
struct PushRules: Equatable, Sendable {
    /// The kinds of rules in the order of their evaluation.
    private static let kinds = ["override", "content", "room", "sender", "underride"]

    /// The setting that stores the rules.
    static let setting = "matrix.pushRules"

    private let rules: [PushRule]

    /// - Parameter content: The content of the account data `m.push_rules`. Invalid rules are skipped.
    init(_ content: JSONValue?) {
        let global = content?["global"]
        rules = Self.kinds.flatMap { kind in
            (global?[kind]?.array ?? []).compactMap { PushRule($0, kind: kind) }
        }
    }

    /// The specification's default rules for messages, used until the server's are known.
    static let standard = PushRules([
        "global": [
            "override": [
                [
                    "rule_id": ".m.rule.is_user_mention", "default": true, "enabled": true,
                    "conditions": [
                        [
                            "kind": "event_property_contains", "key": "content.m\\.mentions.user_ids",
                            "value": .ownUserID,
                        ]
                    ],
                    "actions": ["notify", ["set_tweak": "highlight"]],
                ],
                [
                    "rule_id": ".m.rule.is_room_mention", "default": true, "enabled": true,
                    "conditions": [
                        ["kind": "event_property_is", "key": "content.m\\.mentions.room", "value": true],
                        ["kind": "sender_notification_permission", "key": "room"],
                    ],
                    "actions": ["notify", ["set_tweak": "highlight"]],
                ],
            ],
            "underride": [
                [
                    "rule_id": ".m.rule.message", "default": true, "enabled": true,
                    "conditions": [["kind": "event_match", "key": "type", "pattern": "m.room.message"]],
                    "actions": ["notify"],
                ],
                [
                    "rule_id": ".m.rule.encrypted", "default": true, "enabled": true,
                    "conditions": [["kind": "event_match", "key": "type", "pattern": "m.room.encrypted"]],
                    "actions": ["notify"],
                ],
            ],
        ]
    ])

    /// Returns the level of the first matching rule; `none` without a match and for own events.
    func notificationLevel(to event: MatrixEvent, in room: PushRoom) -> NotificationLevel {
        guard event.sender != room.ownUserID else { return .none }
        return rule(for: event, in: room)?.notificationLevel ?? .none
    }

    /// Whether the first matching rule has the tweak `sound`.
    func playsSound(for event: MatrixEvent, in room: PushRoom) -> Bool {
        rule(for: event, in: room)?.playsSound ?? false
    }

    private func rule(for event: MatrixEvent, in room: PushRoom) -> PushRule? {
        rules.first { $0.holds(for: event, in: room) }
    }
}

extension JSONValue {
    /// Stands for the user's ID in the default rules.
    fileprivate static let ownUserID: JSONValue = "\u{0}own"
}

/// The data of a room that push rules evaluate.
struct PushRoom: Equatable, Sendable {
    var id: RoomID
    var ownUserID: MemberID
    /// The user's display name in the room, or `nil` without one.
    var ownDisplayName: String?
    /// The number of joined members, or `nil` if unknown.
    var memberCount: Int?
    var powers: PowerLevels
}

private struct PushRule: Equatable, Sendable {
    /// Legacy rules that search the text for mentions.
    private static let guesses: Set = [
        ".m.rule.contains_display_name", ".m.rule.contains_user_name", ".m.rule.roomnotif",
    ]

    let conditions: [PushCondition]
    let notificationLevel: NotificationLevel
    let playsSound: Bool
    /// Whether the rule is skipped for events with `m.mentions`.
    let isGuess: Bool

    /// - Returns: `nil` for a rule that is disabled or invalid.
    init?(_ rule: JSONValue, kind: String) {
        guard rule["enabled"]?.bool ?? true, let id = rule["rule_id"]?.string, let actions = rule["actions"]?.array
        else { return nil }
        isGuess = Self.guesses.contains(id)
        switch kind {
        case "content":
            guard let pattern = rule["pattern"]?.string else { return nil }
            conditions = [.match(key: ["content", "body"], glob: Glob(pattern, inWords: true))]
        case "room": conditions = [.match(key: ["room_id"], glob: Glob(literal: id))]
        case "sender": conditions = [.match(key: ["sender"], glob: Glob(literal: id))]
        default: conditions = (rule["conditions"]?.array ?? []).map(PushCondition.init)
        }
        let isHighlight = actions.contains { action in
            action["set_tweak"]?.string == "highlight" && action["value"]?.bool ?? true
        }
        playsSound = actions.contains { $0["set_tweak"]?.string == "sound" && $0["value"]?.string?.isEmpty == false }
        notificationLevel = actions.contains("notify") ? (isHighlight ? .mention : .unread) : .none
    }

    func holds(for event: MatrixEvent, in room: PushRoom) -> Bool {
        if isGuess, event.content["m.mentions"] != nil { return false }
        return conditions.allSatisfy { $0.holds(for: event, in: room) }
    }
}

private enum PushCondition: Equatable, Sendable {
    case match(key: [String], glob: Glob)
    case property(key: [String], value: JSONValue)
    case contains(key: [String], value: JSONValue)
    case displayName
    case memberCount(comparison: String, count: Int)
    case permission(String)
    /// An unknown or invalid condition, which never matches.
    case unknown

    init(_ json: JSONValue) {
        let key = json["key"]?.string.map(Self.path)
        self = .unknown
        switch json["kind"]?.string {
        case "event_match":
            guard let key, let pattern = json["pattern"]?.string else { return }
            self = .match(key: key, glob: Glob(pattern, inWords: key == ["content", "body"]))
        case "event_property_is":
            if let key, let value = json["value"], value.isScalar { self = .property(key: key, value: value) }
        case "event_property_contains":
            if let key, let value = json["value"], value.isScalar { self = .contains(key: key, value: value) }
        case "contains_display_name": self = .displayName
        case "room_member_count":
            guard let text = json["is"]?.string else { return }
            let comparison = text.prefix { "<>=".contains($0) }
            guard ["", "==", "<", ">", "<=", ">="].contains(comparison),
                let count = Int(text.dropFirst(comparison.count))
            else { return }
            self = .memberCount(comparison: String(comparison), count: count)
        case "sender_notification_permission":
            if let key = json["key"]?.string { self = .permission(key) }
        default: break
        }
    }

    /// Splits a property path: `\.` escapes a dot within a name, `\\` a backslash.
    private static func path(_ key: String) -> [String] {
        var components = [""]
        var isEscaped = false
        for character in key {
            if isEscaped {
                if character != ".", character != "\\" { components[components.count - 1] += "\\" }
                components[components.count - 1].append(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "." {
                components.append("")
            } else {
                components[components.count - 1].append(character)
            }
        }
        if isEscaped { components[components.count - 1] += "\\" }
        return components
    }

    func holds(for event: MatrixEvent, in room: PushRoom) -> Bool {
        switch self {
        case .match(let key, let glob):
            return event.property(key, in: room.id)?.string.map(glob.matches) ?? false
        case .property(let key, let value): return event.property(key, in: room.id) == meant(value, room)
        case .contains(let key, let value):
            return event.property(key, in: room.id)?.array?.contains(meant(value, room)) ?? false
        case .displayName:
            guard let name = room.ownDisplayName, !name.isEmpty, let body = event.content["body"]?.string else {
                return false
            }
            return Glob(literal: name, inWords: true).matches(body)
        case .memberCount(let comparison, let count):
            guard let members = room.memberCount else { return false }
            switch comparison {
            case "<": return members < count
            case ">": return members > count
            case "<=": return members <= count
            case ">=": return members >= count
            default: return members == count
            }
        case .permission(let key): return room.powers.mayNotify(key, event.sender)
        case .unknown: return false
        }
    }

    private func meant(_ value: JSONValue, _ room: PushRoom) -> JSONValue {
        value == .ownUserID ? .string(room.ownUserID.rawValue) : value
    }
}

extension MatrixEvent {
    /// Returns the value of a property path.
    fileprivate func property(_ path: [String], in room: RoomID) -> JSONValue? {
        switch path.first {
        case "content": return path.dropFirst().reduce(content as JSONValue?) { $0?[$1] }
        case "type" where path.count == 1: return .string(type)
        case "sender" where path.count == 1: return .string(sender.rawValue)
        case "room_id" where path.count == 1: return .string(room.rawValue)
        case "event_id" where path.count == 1: return .string(id.rawValue)
        case "state_key" where path.count == 1: return stateKey.map { .string($0) }
        default: return nil
        }
    }
}

extension JSONValue {
    fileprivate var isScalar: Bool {
        switch self {
        case .null, .bool, .integer, .string: true
        case .number, .array, .object: false
        }
    }
}
