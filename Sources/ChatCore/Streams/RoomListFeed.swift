import Synchronization

/// Publishes the room list after each change.
///
/// Changes that occur while the list is being read cause a single further read.
public final class RoomListFeed: Sendable {
    private struct State {
        var feed = SummaryFeed()
        var isFinished = false
    }

    private let state = Mutex(State())
    private let read: @Sendable () async throws -> [RoomSummary]

    /// Creates a feed without observers.
    /// - Parameter read: Returns all rooms, most recently active first.
    public init(read: @escaping @Sendable () async throws -> [RoomSummary]) {
        self.read = read
    }

    /// The room list, now and after each change. Slow consumers receive only the newest one.
    public func summaries() -> AsyncStream<[RoomSummary]> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: [RoomSummary].self, bufferingPolicy: .bufferingNewest(1))
        let isFinished = state.withLock { state in
            if !state.isFinished { state.feed.add(continuation) }
            return state.isFinished
        }
        if isFinished { continuation.finish() } else { refresh() }
        return stream
    }

    /// Reads the list again, if anyone observes it.
    public func refresh() {
        let isReader = state.withLock { state in
            state.feed.markStale()
            return !state.isFinished && state.feed.beginRefresh()
        }
        if isReader { Task { await readUntilCurrent() } }
    }

    /// What ``update(_:since:_:)`` compares.
    public var revision: Int { state.withLock { $0.feed.revision } }

    /// Publishes a change of one room. Reads the list only if something else has changed it meanwhile: typing stores a
    /// draft three times a second, and there may be thousands of rooms.
    /// - Parameter since: the ``revision`` before the change was stored.
    public func update(_ room: RoomID, since: Int, _ change: @Sendable (inout RoomSummary) -> Void) {
        let isPublished = state.withLock { $0.feed.update(room, since: since, change) }
        if !isPublished { refresh() }
    }

    /// Ends all streams, including those that begin later.
    public func finish() {
        state.withLock { state in
            state.isFinished = true
            state.feed.finish()
        }
    }

    private func readUntilCurrent() async {
        while beginRead() {
            do {
                let rooms = try await read()
                state.withLock { $0.feed.publish(rooms) }
            } catch {
                // The list cannot report an error: it stays as it is until the next change.
                state.withLock { $0.feed.endRefresh() }
                return
            }
        }
    }

    /// - Returns: Whether the list has to be read. Otherwise the refresh has ended.
    private func beginRead() -> Bool {
        state.withLock { state in
            guard state.feed.isStale else {
                state.feed.endRefresh()
                return false
            }
            state.feed.startReading()
            return true
        }
    }
}
