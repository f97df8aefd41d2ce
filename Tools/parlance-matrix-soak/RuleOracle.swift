import JSONReading

/// An independent implementation of push rules, as simple as possible and directly from the specification ("Push
/// notifications", push rules). Shares no code with the backend.
struct RuleOracle {
    /// The room data that conditions evaluate.
    struct Room {
        var id: String
        var ownUserID: String
        var ownDisplayName: String?
        var members: Int
        var powerLevels: JSONValue?
    }

    enum Verdict: Equatable {
        case silent, counts, highlights
    }

    /// The content of `m.push_rules`.
    var content: JSONValue

    func verdict(on event: JSONValue, in room: Room) -> Verdict {
        if event["sender"]?.string == room.ownUserID { return .silent }
        for kind in ["override", "content", "room", "sender", "underride"] {
            for rule in content["global"]?[kind]?.array ?? [] where rule["enabled"]?.bool == true {
                guard holds(rule, of: kind, for: event, in: room) else { continue }
                let actions = rule["actions"]?.array ?? []
                guard actions.contains(.string("notify")) else { return .silent }
                let lights = actions.contains {
                    $0["set_tweak"]?.string == "highlight" && $0["value"] != .bool(false)
                }
                return lights ? .highlights : .counts
            }
        }
        return .silent
    }

    private func holds(_ rule: JSONValue, of kind: String, for event: JSONValue, in room: Room) -> Bool {
        // These legacy rules do not apply to events with `m.mentions`, whatever its value.
        let givesWay = ["contains_display_name", "contains_user_name", "roomnotif"].contains {
            rule["rule_id"]?.string == ".m.rule." + $0
        }
        if givesWay, event["content"]?["m.mentions"] != nil { return false }
        switch kind {
        case "content":
            return matches(event, in: room, key: "content.body", pattern: rule["pattern"]?.string ?? "")
        case "room": return rule["rule_id"]?.string == room.id
        case "sender": return rule["rule_id"] == event["sender"]
        default: return (rule["conditions"]?.array ?? []).allSatisfy { holds($0, for: event, in: room) }
        }
    }

    private func holds(_ condition: JSONValue, for event: JSONValue, in room: Room) -> Bool {
        let key = condition["key"]?.string
        switch condition["kind"]?.string {
        case "event_match":
            guard let key, let pattern = condition["pattern"]?.string else { return false }
            return matches(event, in: room, key: key, pattern: pattern)
        case "event_property_is":
            guard let key, let value = condition["value"] else { return false }
            return property(key, of: event, in: room) == value
        case "event_property_contains":
            guard let key, let value = condition["value"] else { return false }
            return property(key, of: event, in: room)?.array?.contains(value) == true
        case "contains_display_name":
            guard let name = room.ownDisplayName, let body = event["content"]?["body"]?.string else { return false }
            return words(of: Array(body.lowercased())) { $0.elementsEqual(name.lowercased()) }
        case "room_member_count": return condition["is"]?.string.map { isCount(room.members, $0) } ?? false
        case "sender_notification_permission":
            guard let key, let sender = event["sender"]?.string else { return false }
            let levels = room.powerLevels
            let needed = levels?["notifications"]?[key]?.integer ?? 50
            return levels?["users"]?[sender]?.integer ?? levels?["users_default"]?.integer ?? 0 >= needed
        default: return false
        }
    }

    private func isCount(_ members: Int, _ text: String) -> Bool {
        for (operatorPrefix, compare) in [
            ("==", { $0 == $1 }), ("<=", { $0 <= $1 }), (">=", { $0 >= $1 }), ("<", { $0 < $1 }),
            (">", { $0 > $1 }), ("", { $0 == $1 }),
        ] as [(String, (Int, Int) -> Bool)] where text.hasPrefix(operatorPrefix) {
            return Int(text.dropFirst(operatorPrefix.count)).map { compare(members, $0) } ?? false
        }
        return false
    }

    // MARK: Properties and patterns

    /// Returns the value of a dotted path, in which `\.` and `\\` are a dot and a backslash.
    private func property(_ key: String, of event: JSONValue, in room: Room) -> JSONValue? {
        let escaped = key.replacing("\\\\", with: "\u{1}").replacing("\\.", with: "\u{2}")
        var value: JSONValue? = event
        for name in escaped.split(separator: ".", omittingEmptySubsequences: false) {
            value = value?[String(name).replacing("\u{1}", with: "\\").replacing("\u{2}", with: ".")]
        }
        return key == "room_id" ? .string(room.id) : value
    }

    private func matches(_ event: JSONValue, in room: Room, key: String, pattern: String) -> Bool {
        guard let text = property(key, of: event, in: room)?.string else { return false }
        let (pattern, letters) = (Array(pattern.lowercased()), Array(text.lowercased()))
        if key != "content.body" { return glob(pattern[...], letters[...]) }
        return words(of: letters) { glob(pattern[...], $0) }
    }

    /// Whether a range between word boundaries matches. Non-ASCII letters are part of words, as in Synapse.
    private func words(of text: [Character], _ fits: (ArraySlice<Character>) -> Bool) -> Bool {
        func isWord(_ index: Int) -> Bool { text[index] == "_" || text[index].isLetter || text[index].isNumber }
        for start in 0...text.count where start == 0 || !isWord(start - 1) {
            for end in start...text.count where end > start && (end == text.count || !isWord(end)) {
                if fits(text[start..<end]) { return true }
            }
        }
        return false
    }

    private func glob(_ pattern: ArraySlice<Character>, _ text: ArraySlice<Character>) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        if first == "*" { return glob(pattern.dropFirst(), text) || !text.isEmpty && glob(pattern, text.dropFirst()) }
        guard let letter = text.first, first == "?" || first == letter else { return false }
        return glob(pattern.dropFirst(), text.dropFirst())
    }
}
