import ChatCore

/// Rooms that the user joined or created and that no sync has included yet: neither their history nor its gaps are
/// known.
struct EnteredRooms {
    private var waiting: [RoomID: [CheckedContinuation<Void, Never>]] = [:]

    func contains(_ room: RoomID) -> Bool { waiting[room] != nil }

    mutating func insert(_ room: RoomID) { waiting[room] = waiting[room] ?? [] }

    /// Waits until a sync includes the room; resumes at once if the room is not in this set.
    mutating func wait(for room: RoomID, _ continuation: CheckedContinuation<Void, Never>) {
        guard contains(room) else { return continuation.resume() }
        waiting[room]?.append(continuation)
    }

    mutating func remove(_ room: RoomID) { waiting.removeValue(forKey: room)?.forEach { $0.resume() } }

    mutating func removeAll() { waiting.keys.forEach { remove($0) } }
}
