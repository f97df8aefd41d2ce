import ChatCore
import ChatStore

/// Progress of counting unread messages in gaps.
struct MissingCounter {
    /// The number of history chunks requested for each room.
    fileprivate var chunkCounts: [RoomID: Int] = [:]
    /// Whether gaps may have appeared since the last pass.
    fileprivate var isStale = true
    fileprivate var task: Task<Void, Never>?

    /// Resets the limit of a room that got another gap.
    mutating func restart(in room: RoomID) {
        chunkCounts[room] = nil
        isStale = true
    }
}

/// A limited sync returns only the newest messages. Unread messages in the gap before them are counted by fetching it,
/// back to the user's read marker or up to a limit that spares the server; beyond that the count is a lower bound.
extension MatrixBackend {
    /// The maximum number of rooms per pass, and of history chunks per room until it gets another gap.
    private static let maxRooms = 40
    private static let maxChunks = 5

    /// Starts counting if gaps may have appeared and no pass is running.
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
            // The count stays a lower bound until the next gap.
            guard let rooms = try? await store.uncountedRooms(limit: Self.maxRooms) else { return }
            for room in rooms where !Task.isCancelled {
                do {
                    try await countMissing(in: room)
                } catch MatrixError.rejected {
                    // The server would reject a retry as well.
                    counter.chunkCounts[room] = Self.maxChunks
                } catch {
                    // Other failures are temporary: try again after a later sync.
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
