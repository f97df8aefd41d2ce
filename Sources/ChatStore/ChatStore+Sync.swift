public import ChatCore
import GRDB

extension ChatStore {
    /// Takes in what a server told: all of it in one transaction, together with where to go on. After a loss of power
    /// the whole batch may be missing: the server is then asked for it again.
    ///
    /// What is known already changes nothing, so that a batch may come twice, or overlap with another.
    /// - Returns: what became of the rooms, in the order of the batch.
    public func apply(_ batch: SyncBatch) async throws -> [RoomChange] {
        let leftRooms = batch.rooms.filter(\.isLeft).map(\.id)
        if !leftRooms.isEmpty {
            // Before the rooms: what is unsent must not be left to itself.
            try await writePending { db in
                for room in leftRooms {
                    for table in ["draft", "outbox"] {
                        try db.execute(sql: "DELETE FROM \(table) WHERE room = ?", arguments: [room.rawValue])
                    }
                }
            }
        }
        return try await writeCache { db in
            let roomChanges = try batch.rooms.map { try RoomSync(db: db).apply($0) }
            try InvitationTable(db: db).apply(batch)
            if let direct = batch.directRooms { try Self.setDirectRooms(direct, in: db) }
            for (name, value) in batch.settings {
                try db.execute(
                    sql: """
                        INSERT INTO setting (name, value) VALUES (?, ?)
                        ON CONFLICT (name) DO UPDATE SET value = excluded.value
                        """, arguments: [name, value])
            }
            return roomChanges
        }
    }

    /// Makes these rooms conversations for two, and no others.
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

    /// Puts what was missing where it was missing.
    ///
    /// - Parameters:
    ///   - events: what the server has right before the gap's end, oldest first. What is known of them already ends
    ///     the gap.
    ///   - token: where the server goes on, backwards; nil at the beginning of the room.
    /// - Returns: nil if the gap is no longer as it was given: something else filled it meanwhile.
    /// - Throws: ``ChatError/notFound`` without the room.
    public func fill(
        _ gap: TimelineGap, in room: RoomID, with events: [TimelineEvent], members: [Member] = [], next token: String?
    ) async throws -> RoomChange? {
        try await writeCache { db in
            try RoomSync(db: db).fill(gap, in: RoomRecord.get(room, in: db), with: events, members, next: token)
        }
    }

    /// Puts a piece of history into a gap.
    ///
    /// - Parameter isContiguous: whether it begins where what is in front of the gap ends. Otherwise it may lie anywhere in
    ///   the gap, or meet one of its ends.
    /// - Returns: nil if it does not belong there, or the gap is no longer as it was given.
    /// - Throws: ``ChatError/notFound`` without the room.
    public func insertChunk(
        _ chunk: TimelineChunk, in gap: TimelineGap, of room: RoomID, members: [Member] = [], isContiguous: Bool = false
    ) async throws -> RoomChange? {
        try await writeCache { db in
            try RoomSync(db: db).insertChunk(
                chunk, in: gap, of: RoomRecord.get(room, in: db), members, isContiguous: isContiguous)
        }
    }

    /// Takes in a change that a server took from here: the sync may tell it again.
    /// - Throws: ``ChatError/notFound`` without the room.
    public func apply(_ change: MessageChange, in room: RoomID) async throws -> RoomChange {
        try await writeCache { db in try RoomSync(db: db).apply(change, in: RoomRecord.get(room, in: db)) }
    }

    /// Where messages of the room are missing, oldest first.
    /// - Throws: ``ChatError/notFound`` without the room.
    public func gaps(in room: RoomID) async throws -> [TimelineGap] {
        try await read { db in
            let record = try RoomRecord.get(room, in: db)
            return try Row.fetchAll(
                db.cachedStatement(sql: "SELECT * FROM gap WHERE room = ? ORDER BY position"),
                arguments: [record.key]
            ).map(TimelineGap.init)
        }
    }

    /// What is kept of a room's state that was set by one of these events.
    public func origins(of events: Set<MessageID>, in room: RoomID) async throws -> [StateOrigin] {
        guard !events.isEmpty else { return [] }
        return try await read { db in
            guard let record = try RoomRecord.find(room, in: db) else { return [] }
            let statement = try db.cachedStatement(
                sql: "SELECT type, key FROM stateOrigin WHERE room = ? AND event = ?")
            return try events.flatMap { event in
                try Row.fetchAll(statement, arguments: [record.key, event.rawValue]).map { row in
                    StateOrigin(.init(type: try row.value("type"), key: try row.value("key")), event: event)
                }
            }
        }
    }

    /// Rooms of which it is not known how much is unread, as messages are missing behind the user's mark and no server
    /// counted them: the latest active first.
    public func uncountedRooms(limit: Int) async throws -> [RoomID] {
        try await read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT r.id FROM room r WHERE \(Self.isMissingUnread)
                        AND NOT EXISTS (SELECT 1 FROM unseen WHERE room = r.key)
                    ORDER BY r.lastActivity DESC, r.key DESC LIMIT ?
                    """, arguments: [limit]
            ).map { RoomID($0) }
        }
    }

    /// The newest gap behind the user's mark, where nobody has counted what is missing; nil without one.
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

    /// The message that was sent with a transaction; nil if there is none.
    /// - Throws: ``ChatError/notFound`` without the room.
    public func message(of transaction: TransactionID, in room: RoomID) async throws -> Message? {
        try await read { db in
            try MessageQuery(room: RoomRecord.get(room, in: db)).find(transaction, in: db)
        }
    }

    /// The identifier under which a backend knows a reaction; nil if there is none.
    /// - Throws: ``ChatError/notFound`` without the room.
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
