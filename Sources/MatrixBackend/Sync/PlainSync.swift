import ChatCore
import ChatStore
import JSONReading
import MatrixCrypto

/// `GET /sync`, which every homeserver supports. The first response contains all rooms, later ones all changes.
struct PlainSync: SyncSource {
    private let client: MatrixClient
    private let window: SyncWindow
    /// How many to-device messages servers such as Synapse return at once. There is no parameter for it.
    private static let deviceMessages = 100

    init(client: MatrixClient, window: SyncWindow = SyncWindow()) {
        self.client = client
        self.window = window
    }

    func next(after token: String?, wait: Duration) async throws -> SyncUpdate {
        let filter: JSONValue = [
            "presence": ["types": []],
            "room": [
                "include_leave": false,
                "state": ["lazy_load_members": true],
                "timeline": ["limit": .integer(Int64(window.plainEvents)), "lazy_load_members": true],
            ],
        ]
        var query = [
            ("filter", String(decoding: try filter.encoded(), as: UTF8.self)),
            ("timeout", String(wait.components.seconds * 1000)),
        ]
        if let token { query.append(("since", token)) }
        let response = try await client.call(
            .get, ["client", "v3", "sync"], query: query, timeout: SyncTimeout.total(wait),
            idleTimeout: token == nil ? SyncTimeout.firstIdle : SyncTimeout.idle(wait))
        return try Self.read(response, since: token)
    }

    /// Returns the token unchanged: this sync always covers all rooms.
    func narrowed(_ token: String, to window: SyncWindow) -> String { token }

    static func read(_ response: JSONValue, since token: String?) throws -> SyncUpdate {
        guard let next = response["next_batch"]?.string, !next.isEmpty else {
            throw MatrixError.malformed(reason: "a sync without a token")
        }
        var parser = SyncParser()
        var update = SyncUpdate(token: next)
        for (id, json) in sorted(response["rooms"]?["join"]) {
            guard var room = parser.room(id) else { continue }
            readJoined(json, into: &room, isFirst: token == nil, &parser)
            update.rooms.append(room)
        }
        let sections: [(String, RoomUpdate.Membership)] = [("invite", .invited), ("knock", .invited), ("leave", .left)]
        for (section, membership) in sections {
            for (id, json) in sorted(response["rooms"]?[section]) {
                guard var room = parser.room(id) else { continue }
                room.membership = membership
                let stripped = (json["invite_state"] ?? json["knock_state"])?["events"]
                room.invitation = parser.stripped(stripped)
                if membership == .left {
                    // The room may be joined again.
                    noteEncryption(json, in: &room)
                    readState(of: json, into: &room, &parser)
                } else {
                    room.noteEncryption(in: stripped, areState: true)
                }
                update.rooms.append(room)
            }
        }
        update.isWhole = token == nil
        update.crypto = crypto(response, isWhole: update.isWhole)
        let shared = response["account_data"]?["events"]
        update.pushRules = SyncParser.accountData("m.push_rules", in: shared)
        update.direct = SyncParser.accountData("m.direct", in: shared)
        update.ignoredUsers = SyncParser.accountData(IgnoredUsers.type, in: shared)
        update.changesRecovery = SyncParser.changesRecovery(shared)
        update.skipped = parser.skipped
        return update
    }

    private static func crypto(_ response: JSONValue, isWhole: Bool) -> CryptoSync {
        var sync = CryptoSync(kind: .plain)
        sync.events = response["to_device"]?["events"]?.array ?? []
        sync.isFull = sync.events.count >= deviceMessages
        sync.changed = SyncParser.users(response["device_lists"]?["changed"])
        sync.left = SyncParser.users(response["device_lists"]?["left"])
        sync.keyCounts = response["device_one_time_keys_count"]
        sync.unusedFallbackKeys = response["device_unused_fallback_key_types"]
        sync.isWhole = isWhole
        return sync
    }

    private static func noteEncryption(_ json: JSONValue, in room: inout RoomUpdate) {
        room.noteEncryption(in: json["state"]?["events"], areState: true)
        room.noteEncryption(in: json["timeline"]?["events"], areState: false)
    }

    /// Reads who removed the user from the room. Its messages are gone with it.
    private static func readState(of json: JSONValue, into room: inout RoomUpdate, _ parser: inout SyncParser) {
        let state = parser.events(json["state"]?["events"], areState: true, of: &room)
        room.state = state + SyncParser.state(in: parser.events(json["timeline"]?["events"], of: &room))
    }

    private static func readJoined(
        _ json: JSONValue, into room: inout RoomUpdate, isFirst: Bool, _ parser: inout SyncParser
    ) {
        noteEncryption(json, in: &room)
        let timeline = json["timeline"]
        room.timeline = parser.events(timeline?["events"], of: &room)
        let state = parser.events(json["state"]?["events"], areState: true, of: &room)
        room.state = state + SyncParser.state(in: room.timeline)
        // An initial sync may follow on stored history, so its timelines count as limited by default.
        switch timeline?["limited"]?.bool {
        case true?: room.gap = SyncParser.gap(timeline?["prev_batch"], before: room.timeline)
        case false?: break
        case nil: if isFirst { room.gap = timeline?["prev_batch"]?.string }
        }
        for event in json["ephemeral"]?["events"]?.array ?? [] {
            switch event["type"]?.string {
            case "m.typing": room.typing = SyncParser.typing(event["content"])
            case "m.receipt": room.receipts += SyncParser.receipts(event["content"])
            default: break
            }
        }
        for event in json["account_data"]?["events"]?.array ?? [] where event["type"]?.string == "m.fully_read" {
            room.fullyRead = MatrixEvent.identifier(event["content"]?["event_id"]).map { MessageID($0) }
        }
        room.isMarkedUnread = SyncParser.markedUnread(in: json["account_data"]?["events"])
        if let heroes = json["summary"]?["m.heroes"]?.array {
            room.heroes = heroes.compactMap { MatrixEvent.identifier($0) }
                .map { RoomUpdate.Hero(id: MemberID($0), name: nil) }
        }
        room.joinedCount = SyncParser.count(json["summary"]?["m.joined_member_count"])
        let counts = json["unread_notifications"]
        if let messages = SyncParser.count(counts?["notification_count"]) {
            let mentions = SyncParser.count(counts?["highlight_count"]) ?? 0
            room.counted = UnreadCount(messages: messages, mentions: mentions)
        }
    }

    /// Sorts rooms by ID, so a response is always handled in the same order.
    private static func sorted(_ rooms: JSONValue?) -> [(String, JSONValue)] {
        (rooms?.object ?? [:]).sorted { $0.key < $1.key }
    }
}
