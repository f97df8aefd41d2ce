import JSONReading
import ToolSupport

/// A room as its user sees it; counts are computed from scratch each time.
struct RuleRoom {
    struct SentMessage {
        var event: JSONValue
        var verdict: RuleOracle.Verdict
        var isOwn: Bool
    }

    /// The events in the server's order.
    private struct Entry {
        var event: JSONValue
        /// The index of the message, or `nil` for other events.
        var message: Int?
        /// The number of messages before it.
        var before: Int
    }

    let id: String
    let world: RuleWorld
    private(set) var messages: [SentMessage] = []
    private var log: [Entry] = []
    /// How much of the log syncs have returned or skipped.
    private var syncedCount = 0
    private var deleted: Set<Int> = []
    private var read = -1
    private var members = 0
    private var ownDisplayName: String?
    private var powerLevels: JSONValue?
    private(set) var state = RuleState()
    private var events = 0

    init(id: String, in world: RuleWorld) {
        self.id = id
        self.world = world
    }

    /// The numbers of unread messages and of mentions among them.
    var counts: [Int] {
        let unread = messages.indices.filter { $0 > read && !messages[$0].isOwn && !deleted.contains($0) }
        return [unread.count { messages[$0].verdict != .silent }, unread.count { messages[$0].verdict == .highlights }]
    }

    /// The part of a sync response that concerns the room.
    struct News {
        var state: [JSONValue] = []
        var timeline: [JSONValue] = []
        var gap: String?
        var members: Int?
        var receipts: [String: JSONValue] = [:]
        var fullyRead: String?
        var counts: [Int] = []
    }

    /// Draws new events and returns the next sync's response.
    mutating func extend(by oracle: RuleOracle, _ random: inout RandomRules<SeededGenerator>) -> News {
        var news = News()
        // Skipped messages are evaluated later, so in worlds with gaps the room must not change.
        if events == 0 || random.once(in: 3) && world == .whole {
            members = random.number(0...5)
            news.members = members
        }
        if events == 0 || world == .whole { news.state = roomState(&random) }
        for _ in 0..<random.number(0...4) {
            if random.once(in: 6) { note(noMessage(&random)) }
            if random.once(in: 6), world == .whole { note(drawState(&random)) }
            let event = event(&random)
            let oracleRoom = RuleOracle.Room(
                id: id, ownUserID: RuleRun.ownUserID, ownDisplayName: ownDisplayName, members: members,
                powerLevels: powerLevels)
            let isOwn = event["sender"]?.string == RuleRun.ownUserID
            log.append(Entry(event: event, message: messages.count, before: messages.count))
            messages.append(SentMessage(event: event, verdict: oracle.verdict(on: event, in: oracleRoom), isOwn: isOwn))
        }
        for _ in 0..<random.number(0...1) where !messages.isEmpty {
            let number = random.number(0...(messages.count - 1))
            deleted.insert(number)
            note(new("m.room.redaction", ["redacts": .string("$\(id)-\(number)")], "@ann:a"))
        }
        // Some events are repeated; their verdict must not change.
        var start = max(0, syncedCount - random.number(0...2))
        if world != .whole, random.once(in: 2), syncedCount < log.count {
            start = random.number(syncedCount...log.count)
            if start > syncedCount { news.gap = "h\(start)" }
        }
        news.timeline = log[start...].map(rendered)
        syncedCount = log.count
        if !log.isEmpty, random.once(in: 3) { addReadMarker(&news, &random) }
        news.counts = counts
        return news
    }

    /// Returns history before a token, newest first, and the next token.
    func history(before token: String) -> (chunk: [JSONValue], end: String?) {
        let end = min(Int(token.dropFirst()) ?? 0, log.count)
        let start = max(0, end - 8)
        return (log[start..<end].reversed().map(rendered), start == 0 ? nil : "h\(start)")
    }

    private mutating func note(_ event: JSONValue) {
        log.append(Entry(event: event, message: nil, before: messages.count))
    }

    private func rendered(_ entry: Entry) -> JSONValue {
        entry.message.map(deleted.contains) == true ? redacted(entry.event) : entry.event
    }

    private mutating func drawState(_ random: inout RandomRules<SeededGenerator>) -> JSONValue {
        events += 1
        var (room, state) = (self, state)
        let event = state.draw("$\(id)-e\(events + 1)", &random) { type, content, sender, key in
            room.new(type, content, sender, key: key)
        }
        events = room.events
        self.state = state
        return event
    }

    /// Sets a read marker at any event, at an unknown one, or backward.
    private mutating func addReadMarker(_ news: inout News, _ random: inout RandomRules<SeededGenerator>) {
        let index = random.number(0...(log.count + 1))
        var target = "$unknown"
        if index < log.count, let event = log[index].event["event_id"]?.string {
            target = event
            read = max(read, log[index].message ?? log[index].before - 1)
        }
        if random.once(in: 3) {
            news.fullyRead = target
        } else {
            let kind = random.one(of: ["m.read", "m.read.private"])
            news.receipts[target] = .object([kind: .object([RuleRun.ownUserID: ["ts": 1]])])
        }
    }

    private mutating func roomState(_ random: inout RandomRules<SeededGenerator>) -> [JSONValue] {
        var state: [JSONValue] = []
        if events == 0 || random.once(in: 4) {
            ownDisplayName = random.one(of: RandomRules<SeededGenerator>.names)
            let content: JSONValue = ["membership": "join", "displayname": .string(ownDisplayName ?? "")]
            state.append(new("m.room.member", content, RuleRun.ownUserID, key: RuleRun.ownUserID))
        }
        if random.once(in: 4) {
            powerLevels = random.powerLevels()
            state.append(new("m.room.power_levels", powerLevels ?? .null, "@ann:a", key: ""))
        }
        return state
    }

    /// Returns a random message.
    private mutating func event(_ random: inout RandomRules<SeededGenerator>) -> JSONValue {
        let sender = random.once(in: 4) ? RuleRun.ownUserID : random.one(of: RandomRules<SeededGenerator>.members)
        let type = random.one(of: [
            "m.room.message", "m.room.message", "m.room.message", "m.sticker", "m.room.encrypted", "m.other",
        ])
        let content: JSONValue =
            switch type {
            case "m.room.encrypted": ["algorithm": "m.megolm.v1.aes-sha2"]
            // An unknown type with fallback text.
            case "m.other": ["body": "lunch"]
            default: random.content()
            }
        return new(type, content, sender, id: "$\(id)-\(messages.count)")
    }

    /// Draws an event that is never counted, whatever the rules.
    private mutating func noMessage(_ random: inout RandomRules<SeededGenerator>) -> JSONValue {
        let target = "$\(id)-0"
        return random.one(of: [
            new(
                "m.reaction", ["m.relates_to": ["rel_type": "m.annotation", "event_id": .string(target), "key": "👍"]],
                "@bob:a"),
            new("m.other", ["meal": "lunch"], "@bob:a"),
            new("org.example.state", ["meal": "lunch"], "@bob:a", key: ""),
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
