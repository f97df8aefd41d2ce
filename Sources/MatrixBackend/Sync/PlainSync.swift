import ChatCore
import ChatStore
import JSONReading

/// `GET /sync`, which every homeserver has: all rooms at first, then all that changed.
struct PlainSync: SyncSource {
    private let client: MatrixClient
    private let portion: SyncPortion

    init(client: MatrixClient, portion: SyncPortion = SyncPortion()) {
        self.client = client
        self.portion = portion
    }

    func next(after token: String?, wait: Duration) async throws -> SyncUpdate {
        let filter: JSONValue = [
            "presence": ["types": []],
            "room": [
                "include_leave": false,
                "state": ["lazy_load_members": true],
                "timeline": ["limit": .integer(Int64(portion.plainEvents)), "lazy_load_members": true],
            ],
        ]
        var query = [
            ("filter", String(decoding: try filter.encoded(), as: UTF8.self)),
            ("timeout", String(wait.components.seconds * 1000)),
        ]
        if let token { query.append(("since", token)) }
        let answer = try await client.call(
            .get, ["client", "v3", "sync"], query: query, timeout: wait + .seconds(token == nil ? 300 : 30))
        return try Self.read(answer, since: token)
    }

    /// It is all rooms, always.
    func narrowed(_ token: String, to portion: SyncPortion) -> String { token }

    static func read(_ answer: JSONValue, since token: String?) throws -> SyncUpdate {
        guard let next = answer["next_batch"]?.string, !next.isEmpty else {
            throw MatrixError.malformed(reason: "a sync without a token")
        }
        var reader = SyncReader()
        var update = SyncUpdate(token: next)
        for (id, json) in sorted(answer["rooms"]?["join"]) {
            guard var room = reader.room(id) else { continue }
            readJoined(json, into: &room, isFirst: token == nil, &reader)
            update.rooms.append(room)
        }
        let sections: [(String, RoomUpdate.Membership)] = [("invite", .invited), ("knock", .invited), ("leave", .left)]
        for (section, membership) in sections {
            for (id, json) in sorted(answer["rooms"]?[section]) {
                guard var room = reader.room(id) else { continue }
                room.membership = membership
                room.invitation = reader.stripped((json["invite_state"] ?? json["knock_state"])?["events"])
                update.rooms.append(room)
            }
        }
        update.isWhole = token == nil
        let shared = answer["account_data"]?["events"]
        update.pushRules = SyncReader.accountData("m.push_rules", in: shared)
        update.direct = SyncReader.accountData("m.direct", in: shared)
        update.skipped = reader.skipped
        return update
    }

    private static func readJoined(
        _ json: JSONValue, into room: inout RoomUpdate, isFirst: Bool, _ reader: inout SyncReader
    ) {
        let timeline = json["timeline"]
        room.timeline = reader.events(timeline?["events"])
        room.state =
            reader.events(json["state"]?["events"]) + SyncReader.state(in: room.timeline)
        // The first sync of all begins in the middle of a room that is known from before.
        let isLimited = timeline?["limited"]?.bool ?? isFirst
        if isLimited { room.gap = timeline?["prev_batch"]?.string }
        for event in json["ephemeral"]?["events"]?.array ?? [] {
            switch event["type"]?.string {
            case "m.typing": room.typing = SyncReader.typing(event["content"])
            case "m.receipt": room.receipts += SyncReader.receipts(event["content"])
            default: break
            }
        }
        for event in json["account_data"]?["events"]?.array ?? [] where event["type"]?.string == "m.fully_read" {
            room.fullyRead = MatrixEvent.identifier(event["content"]?["event_id"]).map { MessageID($0) }
        }
        if let heroes = json["summary"]?["m.heroes"]?.array {
            room.heroes = heroes.compactMap { MatrixEvent.identifier($0) }
                .map { RoomUpdate.Hero(id: MemberID($0), name: nil) }
        }
        room.joinedCount = SyncReader.count(json["summary"]?["m.joined_member_count"])
        let counts = json["unread_notifications"]
        if let messages = SyncReader.count(counts?["notification_count"]) {
            let mentions = SyncReader.count(counts?["highlight_count"]) ?? 0
            room.counted = UnreadCount(messages: messages, mentions: mentions)
        }
    }

    /// The same answer is read in the same order each time.
    private static func sorted(_ rooms: JSONValue?) -> [(String, JSONValue)] {
        (rooms?.object ?? [:]).sorted { $0.key < $1.key }
    }
}
