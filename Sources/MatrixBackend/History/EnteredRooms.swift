import ChatCore
import Synchronization

/// Rooms that the user has joined or created.
///
/// Until a sync has included one, neither its history nor its gaps are known. The response to a sync that began before
/// may be older: it may still list an invitation, or that the user was removed earlier.
final class EnteredRooms: Sendable {
    private struct State {
        /// Those that no sync has included yet, and who waits for that.
        var waiting: [RoomID: [CheckedContinuation<Void, Never>]] = [:]
        /// The number of syncs that had begun when the user entered a room.
        var syncs: [RoomID: Int] = [:]
        /// How often the user has entered a room.
        var entries: [RoomID: Int] = [:]
        /// Rooms of which an update was left out, because it may be older than the entry.
        var doubtful: Set<RoomID> = []
    }

    private let status: SyncStatus
    private let state = Mutex(State())

    init(status: SyncStatus = SyncStatus()) {
        self.status = status
    }

    /// Notes that the server has let the user into a room. Call this as soon as it says so.
    func note(_ room: RoomID) {
        let count = status.count
        state.withLock { state in
            // Earlier ones do not matter any more.
            state.syncs = state.syncs.filter { $0.value >= count }
            state.syncs[room] = count
            state.entries[room, default: 0] += 1
        }
    }

    /// How often the server has let the user into a room since the start, as far as this client asked for it.
    func entryCount(of room: RoomID) -> Int { state.withLock { $0.entries[room] ?? 0 } }

    /// Whether the sync under way, or else the last one, began before the user entered the room.
    func isNewer(_ room: RoomID) -> Bool {
        let count = status.count
        return state.withLock { ($0.syncs[room] ?? -1) >= count }
    }

    /// Adds a room that was not stored before.
    func insert(_ room: RoomID) { state.withLock { $0.waiting[room] = $0.waiting[room] ?? [] } }

    /// Waits until a sync includes the room; returns at once if the room was not inserted.
    func wait(for room: RoomID) async {
        await withCheckedContinuation { continuation in
            let isWaiting = state.withLock { state in
                state.waiting[room]?.append(continuation)
                return state.waiting[room] != nil
            }
            if !isWaiting { continuation.resume() }
        }
    }

    func remove(_ room: RoomID) {
        let waiting = state.withLock { state in
            state.syncs[room] = nil
            return state.waiting.removeValue(forKey: room)
        }
        waiting?.forEach { $0.resume() }
    }

    func removeAll() {
        let all = state.withLock { state in
            defer { state.waiting = [:] }
            return state.waiting
        }
        for continuation in all.values.joined() { continuation.resume() }
    }

    /// Notes that updates were left out which say that the user is not in these rooms.
    func addDoubtful(_ rooms: Set<RoomID>) { state.withLock { $0.doubtful.formUnion(rooms) } }

    /// Returns the rooms of which an update was left out since the last call.
    func removeDoubtful() -> Set<RoomID> {
        state.withLock { state in
            defer { state.doubtful = [] }
            return state.doubtful
        }
    }
}
