import ChatCore
import ChatStore
import JSONReading

/// Redacted state is handled as if it had never been set (specification, redactions).
extension MatrixBackend {
    /// Returns the state of an update without redacted content; stored state that the update redacts is reset.
    func state(of update: RoomUpdate) async throws -> ParsedRoomState {
        let deleted = update.deleted
        let state = update.state.map { deleted.contains($0.id) ? $0.pruned : $0 }
        guard !deleted.isEmpty else { return ParsedRoomState(ownUserID: ownUserID, state: state) }
        let storedOrigins = try await store.origins(of: deleted, in: update.id)
        // Before the update's state, which may set it anew.
        return ParsedRoomState(
            ownUserID: ownUserID, state: storedOrigins.compactMap(MatrixEvent.init(prunedAt:)) + state)
    }

    /// Resets stored state whose redaction was found in fetched history.
    func removeState(deletedBy events: [MatrixEvent], in room: RoomID) async throws {
        var update = RoomUpdate(id: room)
        update.timeline = events.filter { $0.type == "m.room.redaction" }
        guard try await !store.origins(of: update.deleted, in: room).isEmpty else { return }
        update.redactions = update.timeline
        update.timeline = []
        guard let batch = try await batch(of: update) else { return }
        for roomChange in try await store.apply(SyncBatch(rooms: [batch])) { await publish(roomChange) }
    }
}

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
    fileprivate init?(prunedAt origin: StateOrigin) {
        self.init([
            "event_id": .string(origin.event.rawValue), "type": .string(origin.subject.type), "sender": "@:",
            "state_key": .string(origin.subject.key), "origin_server_ts": 0, "content": [:],
        ])
    }
}
