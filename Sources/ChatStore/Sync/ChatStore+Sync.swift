public import ChatCore
import GRDB

extension ChatStore {
    /// Applies a sync response in one transaction, together with its sync token. A power loss may drop the whole batch,
    /// and the server is then asked for it again.
    ///
    /// Idempotent: known events change nothing, so that batches may repeat or overlap.
    /// - Returns: The changes of the rooms, in the order of the batch.
    public func apply(_ batch: SyncBatch) async throws -> [RoomChange] {
        let leftRooms = batch.rooms.filter { $0.isLeft || $0.isSpace }.map(\.id)
        if !leftRooms.isEmpty {
            // Delete unsent data first: after a crash in between, it must not outlive its room.
            try await writePending { db in
                for room in leftRooms {
                    try DraftTable(db: db).remove(of: room)
                    try OutboxTable(db: db).removeAll(of: room)
                }
            }
        }
        return try await writeCache { db in
            let roomChanges = try batch.rooms.map { try RoomSync(db: db).apply($0) }
            try InvitationTable(db: db).apply(batch)
            if let direct = batch.directRooms { try Self.setDirectRooms(direct, in: db) }
            try SettingTable(db: db).set(batch.settings)
            return roomChanges
        }
    }

    /// Marks exactly these rooms as direct chats.
    private static func setDirectRooms(_ direct: Set<RoomID>, in db: Database) throws {
        let rows = try Row.fetchAll(db, sql: "SELECT key, id, kind FROM room WHERE kind IN ('direct', 'group')")
        for row in rows {
            let kind = direct.contains(try row.identifier("id")) ? Room.Kind.direct : .group
            guard try kind.rawValue != row.value("kind") else { continue }
            try db.execute(
                sql: "UPDATE room SET kind = ? WHERE key = ?",
                arguments: [kind.rawValue, try row.value("key") as Int64])
        }
    }

    /// Fills a gap backwards from its end.
    ///
    /// - Parameters:
    ///   - events: The server's events right before the end of the gap, oldest first. A known event among them closes
    ///     the gap.
    ///   - token: The pagination token for older events; `nil` at the beginning of the room.
    /// - Returns: The changes, or `nil` if the gap has changed since it was read.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func fill(
        _ gap: TimelineGap, in room: RoomID, with events: [TimelineEvent], members: [Member] = [], next token: String?
    ) async throws -> RoomChange? {
        try await writeCache { db in
            try RoomSync(db: db).fill(gap, in: RoomRecord.get(room, in: db), with: events, members, next: token)
        }
    }

    /// Inserts a chunk of history into a gap.
    ///
    /// - Parameter isContiguous: Whether the chunk begins where the gap does. Otherwise it may lie anywhere within the
    ///   gap, or overlap one of its ends.
    /// - Returns: The changes, or `nil` if the chunk does not belong in the gap or the gap has changed since it was
    ///   read.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func insertChunk(
        _ chunk: TimelineChunk, in gap: TimelineGap, of room: RoomID, members: [Member] = [], isContiguous: Bool = false
    ) async throws -> RoomChange? {
        try await writeCache { db in
            try RoomSync(db: db).insertChunk(
                chunk, in: gap, of: RoomRecord.get(room, in: db), members, isContiguous: isContiguous)
        }
    }

    /// Applies a change that the server has accepted from this client. The sync may deliver it again.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func apply(_ change: MessageChange, in room: RoomID) async throws -> RoomChange {
        try await writeCache { db in try RoomSync(db: db).apply(change, in: RoomRecord.get(room, in: db)) }
    }

    /// Returns the gaps in the room's stored timeline, oldest first.
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

    /// Returns rooms with an unknown unread count: messages are missing after the user's read position, and the server
    /// has sent no count. Most recently active first.
    public func uncountedRooms(limit: Int) async throws -> [RoomID] {
        try await read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT r.id FROM room r WHERE \(RoomTable.isMissingUnread)
                        AND NOT EXISTS (SELECT 1 FROM unseen WHERE room = r.key)
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

    /// Returns the message that was sent with the transaction, if any.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func message(of transaction: TransactionID, in room: RoomID) async throws -> Message? {
        try await read { db in
            try MessageQuery(room: RoomRecord.get(room, in: db)).find(transaction, in: db)
        }
    }

    /// Returns the backend's identifier of a reaction, if any.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func reactionID(
        _ text: String, to message: MessageID, in room: RoomID, by member: MemberID
    ) async throws -> String? {
        try await read { db in
            let record = try RoomRecord.get(room, in: db)
            return try String.fetchOne(
                db,
                sql: """
                    SELECT r.id FROM reaction r JOIN message m ON m.key = r.message JOIN user u ON u.key = r.sender
                    WHERE m.room = ? AND m.id = ? AND r.text = ? AND u.id = ?
                    """, arguments: [record.key, message.rawValue, text, member.rawValue])
        }
    }
}
