import Synchronization

/// The observers of each room's timeline, with a value per room that initializes later observers.
public final class RoomFeeds<Memory: Sendable>: Sendable {
    /// Changed in place, as the value may be large.
    private struct Feed {
        var observers = Observers<TimelineUpdate>()
        var memory: Memory

        mutating func add(
            _ continuation: AsyncStream<TimelineUpdate>.Continuation, opening: (Memory) -> [TimelineUpdate]
        ) -> Int {
            for update in opening(memory) { continuation.yield(update) }
            return observers.add(continuation)
        }

        mutating func change(_ body: (inout Memory) -> TimelineUpdate?) {
            if let update = body(&memory) { observers.yield(update) }
        }
    }

    private struct State {
        var feeds: [RoomID: Feed] = [:]
        var isFinished = false
    }

    private let state = Mutex(State())
    private let isEmpty: @Sendable (Memory) -> Bool

    /// - Parameter isEmpty: whether a value may be discarded when its room has no observers.
    public init(isEmpty: @escaping @Sendable (Memory) -> Bool = { _ in true }) {
        self.isEmpty = isEmpty
    }

    /// Whether all streams have ended.
    public var isFinished: Bool { state.withLock { $0.isFinished } }

    public func hasObservers(of room: RoomID) -> Bool {
        state.withLock { $0.feeds[room]?.observers.isEmpty == false }
    }

    /// Returns the value of a room, or `nil` if it was discarded.
    public func memory(of room: RoomID) -> Memory? { state.withLock { $0.feeds[room]?.memory } }

    /// Adds an observer, which receives the first updates and then each later one.
    /// - Parameters:
    ///   - memory: the value of a room that has none.
    ///   - opening: returns the first updates, computed from the value.
    public func add(
        _ continuation: AsyncStream<TimelineUpdate>.Continuation, to room: RoomID, remembering memory: Memory,
        opening: (Memory) -> [TimelineUpdate]
    ) {
        let token: Int? = state.withLock { state in
            if state.isFinished { return nil }
            return state.feeds[room, default: Feed(memory: memory)].add(continuation, opening: opening)
        }
        guard let token else { return continuation.finish() }
        // In a task of its own: the stream may be deallocated, and so end, while an update is published under the lock.
        continuation.onTermination = { [weak self] _ in Task { self?.remove(token, from: room) } }
    }

    public func publish(_ update: TimelineUpdate, in room: RoomID) {
        state.withLock { $0.feeds[room]?.observers.yield(update) }
    }

    /// Changes the value of a room and publishes an update.
    /// - Parameters:
    ///   - memory: the value of a room that has none, or `nil` to leave such a room unchanged.
    ///   - change: returns the update, or `nil` for none.
    public func change(
        _ room: RoomID, remembering memory: Memory? = nil, _ change: (inout Memory) -> TimelineUpdate?
    ) {
        state.withLock { state in
            if state.feeds[room] == nil, let memory { state.feeds[room] = Feed(memory: memory) }
            state.feeds[room]?.change(change)
            forget(room, ifUnusedIn: &state)
        }
    }

    /// Ends the streams of a room.
    /// - Parameter last: the final update.
    public func end(_ room: RoomID, with last: TimelineUpdate? = nil) {
        // Outside the lock, so that no termination handler runs while it is held.
        var feed = state.withLock { $0.feeds.removeValue(forKey: room) }
        if let last { feed?.observers.yield(last) }
        feed?.observers.finish()
    }

    /// Ends all streams, including any that begin later.
    public func finish() {
        let feeds = state.withLock { state in
            state.isFinished = true
            defer { state.feeds = [:] }
            return state.feeds
        }
        for var feed in feeds.values { feed.observers.finish() }
    }

    private func remove(_ token: Int, from room: RoomID) {
        state.withLock { state in
            state.feeds[room]?.observers.remove(token)
            forget(room, ifUnusedIn: &state)
        }
    }

    private func forget(_ room: RoomID, ifUnusedIn state: inout State) {
        guard state.feeds[room]?.observers.isEmpty == true, state.feeds[room].map({ isEmpty($0.memory) }) == true else {
            return
        }
        state.feeds[room] = nil
    }
}
