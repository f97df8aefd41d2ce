import JSONReading

extension FakeHomeserver {
    /// What a plain sync response says, as a sliding one does: of rooms, only state and timeline. Any other body stays
    /// as it is.
    static func sliding(_ plain: JSONValue) -> JSONValue {
        guard let token = plain["next_batch"] else { return plain }
        var rooms: [String: JSONValue] = [:]
        for (id, room) in plain["rooms"]?["join"]?.object ?? [:] { rooms[id] = slidingRoom(room) }
        for (id, room) in plain["rooms"]?["leave"]?.object ?? [:] { rooms[id] = slidingRoom(room, membership: "leave") }
        var keys: [String: JSONValue] = [:]
        for name in ["device_one_time_keys_count", "device_unused_fallback_key_types", "device_lists"] {
            keys[name] = plain[name]
        }
        return [
            "pos": token, "lists": ["all": ["count": .integer(Int64(rooms.count))]], "rooms": .object(rooms),
            "extensions": [
                "to_device": ["events": plain["to_device"]?["events"] ?? [], "next_batch": token],
                "e2ee": .object(keys),
                "account_data": ["global": plain["account_data"]?["events"] ?? []],
            ],
        ]
    }

    private static func slidingRoom(_ room: JSONValue, membership: String = "join") -> JSONValue {
        var members: [String: JSONValue] = ["membership": .string(membership)]
        members["required_state"] = room["state"]?["events"]
        members["timeline"] = room["timeline"]?["events"]
        for name in ["limited", "prev_batch"] { members[name] = room["timeline"]?[name] }
        return .object(members)
    }
}
