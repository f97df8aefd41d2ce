import ChatCore
import JSONReading
import MatrixCrypto

/// Simplified sliding sync (MSC4186) at its unstable path. It requests the most recent rooms first, so the room list is
/// available at once however many rooms there are, and the others in steps that keep each response small.
struct SlidingSync: SyncSource {
    private let client: MatrixClient
    private let window: SyncWindow
    /// `nil` to request nothing for encryption.
    private let crypto: AccountEncryption.Position?
    /// More rooms than any user has joined.
    private static let allRooms = 100_000

    init(
        client: MatrixClient, window: SyncWindow = SyncWindow(), crypto: AccountEncryption.Position? = nil
    ) {
        self.client = client
        self.window = window
        self.crypto = crypto
    }

    /// The stored token is the number of requested rooms and the server's position, as in `120:POSITION`.
    func next(after token: String?, wait: Duration) async throws -> SyncUpdate {
        let (rooms, position) = parse(token)
        // Until all rooms are requested, the server has something to return at once.
        let wait = rooms < Self.allRooms ? Duration.zero : wait
        var query = [("timeout", String(wait.components.seconds * 1000))]
        if let position { query.append(("pos", position)) }
        let response = try await client.call(
            .post, ["client", "unstable", "org.matrix.simplified_msc3575", "sync"], query: query,
            body: body(rooms), timeout: SyncTimeout.total(wait), idleTimeout: SyncTimeout.idle(wait))
        var update = try Self.read(response)
        update.isWhole = token == nil
        if crypto != nil {
            var sync = Self.crypto(response, isWhole: update.isWhole)
            sync.isFull = sync.events.count >= window.deviceMessages
            update.crypto = sync
        }
        let count = response["lists"]?["all"]?["count"]?.integer ?? 0
        update.isCaughtUp = rooms >= count
        let next = rooms < count ? min(rooms + window.moreRooms, Self.allRooms) : Self.allRooms
        update.token = "\(next):\(update.token)"
        return update
    }

    /// The server keeps changes of rooms outside the range until they are requested again.
    func narrowed(_ token: String, to window: SyncWindow) -> String {
        let (rooms, position) = parse(token)
        return position.map { "\(min(rooms, window.firstRooms)):\($0)" } ?? token
    }

    private func parse(_ token: String?) -> (rooms: Int, position: String?) {
        guard let token else { return (window.firstRooms, nil) }
        guard let colon = token.firstIndex(of: ":"), let rooms = Int(token[..<colon]), rooms > 0 else {
            return (Self.allRooms, token)
        }
        return (rooms, String(token[token.index(after: colon)...]))
    }

    private func body(_ rooms: Int) -> JSONValue {
        [
            "conn_id": "parlance",
            "lists": [
                "all": [
                    "ranges": [[0, .integer(Int64(rooms - 1))]],
                    "timeline_limit": .integer(Int64(window.slidingEvents)),
                    "required_state": [
                        ["m.room.create", ""], ["m.room.name", ""], ["m.room.canonical_alias", ""],
                        ["m.room.topic", ""], ["m.room.avatar", ""], ["m.room.encryption", ""],
                        ["m.room.power_levels", ""], ["m.room.tombstone", ""],
                        ["m.room.history_visibility", ""],
                        ["m.room.member", "$ME"],
                        ["m.room.member", "$LAZY"],
                    ],
                ]
            ],
            "extensions": .object(extensions),
        ]
    }

    private var extensions: [String: JSONValue] {
        var all: [String: JSONValue] = [
            "typing": ["enabled": true], "receipts": ["enabled": true], "account_data": ["enabled": true],
        ]
        guard let crypto else { return all }
        var messages: [String: JSONValue] = [
            "enabled": true, "limit": .integer(Int64(window.deviceMessages)),
        ]
        // The server deletes to-device messages up to this token.
        if let since = crypto.since { messages["since"] = .string(since) }
        all["to_device"] = .object(messages)
        all["e2ee"] = ["enabled": true]
        return all
    }

