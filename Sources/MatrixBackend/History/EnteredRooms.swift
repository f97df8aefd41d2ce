import ChatCore
import Synchronization

/// Rooms that the user joined or created and that no sync has included yet: neither their history nor its gaps are
/// known.
final class EnteredRooms: Sendable {
    private let waiting = Mutex<[RoomID: [CheckedContinuation<Void, Never>]]>([:])

    func insert(_ room: RoomID) { waiting.withLock { $0[room] = $0[room] ?? [] } }

    func contains(_ room: RoomID) -> Bool { waiting.withLock { $0[room] != nil } }

    /// Waits until a sync includes the room; returns at once if the room is not in this set.
    func wait(for room: RoomID) async {
        await withCheckedContinuation { continuation in
            let isWaiting = waiting.withLock { waiting in
                waiting[room]?.append(continuation)
                return waiting[room] != nil
            }
            if !isWaiting { continuation.resume() }
        }
    }

    func remove(_ room: RoomID) {
        waiting.withLock { $0.removeValue(forKey: room) }?.forEach { $0.resume() }
    }

    func removeAll() {
        let all = waiting.withLock { waiting in
            defer { waiting = [:] }
            return waiting
        }
        for continuation in all.values.joined() { continuation.resume() }
    }
}
