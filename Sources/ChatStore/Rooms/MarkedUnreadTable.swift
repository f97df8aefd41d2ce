import GRDB

/// The rooms that the user has marked as unread. A row is kept while the room is marked, or while the server does not
/// have the change yet.
struct MarkedUnreadTable {
    let db: Database

    /// Changes a room's mark on this computer.
    /// - Parameter isUnsent: whether the change is still to be sent to a server.
    func set(_ isMarked: Bool, isUnsent: Bool, of room: RoomRecord) throws {
        guard isMarked || isUnsent else { return try delete(room) }
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO markedUnread VALUES (?, ?, ?)")
            .execute(arguments: [room.key, isMarked, isUnsent])
    }

    /// Removes a room's mark on this computer.
    /// - Returns: whether there was one.
    func remove(isUnsent: Bool, of room: RoomRecord) throws -> Bool {
        guard try isMarked(room) else { return false }
        try set(false, isUnsent: isUnsent, of: room)
        return true
    }

    /// Stores what another device has set. A change of this computer that the server does not have yet is later.
    func receive(_ isMarked: Bool, of room: RoomRecord) throws {
        guard try !isUnsent(room) else { return }
        try set(isMarked, isUnsent: false, of: room)
    }

    /// Removes the mark of a room that was read on another device, which tells the server itself.
    func removeRead(_ room: RoomRecord) throws {
        if try !isUnsent(room) { try delete(room) }
    }

    /// Notes that the server has a change, unless it was changed again since.
    func noteSent(_ isMarked: Bool, of room: RoomRecord) throws {
        try db.execute(
            sql: "UPDATE markedUnread SET isUnsent = 0 WHERE room = ? AND value = ?", arguments: [room.key, isMarked])
        try db.execute(sql: "DELETE FROM markedUnread WHERE value = 0 AND isUnsent = 0")
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
