public import ChatCore
import GRDB

extension ChatStore {
    /// Returns what is known of the room's state.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func roomState(of room: RoomID) async throws -> RoomState {
        try await read { db in try RoomState.find(of: RoomRecord.get(room, in: db), in: db) }
    }

    /// Changes what is known of the room's state. Encryption that is on stays on.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func updateRoomState(of room: RoomID, _ change: @escaping @Sendable (inout RoomState) -> Void) async throws {
        try await write { db in
            let record = try RoomRecord.get(room, in: db)
            var state = try RoomState.find(of: record, in: db)
            change(&state)
            try state.store(of: record, in: db)
        }
    }

    /// Returns the rooms that are known to be encrypted.
    public func encryptedRooms() async throws -> [RoomID] {
        try await read { db in
            try String.fetchAll(
                db, sql: "SELECT r.id FROM encryptedRoom e JOIN room r ON r.key = e.room WHERE \(StagedRooms.isShown)"
            ).map { RoomID($0) }
        }
    }

    /// Returns the position of the event that enabled the room's encryption; `nil` if it is not stored, or if a message
    /// before it is encrypted.
    public func encryptionPosition(in room: RoomID) async throws -> Int64? {
        try await read { db in
            guard let record = try RoomRecord.find(room, in: db) else { return nil }
            return try EncryptionStart(record: record, db: db).key().map { MessageKey(raw: $0).position }
        }
    }

    /// Checks that the room is stored.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func requireRoom(_ room: RoomID) async throws {
        try await read { db in _ = try RoomRecord.get(room, in: db) }
    }

    /// Returns what is stored of rooms, in one read. A failed read throws: treating an unreadable room as unknown
    /// would forget that it is encrypted.
    public func knownRooms(_ requests: [KnownRoom.Request], ownUserID: MemberID) async throws -> KnownRooms {
        try await read { db in
            var known = KnownRooms()
            for request in requests {
                if try Bool.fetchOne(
                    db.cachedStatement(sql: "SELECT 1 FROM space WHERE id = ?"), arguments: [request.room.rawValue])
                    != nil
                {
                    known.spaces.insert(request.room)
                }
                guard let record = try RoomRecord.find(request.room, in: db) else { continue }
                known.rooms[request.room] = try KnownRoom(request, record: record, ownUserID: ownUserID, in: db)
            }
            return known
        }
    }

    /// Returns the event that set a part of the room's state; `nil` if none is known, or without such a room.
    public func stateOrigin(of subject: StateOrigin.Subject, in room: RoomID) async throws -> MessageID? {
        try await read { db in
            guard let record = try RoomRecord.find(room, in: db) else { return nil }
            return try String.fetchOne(
                db.cachedStatement(sql: "SELECT event FROM stateOrigin WHERE room = ? AND type = ? AND key = ?"),
                arguments: [record.key, subject.type, subject.key]
            ).map { MessageID($0) }
        }
    }

    // MARK: Read markers

    /// Records that the user's read marker still has to be sent to the server.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func setUnsentReadMarker(_ message: MessageID, of room: RoomID) async throws {
        try await write { db in try Self.setUnsentReadMarker(message, of: RoomRecord.get(room, in: db), in: db) }
    }

    private static func setUnsentReadMarker(_ message: MessageID, of record: RoomRecord, in db: Database) throws {
        try db.execute(
            sql: "INSERT OR REPLACE INTO unsentReadMarker VALUES (?, ?)", arguments: [record.key, message.rawValue])
    }

    /// Moves the marker as ``markRead(_:in:)`` does, removes the room's unread mark, and records that both still have
    /// to be sent to the server. In one transaction: a marker that has moved is not recorded again.
    /// - Returns: Whether the marker moved, and whether the room was marked.
    /// - Throws: ``ChatError/notFound`` if there is no such room or message.
    public func markReadUnsent(
        _ message: MessageID, in room: RoomID
    ) async throws -> (hasMoved: Bool, wasMarked: Bool) {
        try await write { db in
            let record = try RoomRecord.get(room, in: db)
            let position = try MessageQuery(room: record).get(message, in: db).position
            // Remove the mark first: moving the marker removes it, too, but as if the server knew.
            let wasMarked = try MarkedUnreadTable(db: db).remove(isUnsent: true, of: record)
            let hasMoved = try MessageEditor(record: record, db: db).markRead(at: position)
            if hasMoved { try Self.setUnsentReadMarker(message, of: record, in: db) }
            return (hasMoved: hasMoved, wasMarked: wasMarked)
        }
    }

    /// Returns the read markers that the server does not have yet.
    public func unsentReadMarkers() async throws -> [RoomID: MessageID] {
        try await read { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT r.id, u.message FROM unsentReadMarker u JOIN room r ON r.key = u.room
                    WHERE \(StagedRooms.isShown)
                    """)
            return Dictionary(
                uniqueKeysWithValues: try rows.map { (try $0.identifier("id"), try $0.identifier("message")) })
        }
    }

    /// Returns the room's read marker if the server does not have it yet. `nil` also without such a room.
    public func unsentReadMarker(of room: RoomID) async throws -> MessageID? {
        try await read { db in
            try String.fetchOne(
                db.cachedStatement(
                    sql: "SELECT u.message FROM room r JOIN unsentReadMarker u ON u.room = r.key WHERE r.id = ?"),
                arguments: [room.rawValue]
            ).map { MessageID($0) }
        }
    }

    /// Removes a marker that the server has, unless a later one has taken its place.
    public func removeUnsentReadMarker(_ message: MessageID, of room: RoomID) async throws {
        try await write { db in
            try db.execute(
                sql: """
                    DELETE FROM unsentReadMarker WHERE message = ? AND room = (SELECT key FROM room WHERE id = ?)
                    """, arguments: [message.rawValue, room.rawValue])
        }
    }
}

extension KnownRoom {
    fileprivate init(_ request: Request, record: RoomRecord, ownUserID: MemberID, in db: Database) throws {
        self.init(state: try RoomState.find(of: record, in: db))
        let table = MemberTable(db: db)
        ownMember = try table.member(ownUserID, of: record)
        origins = try StateOrigin.all(of: request.events, in: record, db)
        let mayLoseName = origins.contains { request.namingTypes.contains($0.subject.type) }
        let isNameless = (state.name ?? state.alias) == nil
        if request.members == .all || request.members == .ifNameless && (isNameless || mayLoseName) {
            members = try table.members(of: record)
        }
    }
}

extension StateOrigin {
    /// The stored parts of the room's state that these events set.
    fileprivate static func all(of events: Set<MessageID>, in record: RoomRecord, _ db: Database) throws
        -> [StateOrigin]
    {
        let statement = try db.cachedStatement(sql: "SELECT type, key FROM stateOrigin WHERE room = ? AND event = ?")
        return try events.flatMap { event in
            try Row.fetchAll(statement, arguments: [record.key, event.rawValue]).map { row in
                StateOrigin(.init(type: try row.value("type"), key: try row.value("key")), event: event)
            }
        }
    }
}
