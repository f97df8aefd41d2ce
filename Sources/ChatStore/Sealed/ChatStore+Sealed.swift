public import ChatCore
import GRDB

/// Encrypted events that could not be read.
extension ChatStore {
    /// Returns the sessions that messages wait for.
    /// - Parameter reasons: Those with messages that are sealed for one of these reasons; `nil` for all.
    public func sealedSessions(for reasons: Set<SealReason>? = nil) async throws -> Set<SealedSession> {
        try await read { db in
            let names = (reasons ?? Set(SealReason.allCases)).map { "'\($0.rawValue)'" }.joined(separator: ", ")
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT DISTINCT r.id, s.session FROM sealed s JOIN room r ON r.key = s.room
                    WHERE s.session IS NOT NULL AND s.reason IN (\(names))
                    """)
            return Set(
                try rows.map { SealedSession(room: try $0.identifier("id"), session: try $0.value("session")) })
        }
    }

    /// Returns events of a session, in the order of their identifiers; none of a room that is not stored.
    /// - Parameter event: The last that was returned before.
    public func sealedEvents(
        of session: SealedSession, after event: MessageID?, limit: Int
    ) async throws -> [Ciphertext] {
        try await read { db in
            guard let record = try RoomRecord.find(session.room, in: db) else { return [] }
            return try SealedTable(record: record, db: db).events(
                of: session.session, after: event?.rawValue ?? "", limit: limit)
        }
    }

    /// Returns the newest messages that an earlier version did not keep, as the server has to send them once more.
    public func unfetchedMessages(in room: RoomID, limit: Int) async throws -> [MessageID] {
        try await read { db in
            guard let record = try RoomRecord.find(room, in: db) else { return [] }
            return try SealedTable(record: record, db: db).unfetched(limit: limit)
        }
    }

    /// Puts what encrypted events say in their place, or the reason why they still cannot be read. Events that are not
    /// sealed any more are skipped.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func open(_ again: [ReadAgain], in room: RoomID) async throws -> RoomChange {
        try await writeCache { db in try RoomSync(db: db).open(again, in: RoomRecord.get(room, in: db)) }
    }
}