    private static func crypto(_ response: JSONValue, isWhole: Bool) -> CryptoSync {
        let (messages, keys) = (response["extensions"]?["to_device"], response["extensions"]?["e2ee"])
        var sync = CryptoSync(kind: .sliding)
        sync.events = messages?["events"]?.array ?? []
        sync.position = messages?["next_batch"]?.string
        sync.changed = SyncParser.users(keys?["device_lists"]?["changed"])
        sync.left = SyncParser.users(keys?["device_lists"]?["left"])
        sync.keyCounts = keys?["device_one_time_keys_count"]
        sync.unusedFallbackKeys = keys?["device_unused_fallback_key_types"]
        sync.isWhole = isWhole
        return sync
    }

    static func read(_ response: JSONValue) throws -> SyncUpdate {
        guard let next = response["pos"]?.string, !next.isEmpty else {
            throw MatrixError.malformed(reason: "a sync without a token")
        }
        var parser = SyncParser()
        var update = SyncUpdate(token: next)
        var indices: [RoomID: Int] = [:]
        for (id, json) in (response["rooms"]?.object ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard var room = parser.room(id) else { continue }
            readRoom(json, into: &room, &parser)
            indices[room.id] = update.rooms.count
            update.rooms.append(room)
        }
        /// Applies extension data, which may concern a room that is not in `rooms`.
        func extend(_ id: String, _ change: (inout RoomUpdate) -> Void) {
            guard let empty = parser.room(id) else { return }
            if indices[empty.id] == nil {
                indices[empty.id] = update.rooms.count
                update.rooms.append(empty)
            }
            if let index = indices[empty.id] { change(&update.rooms[index]) }
        }
        let extensions = response["extensions"]
        for (id, event) in extensions?["typing"]?["rooms"]?.object ?? [:] {
            extend(id) { $0.typing = SyncParser.typing(event["content"]) }
        }
        for (id, event) in extensions?["receipts"]?["rooms"]?.object ?? [:] {
            extend(id) { $0.receipts = SyncParser.receipts(event["content"]) }
        }
        for (id, events) in extensions?["account_data"]?["rooms"]?.object ?? [:] {
            for event in events.array ?? [] where event["type"]?.string == "m.fully_read" {
                let marker = MatrixEvent.identifier(event["content"]?["event_id"])
                extend(id) { $0.fullyRead = marker.map { MessageID($0) } }
            }
            if let isMarked = SyncParser.markedUnread(in: events) { extend(id) { $0.isMarkedUnread = isMarked } }
        }
        let shared = extensions?["account_data"]?["global"]
        update.pushRules = SyncParser.accountData("m.push_rules", in: shared)
        update.direct = SyncParser.accountData("m.direct", in: shared)
        update.ignoredUsers = SyncParser.accountData(IgnoredUsers.type, in: shared)
        update.changesRecovery = SyncParser.changesRecovery(shared)
        update.skipped = parser.skipped
        return update
    }

    private static func readRoom(_ json: JSONValue, into room: inout RoomUpdate, _ parser: inout SyncParser) {
        let stripped = json["invite_state"] ?? json["stripped_state"]
        room.noteEncryption(in: stripped, areState: true)
        room.noteEncryption(in: json["required_state"], areState: true)
        room.noteEncryption(in: json["timeline"], areState: false)
        if stripped?.array != nil {
            room.membership = .invited
            room.invitation = parser.stripped(stripped)
            return
        }
        if ["leave", "ban"].contains(json["membership"]?.string) { room.membership = .left }
        room.timeline = parser.events(json["timeline"], of: &room)
        let state = parser.events(json["required_state"], areState: true, of: &room)
        room.state = SyncParser.state(in: room.timeline) + state
        if json["limited"]?.bool == true { room.gap = SyncParser.gap(json["prev_batch"], before: room.timeline) }
        room.heroes = json["heroes"]?.array.map { heroes in
            heroes.compactMap { hero in
                MatrixEvent.identifier(hero["user_id"]).map {
                    RoomUpdate.Hero(
                        id: MemberID($0), name: hero["displayname"]?.string,
                        avatar: MatrixEvent.contentURI(hero["avatar_url"]))
                }
            }
        }
        room.joinedCount = SyncParser.count(json["joined_count"])
        // Synapse's `notification_count` is always 0, and MSC4186 has none: unread counts derive from the read markers.
    }
}
