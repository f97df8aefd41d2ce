import GRDB

/// The rooms that the user has marked as unread. A row exists while the room is marked, or until the server has the
/// change.
struct MarkedUnreadTable {
    let db: Database

    /// Changes a room's mark locally.
    /// - Parameter isUnsent: whether a server still has to be told.
    func set(_ isMarked: Bool, isUnsent: Bool, of room: RoomRecord) throws {
        guard isMarked || isUnsent else { return try delete(room) }
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO markedUnread VALUES (?, ?, ?)")
            .execute(arguments: [room.key, isMarked, isUnsent])
    }

    /// Removes a room's mark locally.
    /// - Returns: whether there was one.
    func remove(isUnsent: Bool, of room: RoomRecord) throws -> Bool {
        guard try isMarked(room) else { return false }
        try set(false, isUnsent: isUnsent, of: room)
        return true
    }

    /// Stores a mark from another device, unless a local change is still unsent, which is newer.
    func receive(_ isMarked: Bool, of room: RoomRecord) throws {
        guard try !isUnsent(room) else { return }
        try set(isMarked, isUnsent: false, of: room)
    }

    /// Removes the mark of a room that was read on another device, which informs the server itself.
    func removeRead(_ room: RoomRecord) throws {
        if try !isUnsent(room) { try delete(room) }
    }

    /// Records that the server has a change, unless the user has changed the mark since.
    func noteSent(_ isMarked: Bool, of room: RoomRecord) throws {
        try db.execute(
            sql: "UPDATE markedUnread SET isUnsent = 0 WHERE room = ? AND value = ?", arguments: [room.key, isMarked])
        try db.execute(
            sql: "DELETE FROM markedUnread WHERE room = ? AND value = 0 AND isUnsent = 0", arguments: [room.key])
    }

    private func isMarked(_ room: RoomRecord) throws -> Bool {
        try flag("value", of: room)
    }

    private func isUnsent(_ room: RoomRecord) throws -> Bool {
        try flag("isUnsent", of: room)
    }

    private func flag(_ column: String, of room: RoomRecord) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT \(column) FROM markedUnread WHERE room = ?"), arguments: [room.key])
            ?? false
    }

    private func delete(_ room: RoomRecord) throws {
        try db.cachedStatement(sql: "DELETE FROM markedUnread WHERE room = ?").execute(arguments: [room.key])
    }
}
