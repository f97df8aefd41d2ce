import ChatCore
import Synchronization

/// The observers of each room's timeline.
final class TimelineFeeds: Sendable {
    private struct Feed {
        var observers = Observers<TimelineUpdate>()
        /// Who is typing, for observers added later.
        var typing: [MemberID] = []

        var isUnused: Bool { observers.isEmpty && typing.isEmpty }
    }

    private struct State {
        var feeds: [RoomID: Feed] = [:]
        var isFinished = false
    }

    private let state = Mutex(State())

    /// Whether all streams have ended.
    var isFinished: Bool { state.withLock { $0.isFinished } }

    func hasObservers(of room: RoomID) -> Bool {
        state.withLock { $0.feeds[room]?.observers.isEmpty == false }
    }

    /// Adds an observer, which receives `opening`, who is typing, and then each update.
    func add(_ continuation: AsyncStream<TimelineUpdate>.Continuation, to room: RoomID, opening: TimelineUpdate) {
        let token: Int? = state.withLock { state in
            if state.isFinished { return nil }
            continuation.yield(opening)
            let typing = state.feeds[room]?.typing ?? []
            if !typing.isEmpty { continuation.yield(.typing(typing)) }
            return state.feeds[room, default: Feed()].observers.add(continuation)
        }
        guard let token else { return continuation.finish() }
        // In a task of its own: the stream may be deallocated, and so end, while an update is published under the lock.
        continuation.onTermination = { [weak self] _ in Task { self?.remove(token, from: room) } }
    }

    func publish(_ update: TimelineUpdate, in room: RoomID) {
        state.withLock { $0.feeds[room]?.observers.yield(update) }
    }

    /// Publishes who is typing, if that has changed.
    func setTyping(_ members: [MemberID], in room: RoomID) {
        state.withLock { state in
            guard state.feeds[room]?.typing ?? [] != members else { return }
            state.feeds[room, default: Feed()].typing = members
            state.feeds[room]?.observers.yield(.typing(members))
            if state.feeds[room]?.isUnused == true { state.feeds[room] = nil }
        }
    }

    /// Ends the streams of a room that no longer exists.
    func close(_ room: RoomID) {
        var feed = state.withLock { $0.feeds.removeValue(forKey: room) }
        feed?.observers.yield(.closed)
        feed?.observers.finish()
    }

    /// Ends all streams, including any that begin later.
    func finish() {
        // Outside the lock, so that no termination handler runs while it is held.
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
            if state.feeds[room]?.isUnused == true { state.feeds[room] = nil }
        }
    }
}
