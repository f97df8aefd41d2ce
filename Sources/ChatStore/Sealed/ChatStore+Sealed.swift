public import ChatCore
import GRDB

/// Encrypted events that could not be read.
extension ChatStore {
    /// Returns the sessions whose keys are missing for stored messages.
    /// - Parameter reasons: Only sessions with messages sealed for one of these reasons; `nil` for all.
    public func sealedSessions(for reasons: Set<SealReason>? = nil) async throws -> Set<SealedSession> {
        try await read { db in
            let names = (reasons ?? Set(SealReason.allCases)).map { "'\($0.rawValue)'" }.joined(separator: ", ")
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT DISTINCT r.id, s.session FROM sealed s JOIN room r ON r.key = s.room
                    WHERE s.session IS NOT NULL AND s.reason IN (\(names)) AND \(StagedRooms.isShown)
                    """)
            return Set(
                try rows.map { SealedSession(room: try $0.identifier("id"), session: try $0.value("session")) })
        }
    }

    /// Returns the sessions of the newest stored messages that are sealed for one of these reasons.
    public func newestSealedSessions(for reasons: Set<SealReason>, limit: Int) async throws -> [SealedSession] {
        try await read { db in
            let names = reasons.map { "'\($0.rawValue)'" }.joined(separator: ", ")
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT r.id, s.session FROM sealed s JOIN room r ON r.key = s.room
                    LEFT JOIN message m ON m.room = s.room AND m.id = s.event
                    WHERE s.session IS NOT NULL AND s.reason IN (\(names)) AND \(StagedRooms.isShown)
                    GROUP BY s.room, s.session ORDER BY max(m.arrival) DESC LIMIT ?
                    """, arguments: [limit])
            return try rows.map { SealedSession(room: try $0.identifier("id"), session: try $0.value("session")) }
        }
    }

    /// Returns a page of a session's events, ordered by ID. Empty for a room that is not stored.
    /// - Parameter event: The last event of the previous page.
    public func sealedEvents(
        of session: SealedSession, after event: MessageID?, limit: Int
    ) async throws -> [Ciphertext] {
        try await read { db in
            guard let record = try RoomRecord.find(session.room, in: db) else { return [] }
            return try SealedTable(record: record, db: db).events(
                of: session.session, after: event?.rawValue ?? "", limit: limit)
        }
    }

    /// Returns the newest messages whose events have to be requested again: an earlier version discarded them, or a
    /// repair did not find them.
    public func unfetchedMessages(in room: RoomID, limit: Int) async throws -> [MessageID] {
        try await read { db in
            guard let record = try RoomRecord.find(room, in: db) else { return [] }
            return try SealedTable(record: record, db: db).unfetched(limit: limit)
        }
    }

    /// Replaces encrypted events by their decrypted content, or updates the reason why they cannot be read. Skips
    /// events that are no longer sealed.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func open(_ again: [ReadAgain], in room: RoomID) async throws -> RoomChange {
        try await writeCache { db in try RoomSync(db: db).open(again, in: RoomRecord.get(room, in: db)) }
    }
}
