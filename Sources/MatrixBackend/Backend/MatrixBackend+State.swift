import ChatCore
import ChatStore
import JSONReading

/// State that is deleted is as if nothing had been said (specification, redactions).
extension MatrixBackend {
    /// The state that an answer tells, without what was deleted by then; and without what is kept and was deleted now.
    func state(of update: RoomUpdate) async throws -> ParsedRoomState {
        let deleted = update.deleted
        let state = update.state.map { deleted.contains($0.id) ? $0.pruned : $0 }
        guard !deleted.isEmpty else { return ParsedRoomState(ownUserID: ownUserID, state: state) }
        let storedOrigins = try await store.origins(of: deleted, in: update.id)
        // Before what is told: whatever was set meanwhile is there.
        return ParsedRoomState(
            ownUserID: ownUserID, state: storedOrigins.compactMap(MatrixEvent.init(prunedAt:)) + state)
    }

    /// Takes away state whose deletion was found in what was missing.
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
    /// What it tells to be deleted.
    var deleted: Set<MessageID> {
        Set((timeline + redactions).filter { $0.type == "m.room.redaction" }.compactMap(\.redacts))
    }
}

extension MatrixEvent {
    /// What is left of the content of state that was deleted, of the kinds that are read here (specification, room
    /// versions: in this they are alike).
    private static let protected: [String: Set<String>] = [
        "m.room.member": ["membership"],
        "m.room.power_levels": [
            "ban", "events", "events_default", "invite", "kick", "redact", "state_default", "users", "users_default",
        ],
        "m.room.create": ["creator", "predecessor", "room_version", "type"],
        "m.room.join_rules": ["allow", "join_rule"], "m.room.history_visibility": ["history_visibility"],
    ]

    /// The event without what its deletion takes away.
    var pruned: MatrixEvent {
        let protectedKeys = Self.protected[type] ?? []
        return MatrixEvent(self, content: .object((content.object ?? [:]).filter { protectedKeys.contains($0.key) }))
    }

    /// State that is kept and of which nothing is left.
    fileprivate init?(prunedAt origin: StateOrigin) {
        self.init([
            "event_id": .string(origin.event.rawValue), "type": .string(origin.subject.type), "sender": "@:",
            "state_key": .string(origin.subject.key), "origin_server_ts": 0, "content": [:],
        ])
    }
}
