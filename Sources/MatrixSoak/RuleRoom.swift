import JSONReading
import SeededRandom

/// A room as its user sees it, counted from the beginning each time.
struct RuleRoom {
    struct Said {
        var event: JSONValue
        var verdict: RuleOracle.Verdict
        var isOwn: Bool
    }

    let id: String
    private(set) var said: [Said] = []
    private var deleted: Set<Int> = []
    private var read = -1
    private var members = 0
    private var ownName: String?
    private var powerLevels: JSONValue?
    private var events = 0

    init(id: String) {
        self.id = id
    }

    /// Unread messages, and mentions among them.
    var counts: [Int] {
        let unread = said.indices.filter { $0 > read && !said[$0].isOwn && !deleted.contains($0) }
        return [unread.count { said[$0].verdict != .silent }, unread.count { said[$0].verdict == .highlights }]
    }

    /// What happened since the last sync, as a sync tells it.
    mutating func extend(by oracle: RuleOracle, _ random: inout RandomRules<SeededGenerator>) -> JSONValue {
        var room: [String: JSONValue] = ["timeline": ["limited": false]]
        if events == 0 || random.once(in: 3) {
            members = random.number(0...5)
            room["summary"] = ["m.joined_member_count": .integer(Int64(members))]
        }
        room["state"] = ["events": .array(state(&random))]
        let before = said.count
        var timeline: [JSONValue] = []
        for _ in 0..<random.number(0...4) {
            let event = event(&random)
            let place = RuleOracle.Room(
                id: id, own: RuleRun.own, ownName: ownName, members: members, powerLevels: powerLevels)
            let isOwn = event["sender"]?.string == RuleRun.own
            said.append(Said(event: event, verdict: oracle.verdict(on: event, in: place), isOwn: isOwn))
        }
        // Some are told again: they were judged when they came.
        let start = max(0, before - random.number(0...2))
        for number in start..<said.count {
            if random.once(in: 6) { timeline.append(noMessage(&random)) }
            timeline.append(deleted.contains(number) ? redacted(said[number].event) : said[number].event)
        }
        for _ in 0..<random.number(0...1) where !said.isEmpty {
            let number = random.number(0...(said.count - 1))
            deleted.insert(number)
            timeline.append(new("m.room.redaction", ["redacts": .string("$\(id)-\(number)")], "@ann:a"))
        }
        room["timeline"] = ["limited": false, "events": .array(timeline)]
        if !said.isEmpty, random.once(in: 3) { mark(&room, &random) }
        return .object(room)
    }

    /// A mark at any message, at none or backwards.
    private mutating func mark(_ room: inout [String: JSONValue], _ random: inout RandomRules<SeededGenerator>) {
        let number = random.number(0...(said.count + 1))
        let target = number < said.count ? "$\(id)-\(number)" : "$unknown"
        if random.once(in: 3) {
            room["account_data"] = ["events": [["type": "m.fully_read", "content": ["event_id": .string(target)]]]]
        } else {
            let kind = random.one(of: ["m.read", "m.read.private"])
            let receipt: JSONValue = .object([kind: .object([RuleRun.own: ["ts": 1]])])
            room["ephemeral"] = ["events": [["type": "m.receipt", "content": .object([target: receipt])]]]
        }
        if number < said.count { read = max(read, number) }
    }

    private mutating func state(_ random: inout RandomRules<SeededGenerator>) -> [JSONValue] {
        var state: [JSONValue] = []
        if events == 0 || random.once(in: 4) {
            ownName = random.one(of: RandomRules<SeededGenerator>.names)
            let content: JSONValue = ["membership": "join", "displayname": .string(ownName ?? "")]
            state.append(new("m.room.member", content, RuleRun.own, key: RuleRun.own))
        }
        if random.once(in: 4) {
            powerLevels = random.powerLevels()
            state.append(new("m.room.power_levels", powerLevels ?? .null, "@ann:a", key: ""))
        }
        return state
    }

    /// A message.
    private mutating func event(_ random: inout RandomRules<SeededGenerator>) -> JSONValue {
        let sender = random.once(in: 4) ? RuleRun.own : random.one(of: RandomRules<SeededGenerator>.members)
        let type = random.one(of: [
            "m.room.message", "m.room.message", "m.room.message", "m.sticker", "m.room.encrypted", "m.other",
        ])
        let content: JSONValue =
            switch type {
            case "m.room.encrypted": ["algorithm": "m.megolm.v1.aes-sha2"]
            // Nobody knows it, but it says something.
            case "m.other": ["body": "lunch"]
            default: random.content()
            }
        return new(type, content, sender, id: "$\(id)-\(said.count)")
    }

    /// What is never counted, whatever the rules say.
    private mutating func noMessage(_ random: inout RandomRules<SeededGenerator>) -> JSONValue {
        let target = "$\(id)-0"
        return random.one(of: [
            new(
                "m.reaction", ["m.relates_to": ["rel_type": "m.annotation", "event_id": .string(target), "key": "👍"]],
                "@bob:a"),
            new("m.other", ["meal": "lunch"], "@bob:a"),
            new("m.room.topic", ["topic": "lunch"], "@bob:a", key: ""),
            new("m.room.message", ["msgtype": "m.text"], "@bob:a"),
        ])
    }

    private func redacted(_ event: JSONValue) -> JSONValue {
        guard var members = event.object else { return event }
        members["content"] = [:]
        members["unsigned"] = ["redacted_because": ["type": "m.room.redaction"]]
        return .object(members)
    }

    private mutating func new(
        _ type: String, _ content: JSONValue, _ sender: String, id: String? = nil, key: String? = nil
    ) -> JSONValue {
        events += 1
        var event: [String: JSONValue] = [
            "type": .string(type), "content": content, "sender": .string(sender),
            "event_id": .string(id ?? "$\(self.id)-e\(events)"), "origin_server_ts": .integer(Int64(events) * 1000),
        ]
        if let key { event["state_key"] = .string(key) }
        return .object(event)
    }
}
