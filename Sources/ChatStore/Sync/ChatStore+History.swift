public import ChatCore
import GRDB

extension ChatStore {
    /// Fills a gap backwards from its end.
    ///
    /// - Parameters:
    ///   - events: The server's events right before the end of the gap, oldest first. A known event among them closes
    ///     the gap.
    ///   - token: The pagination token for older events; `nil` at the beginning of the room.
    ///   - ignored: The ignored users when the events were requested, whose messages these lack.
    /// - Returns: The changes, or `nil` if the gap has changed since it was read.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func fill(
        _ gap: TimelineGap, in room: RoomID, with events: [TimelineEvent], members: [Member] = [], next token: String?,
        without ignored: Set<MemberID> = []
    ) async throws -> RoomChange? {
        try await writeCache { db in
            try RoomSync(db: db).fill(
                gap, in: RoomRecord.get(room, in: db), with: events, members, next: token, without: ignored)
        }
    }

    /// Inserts a chunk of history into a gap.
    ///
    /// - Parameters:
    ///   - isContiguous: Whether the chunk begins where the gap does. Otherwise it may lie anywhere within the gap, or
    ///     overlap one of its ends.
    ///   - ignored: The ignored users when the chunk was requested, whose messages it lacks.
    /// - Returns: The changes, or `nil` if the chunk does not belong in the gap or the gap has changed since it was
    ///   read.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func insertChunk(
        _ chunk: TimelineChunk, in gap: TimelineGap, of room: RoomID, members: [Member] = [],
        isContiguous: Bool = false, without ignored: Set<MemberID> = []
    ) async throws -> RoomChange? {
        try await writeCache { db in
            try RoomSync(db: db).insertChunk(
                chunk, in: gap, of: RoomRecord.get(room, in: db), members, isContiguous: isContiguous,
                without: ignored)
        }
    }

    /// Applies a change that the server has accepted from this client. The sync may deliver it again.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func apply(_ change: MessageChange, in room: RoomID) async throws -> RoomChange {
        try await writeCache { db in try RoomSync(db: db).apply(change, in: RoomRecord.get(room, in: db)) }
    }

    /// Returns the gaps in the room's stored timeline, oldest first. There may be many: a room gets one with each limited
    /// sync, until its history is read.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func gaps(in room: RoomID) async throws -> [TimelineGap] {
        try await read { db in
            let record = try RoomRecord.get(room, in: db)
            return try Row.fetchAll(
                db.cachedStatement(sql: "SELECT * FROM gap WHERE room = ? ORDER BY position"),
                arguments: [record.key]
            ).map(TimelineGap.init)
        }
    }

    /// Returns the last gap in the room's stored timeline, of all or of those up to a position.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func lastGap(in room: RoomID, upTo position: Int64 = .max) async throws -> TimelineGap? {
        try await read { db in try TimelineGap.last(in: RoomRecord.get(room, in: db), upTo: position, db) }
    }

    /// Returns the first gap after a position in the room's stored timeline.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func firstGap(in room: RoomID, after position: Int64) async throws -> TimelineGap? {
        try await read { db in try TimelineGap.first(in: RoomRecord.get(room, in: db), after: position, db) }
    }

    /// Returns rooms with an unknown unread count: messages are missing after the user's read position, and the server
    /// has sent no count. Most recently active first.
    public func uncountedRooms(limit: Int) async throws -> [RoomID] {
        try await read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT r.id FROM room r WHERE \(RoomTable.isMissingUnread)
                        AND NOT EXISTS (SELECT 1 FROM unseen WHERE room = r.key) AND \(StagedRooms.isShown)
                    ORDER BY r.lastActivity DESC, r.key DESC LIMIT ?
                    """, arguments: [limit]
            ).map { RoomID($0) }
        }
    }

    /// Returns the newest gap after the user's read position if the server has sent no unread count, otherwise `nil`.
    public func uncountedGap(in room: RoomID) async throws -> TimelineGap? {
        try await read { db in
            try Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT g.* FROM room r JOIN gap g ON g.room = r.key
                        WHERE r.id = ? AND g.position > coalesce(r.readUpTo + 1, -(1 << 40))
                            AND NOT EXISTS (SELECT 1 FROM unseen WHERE room = r.key)
                        ORDER BY g.position DESC LIMIT 1
                        """), arguments: [room.rawValue]
            ).map(TimelineGap.init)
        }
    }
}
