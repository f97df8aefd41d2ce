public import ChatCore

extension ChatStore: ScrollPositionService {
    /// Returns the user's scroll position in the room, or `nil` for the newest message.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func scrollPosition(in room: RoomID) async throws -> ScrollPosition? {
        try await read { db in try ScrollPositionTable(db: db).position(in: RoomRecord.get(room, in: db)) }
    }

    /// Stores the scroll position, which changes often: a power loss may restore the previous one.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func saveScrollPosition(_ position: ScrollPosition?, in room: RoomID) async throws {
        try await writeCache { db in try ScrollPositionTable(db: db).set(position, in: RoomRecord.get(room, in: db)) }
    }
}
