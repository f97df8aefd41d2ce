import ChatCore
import ChatStore

/// How far it was counted what is unread of messages that are missing.
struct MissingCounter {
    /// Pieces of history that were asked for in each room.
    fileprivate var chunkCounts: [RoomID: Int] = [:]
    /// Whether something came that was not looked at.
    fileprivate var isStale = true
    fileprivate var task: Task<Void, Never>?

    /// More is missing in a room than before.
    mutating func restart(in room: RoomID) {
        chunkCounts[room] = nil
        isStale = true
    }
}

/// A sync that leaves messages out tells of the newest alone. What is unread of the others is counted by fetching them, up
/// to the user's mark or as far as is polite: the rest is told to be more than is counted.
extension MatrixBackend {
    /// Rooms, and pieces of each one's history, that are asked for.
    private static let maxRooms = 40
    private static let maxChunks = 5

    /// Begins, where anything is missing and it has not begun.
    func countOn() {
        guard counter.isStale, counter.task == nil, !isClosed else { return }
        counter.task = Task { [weak self] in await self?.countMissing() }
    }

    func stopCounting() async {
        counter.task?.cancel()
        await counter.task?.value
    }

    private func countMissing() async {
        defer { counter.task = nil }
        while counter.isStale, !Task.isCancelled {
            counter.isStale = false
            guard let rooms = try? await store.uncountedRooms(limit: Self.maxRooms) else { return }
            for room in rooms where !Task.isCancelled {
                do {
                    try await countMissing(in: room)
                } catch MatrixError.rejected {
                    // It will not say it the next time either.
                    counter.chunkCounts[room] = Self.maxChunks
                } catch {
                    // Whatever keeps it from being fetched now is over with a later sync.
                    return counter.isStale = true
                }
            }
        }
    }

    private func countMissing(in room: RoomID) async throws {
        while counter.chunkCounts[room, default: 0] < Self.maxChunks {
            try Task.checkCancellation()
            guard let gap = try await store.uncountedGap(in: room) else { return }
            counter.chunkCounts[room, default: 0] += 1
            do {
                try await fill(gap, in: room)
            } catch MatrixError.busy(let retryAfter) {
                counter.chunkCounts[room, default: 1] -= 1
                try await clock.sleep(for: min(retryAfter, .seconds(60)), tolerance: nil)
            }
        }
    }
}
