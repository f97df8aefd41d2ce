import JSONReading
import ToolSupport

/// An independent, simple implementation of a room's name and topic with redacted state.
struct RuleState {
    private enum Subject: Hashable {
        case name, alias, topic
        case member(String)
    }

    private struct Current {
        var event: String
        var value: String?
    }

    private var current: [Subject: Current] = [:]
    private var present: Set<String> = []
    private var sentEventIDs: [String] = []

    /// The room's name or alias, or else its members' names, sorted.
    var names: [String] {
        for subject in [Subject.name, .alias] {
            if let value = current[subject]?.value, !value.isEmpty { return [value] }
        }
        let names = present.map { current[.member($0)]?.value ?? $0 }.sorted()
        return names.isEmpty ? ["Empty Room"] : names
    }

    var topic: String? { current[.topic]?.value.flatMap { $0.isEmpty ? nil : $0 } }

    /// Draws a state event, or a redaction of an earlier one.
    /// - Parameters:
    ///   - id: The event ID.
    ///   - new: Makes an event of its type, content, sender and state key.
    mutating func draw(
        _ id: String, _ random: inout RandomRules<SeededGenerator>,
        new: (String, JSONValue, String, String?) -> JSONValue
    ) -> JSONValue {
        let sender = "@ann:a"
        if !sentEventIDs.isEmpty, random.once(in: 3) {
            let target = random.one(of: sentEventIDs)
            for (subject, state) in current where state.event == target { current[subject]?.value = nil }
            return new("m.room.redaction", ["redacts": .string(target)], sender, nil)
        }
        sentEventIDs.append(id)
        let word = random.once(in: 3) ? "" : random.one(of: ["garden", "kitchen", "attic"])
        switch random.number(0...5) {
        case 0:
            current[.name] = Current(event: id, value: word)
            return new("m.room.name", ["name": .string(word)], sender, "")
        case 1:
            current[.alias] = Current(event: id, value: word.isEmpty ? nil : "#\(word):a")
            return new(
                "m.room.canonical_alias", ["alias": word.isEmpty ? .null : .string("#\(word):a")], sender, "")
        case 2:
            current[.topic] = Current(event: id, value: word)
            return new("m.room.topic", ["topic": .string(word)], sender, "")
        default:
            let member = random.one(of: RandomRules<SeededGenerator>.members)
            guard present.contains(member), random.once(in: 2) else {
                let name = random.one(of: RandomRules<SeededGenerator>.names)
                current[.member(member)] = Current(event: id, value: name)
                present.insert(member)
                return new(
                    "m.room.member", ["membership": "join", "displayname": .string(name)], member, member)
            }
            // Without a display name, so the former name is kept.
            present.remove(member)
            return new("m.room.member", ["membership": "leave"], member, member)
        }
    }
}
