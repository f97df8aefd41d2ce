import ChatCore
import ChatStore
import JSONReading

extension RoomUpdate {
    /// The event IDs that the update redacts.
    var deleted: Set<MessageID> {
        Set((timeline + redactions).filter { $0.type == "m.room.redaction" }.compactMap(\.redacts))
    }
}

extension MatrixEvent {
    /// The content keys that survive a redaction, for the event types that are read here. They are the same in all room
    /// versions (specification, room versions).
    private static let protected: [String: Set<String>] = [
        "m.room.member": ["membership"],
        "m.room.power_levels": [
            "ban", "events", "events_default", "invite", "kick", "redact", "state_default", "users", "users_default",
        ],
        "m.room.create": ["creator", "predecessor", "room_version", "type"],
        "m.room.join_rules": ["allow", "join_rule"], "m.room.history_visibility": ["history_visibility"],
    ]

    /// The event as its redaction leaves it.
    var pruned: MatrixEvent {
        let protectedKeys = Self.protected[type] ?? []
        return MatrixEvent(self, content: .object((content.object ?? [:]).filter { protectedKeys.contains($0.key) }))
    }

    /// A stored state event with empty content.
    init?(prunedAt origin: StateOrigin) {
        self.init([
            "event_id": .string(origin.event.rawValue), "type": .string(origin.subject.type), "sender": "@:",
            "state_key": .string(origin.subject.key), "origin_server_ts": 0, "content": [:],
        ])
    }
}
