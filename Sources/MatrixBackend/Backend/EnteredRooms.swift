import ChatCore

/// Rooms that the user entered and of which no sync has told anything: nothing of their history is known, not even
/// that it is missing.
struct EnteredRooms {
    private var waiting: [RoomID: [CheckedContinuation<Void, Never>]] = [:]

    func contains(_ room: RoomID) -> Bool { waiting[room] != nil }

    mutating func insert(_ room: RoomID) { waiting[room] = waiting[room] ?? [] }

    /// Resumes when a sync has told of the room, at once for one that is not among these.
    mutating func wait(for room: RoomID, _ continuation: CheckedContinuation<Void, Never>) {
        guard contains(room) else { return continuation.resume() }
        waiting[room]?.append(continuation)
    }

    mutating func remove(_ room: RoomID) { waiting.removeValue(forKey: room)?.forEach { $0.resume() } }

    mutating func removeAll() { waiting.keys.forEach { remove($0) } }
}
