import Synchronization

/// Publishes the room list after each change.
///
/// Only the rooms that changed are read: there may be thousands of them. Changes that occur while rooms are being read cause
/// a single further read.
public final class RoomListFeed: Sendable {
    private struct State {
        var feed = SummaryFeed()
        var isFinished = false
    }

    private let state = Mutex(State())
    private let read: @Sendable (RoomScope) async throws -> [RoomSummary]

    /// Creates a feed without observers.
    /// - Parameter read: Returns the rooms in a scope that exist; all of them most recently active first, others in any
    ///   order.
    public init(read: @escaping @Sendable (RoomScope) async throws -> [RoomSummary]) {
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

    /// Reads rooms again, if anyone observes them: after changes of their names, last messages, counts, or of whether they
    /// are listed.
    public func refresh(_ rooms: RoomScope = .all) {
        let isReader = state.withLock { state in
            state.feed.markStale(rooms)
            return !state.isFinished && state.feed.beginRefresh()
        }
        if isReader { Task { await readUntilCurrent() } }
    }

    /// What ``update(_:since:_:)`` compares.
    public var revision: Int { state.withLock { $0.feed.revision } }

    /// Reads a room again, if anyone observes it.
    public func refresh(_ room: RoomID) { refresh(.only([room])) }

    /// Publishes a change of one room. Reads only if something else has changed the list meanwhile: typing stores a draft
    /// three times a second.
    /// - Parameter since: the ``revision`` before the change was stored.
    public func update(_ room: RoomID, since: Int, _ change: @Sendable (inout RoomSummary) -> Void) {
        let isPublished = state.withLock { $0.feed.update(room, since: since, change) }
        if !isPublished { refresh(room) }
    }

    /// Ends all streams, including those that begin later.
    public func finish() {
        state.withLock { state in
            state.isFinished = true
            state.feed.finish()
        }
    }

    private func readUntilCurrent() async {
        while let rooms = beginRead() {
            do {
                let summaries = try await read(rooms)
                state.withLock { $0.feed.publish(summaries, of: rooms) }
            } catch {
                // The list cannot report an error: it stays as it is until the next change.
                state.withLock { $0.feed.endRefresh(withoutReading: rooms) }
                return
            }
        }
    }

    /// - Returns: The rooms to read, or `nil` if the refresh has ended.
    private func beginRead() -> RoomScope? {
        state.withLock { state in
            guard state.feed.isStale else {
                state.feed.endRefresh()
                return nil
            }
            return state.feed.startReading()
        }
    }
}
