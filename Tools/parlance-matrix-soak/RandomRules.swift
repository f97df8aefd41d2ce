import JSONReading

/// Random push rules and message contents, from a small vocabulary, so they often match.
struct RandomRules<Source: RandomNumberGenerator> {
    static var members: [String] { ["@ann:a", "@bob:a", "@cleo:b"] }
    static var names: [String] { ["Robin", "été", "R. B.", "x_1", "日本"] }
    private static var words: [String] {
        [
            "lunch", "Lunch!", "launch", "robin", "Robin,", "R. B.", "naïve", "na", "été", "x_1", "x", "日本", "日", "👍",
            "!", "*", "?",
        ]
    }
    private static var patterns: [String] {
        [
            "lunch", "l*nch", "LUN?H", "*", "?", "na", "na?ve", "x", "x_?", "日", "日本", "*!", "R. B.", "@ann:a",
            "m.room.*", "",
        ]
    }

    /// Legacy mention rules by kind.
    private static var oldMentions: [String: [String]] {
        [
            "override": [".m.rule.contains_display_name", ".m.rule.roomnotif"],
            "content": [".m.rule.contains_user_name"],
        ]
    }

    private var source: Source

    init(_ source: Source) {
        self.source = source
    }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &source) }
    /// Returns `true` with a probability of 1 / `times`.
    mutating func once(in times: Int) -> Bool { number(1...times) == 1 }
    mutating func one<Element>(of all: [Element]) -> Element { all[number(0...(all.count - 1))] }

    // MARK: Messages

    mutating func body() -> String {
        (0...number(0...4)).map { _ in one(of: Self.words) }.joined(separator: one(of: [" ", " ", ", ", "-"]))
    }

    /// Returns the content of a message with properties that rules may match.
    mutating func content() -> JSONValue {
        var content: [String: JSONValue] = [
            "body": .string(body()), "msgtype": .string(one(of: ["m.text", "m.text", "m.notice", "m.emote"])),
        ]
        if once(in: 3) {
            content["m.mentions"] = once(in: 3) ? one(of: [[:], .null, [], "@me:a"]) : mentions()
        }
        if once(in: 4) {
            content["n"] = one(of: [.integer(5), .string("5"), .bool(true), .null, .array([.integer(5)])])
        }
        if once(in: 4) { content["a.b"] = .string(one(of: ["c", "C", "lunch"])) }
        if once(in: 4) { content["a"] = ["b": .string(one(of: ["c", "C", "lunch"]))] }
        if once(in: 6) { content["a\\b"] = "c" }
        return .object(content)
    }

    private mutating func mentions() -> JSONValue {
        ["user_ids": .array([.string(one(of: ["@me:a", "@ann:a"]))]), "room": .bool(once(in: 2))]
    }

    // MARK: Rules

    /// Returns the content of `m.push_rules`.
    mutating func rules(rooms: Int) -> JSONValue {
        var global: [String: JSONValue] = [:]
        for kind in ["override", "content", "room", "sender", "underride"] where !once(in: 8) {
            global[kind] = .array((0..<number(0...3)).map { _ in rule(kind, rooms: rooms) })
        }
        return ["global": .object(global)]
    }

    private mutating func rule(_ kind: String, rooms: Int) -> JSONValue {
        var rule: [String: JSONValue] = [
            "rule_id": .string("r\(number(0...99))"), "enabled": .bool(!once(in: 6)), "default": .bool(once(in: 2)),
            "actions": actions(),
        ]
        switch kind {
        case "content": rule["pattern"] = .string(one(of: Self.patterns))
        case "room": rule["rule_id"] = .string("!\(number(0...(rooms - 1)))")
        case "sender": rule["rule_id"] = .string(one(of: Self.members + ["@me:a"]))
        default: rule["conditions"] = .array((0..<number(once(in: 10) ? 0...0 : 1...3)).map { _ in condition() })
        }
        if let old = Self.oldMentions[kind], once(in: 3) { rule["rule_id"] = .string(one(of: old)) }
        return .object(rule)
    }

    private mutating func actions() -> JSONValue {
        one(of: [
            ["notify"], ["notify", ["set_tweak": "highlight"]],
            ["notify", ["set_tweak": "highlight", "value": false]],
            ["notify", ["set_tweak": "sound", "value": "default"]], [], ["dont_notify"],
            [["set_tweak": "highlight"]], [["set_tweak": "highlight", "value": true], "notify"],
        ])
    }

    private mutating func condition() -> JSONValue {
        let keys = [
            "content.body", "content.msgtype", "type", "sender", "room_id", "content.a.b", "content.a\\.b",
            "content.a\\\\b", "content.n", "content", "nothing",
        ]
        switch number(0...7) {
        case 0, 1:
            return [
                "kind": "event_match", "key": .string(one(of: keys)),
                "pattern": .string(one(of: Self.patterns + ["m.text", "!1", "c"])),
            ]
        case 2:
            return [
                "kind": "event_property_is", "key": .string(one(of: keys)),
                "value": one(of: [.integer(5), .string("5"), .bool(true), .null, .string("c"), .string("m.notice")]),
            ]
        case 3:
            return [
                "kind": "event_property_contains",
                "key": .string(one(of: ["content.m\\.mentions.user_ids", "content.n"])),
                "value": one(of: [.string("@me:a"), .integer(5)]),
            ]
        case 4: return ["kind": "contains_display_name"]
        case 5:
            return [
                "kind": "room_member_count",
                "is": .string(one(of: ["", "==", "<", ">", "<=", ">="]) + String(number(0...5))),
            ]
        case 6: return ["kind": "sender_notification_permission", "key": .string(one(of: ["room", "other"]))]
        default: return one(of: [["kind": "device"], ["kind": "event_match", "key": "type"], ["kind": 5], [:]])
        }
    }

    // MARK: Rooms

    mutating func powerLevels() -> JSONValue {
        var levels: [String: JSONValue] = [:]
        if !once(in: 3) { levels["users"] = .object([one(of: Self.members): .integer(Int64(number(0...2) * 50))]) }
        if once(in: 3) { levels["users_default"] = .integer(Int64(number(0...2) * 30)) }
        if once(in: 2) {
            levels["notifications"] = .object([one(of: ["room", "other"]): .integer(Int64(number(0...100)))])
        }
        return .object(levels)
    }
}
