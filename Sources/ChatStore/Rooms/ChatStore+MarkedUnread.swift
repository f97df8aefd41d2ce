public import ChatCore
import GRDB

extension ChatStore {
    /// Marks a room as unread, or removes the mark.
    /// - Parameter isUnsent: whether a server still has to be told; see ``unsentUnreadMarks()``.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func setMarkedUnread(_ isMarked: Bool, in room: RoomID, isUnsent: Bool) async throws {
        try await write { db in
            try MarkedUnreadTable(db: db).set(isMarked, isUnsent: isUnsent, of: RoomRecord.get(room, in: db))
        }
    }

    /// Removes the unread mark of a room that was read here.
    /// - Parameter isUnsent: as in ``setMarkedUnread(_:in:isUnsent:)``.
    /// - Returns: whether there was one.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func removeUnreadMark(of room: RoomID, isUnsent: Bool) async throws -> Bool {
        try await write { db in
            try MarkedUnreadTable(db: db).remove(isUnsent: isUnsent, of: RoomRecord.get(room, in: db))
        }
    }

    /// Returns the rooms whose marks the server does not have yet, with the new values.
    public func unsentUnreadMarks() async throws -> [RoomID: Bool] {
        try await read { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT r.id, u.value FROM markedUnread u JOIN room r ON r.key = u.room
                    WHERE u.isUnsent <> 0 AND \(StagedRooms.isShown)
                    """)
            return Dictionary(uniqueKeysWithValues: try rows.map { (try $0.identifier("id"), try $0.flag("value")) })
        }
    }

    /// Records that the server has a room's mark, unless the user has changed it since.
    public func noteSentUnreadMark(_ isMarked: Bool, of room: RoomID) async throws {
        try await write { db in
            // The user may have left the room meanwhile.
            guard let record = try RoomRecord.find(room, in: db) else { return }
            try MarkedUnreadTable(db: db).noteSent(isMarked, of: record)
        }
    }

    /// Returns the room's newest stored message, or `nil` if it has none.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func newestMessage(in room: RoomID) async throws -> MessageID? {
        try await read { db in
            let keys = try RoomRecord.get(room, in: db).keys
            return try String.fetchOne(
                db, sql: "SELECT id FROM message WHERE key BETWEEN ? AND ? ORDER BY key DESC LIMIT 1",
                arguments: [keys.lowerBound, keys.upperBound]
            ).map { MessageID($0) }
        }
    }
}
