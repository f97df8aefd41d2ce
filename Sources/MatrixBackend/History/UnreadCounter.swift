import ChatCore
import ChatStore

/// Counts unread messages in gaps.
///
/// A limited sync returns only the newest messages. Unread messages in the gap before them are counted by filling
/// it, back to the user's read marker or up to a limit that spares the server; beyond that the count is a lower
/// bound.
actor UnreadCounter {
    /// The maximum number of rooms per pass, and of history chunks per room until it gets another gap.
    private static let maxRooms = 40
    private static let maxChunks = 5
    /// The maximum number of attempts per room and pass while the server limits the rate.
    private static let maxAttempts = 3

    private let store: ChatStore
    private let clock: any Clock<Duration>
    private let fill: @Sendable (TimelineGap, RoomID) async throws -> Void
    /// The number of history chunks requested for each room.
    private var chunkCounts: [RoomID: Int] = [:]
    /// Whether gaps may have appeared since the last pass.
    private var isStale = true
    private var isStopped = false
    private var task: Task<Void, Never>?

    /// - Parameter fill: Fetches a chunk from the newer end of a gap.
    init(
        store: ChatStore, clock: any Clock<Duration>,
        fill: @escaping @Sendable (TimelineGap, RoomID) async throws -> Void
    ) {
        self.store = store
        self.clock = clock
        self.fill = fill
    }

    /// Resets the limit of a room that got another gap.
    func restart(in room: RoomID) {
        chunkCounts[room] = nil
        isStale = true
    }

    /// Starts counting if gaps may have appeared and no pass is running.
    func start() {
        guard isStale, task == nil, !isStopped else { return }
        task = Task { await count() }
    }

    /// Ends counting permanently.
    func stop() async {
        isStopped = true
        task?.cancel()
        await task?.value
    }

    private func count() async {
        defer { task = nil }
        while isStale, !Task.isCancelled {
            isStale = false
            // The count stays a lower bound until the next gap.
            guard let uncounted = try? await store.uncountedRooms(limit: .max) else { return }
            // What has reached the limit must not keep others from being counted.
            let rooms = uncounted.filter { chunkCounts[$0, default: 0] < Self.maxChunks }
            for room in rooms.prefix(Self.maxRooms) where !Task.isCancelled {
                do {
                    try await count(in: room)
                } catch MatrixError.rejected {
                    // The server would reject a retry as well.
                    chunkCounts[room] = Self.maxChunks
                } catch {
                    // Other failures are temporary: try again after a later sync.
                    return isStale = true
                }
            }
            // The others are counted after a later sync.
            if rooms.count > Self.maxRooms { return isStale = true }
        }
    }

    private func count(in room: RoomID) async throws {
        var attempts = 0
        while chunkCounts[room, default: 0] < Self.maxChunks {
            try Task.checkCancellation()
            guard let gap = try await store.uncountedGap(in: room) else { return }
            chunkCounts[room, default: 0] += 1
            do {
                try await fill(gap, room)
            } catch MatrixError.busy(let retryAfter) {
                chunkCounts[room, default: 1] -= 1
                attempts += 1
                try await clock.sleep(for: min(max(retryAfter, .seconds(1)), .seconds(60)), tolerance: nil)
                // Other rooms are waiting; this one has its turn after them.
                if attempts == Self.maxAttempts { return isStale = true }
            }
        }
    }
}
