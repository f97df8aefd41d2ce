import JSONReading
import SeededRandom

/// What a room is called and about, by the state that is told of it and deleted again, as plainly as can be.
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

    /// Its name, or whom it is called after, in no order.
    var names: [String] {
        for subject in [Subject.name, .alias] {
            if let value = current[subject]?.value, !value.isEmpty { return [value] }
        }
        let names = present.map { current[.member($0)]?.value ?? $0 }.sorted()
        return names.isEmpty ? ["Empty room"] : names
    }

    var topic: String? { current[.topic]?.value.flatMap { $0.isEmpty ? nil : $0 } }

    /// - Parameters:
    ///   - id: of the event.
    ///   - new: makes an event of its type, content, sender and state key.
    /// - Returns: state, or a deletion of some that was told.
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
            // Unnamed, so that the name stays that of the event before.
            present.remove(member)
            return new("m.room.member", ["membership": "leave"], member, member)
        }
    }
}
