import ChatCore
import ChatStore
import Synchronization

/// The observers of each room's timeline, and the member names that they have received.
final class TimelineFeeds: Sendable {
    private struct Feed {
        var observers = Observers<TimelineUpdate>()
        var names: MemberNames
    }

    private struct State {
        var feeds: [RoomID: Feed] = [:]
        var isFinished = false
    }

    private let unsent: UnsentMessages
    private let state = Mutex(State())

    init(unsent: UnsentMessages) {
        self.unsent = unsent
    }

    /// Whether all streams have ended.
    var isFinished: Bool { state.withLock { $0.isFinished } }

    func isObserved(_ room: RoomID) -> Bool { state.withLock { $0.feeds[room] != nil } }

    /// Adds an observer, which receives the part of the snapshot after a gap, and then each update.
    func add(
        _ continuation: AsyncStream<TimelineUpdate>.Continuation, to snapshot: RoomSnapshot, behind gap: TimelineGap?
    ) {
        let room = snapshot.room.id
        let names = names(of: snapshot)
        let opening = opening(snapshot, behind: gap, names)
        let token: Int? = state.withLock { state in
            if state.isFinished { return nil }
            continuation.yield(opening)
            return state.feeds[room, default: Feed(names: names)].observers.add(continuation)
        }
        guard let token else { return continuation.finish() }
        // In a task of its own: the stream may be deallocated, and so end, while an update is published under the lock.
        continuation.onTermination = { [weak self] _ in Task { self?.remove(token, from: room) } }
    }

    /// Restarts the observers of a room with the part of the snapshot after a gap.
    func reopen(_ snapshot: RoomSnapshot, behind gap: TimelineGap?) {
        yield(opening(snapshot, behind: gap, names(of: snapshot)), in: snapshot.room.id)
    }

    /// Publishes an update; messages have pending changes applied.
    func publish(_ update: TimelineUpdate, in room: RoomID) {
        guard isObserved(room) else { return }
        if case .changed(let messages) = update {
            yield(.changed(unsent.displayed(messages)), in: room)
        } else {
            yield(update, in: room)
        }
    }

    /// Publishes messages that the store has, in place of their echoes.
    func publish(stored messages: [Message], in room: RoomID) {
        endEchoes(of: messages, in: room)
        if !messages.isEmpty { publish(.changed(messages), in: room) }
    }

    /// Removes the echoes of messages that the store has.
    func endEchoes(of messages: [Message], in room: RoomID) {
        let removed = unsent.resolve(messages, in: room)
        if !removed.isEmpty { publish(.removed(removed), in: room) }
    }

    /// Publishes members whose displayed name or avatar changed.
    func publish(_ members: [Member], in room: RoomID) {
        state.withLock { state in
            guard let changed = state.feeds[room]?.names.update(members), !changed.isEmpty else { return }
            state.feeds[room]?.observers.yield(.membersChanged(changed))
        }
    }

    /// Ends the streams of a room that was left.
    func close(_ room: RoomID) {
        yield(.closed, in: room)
        end(room)
    }

    /// Ends the streams of a room whose updates cannot be continued.
    func end(_ room: RoomID) {
        // Outside the lock, so that no termination handler runs while it is held.
        var feed = state.withLock { $0.feeds.removeValue(forKey: room) }
        feed?.observers.finish()
    }

    /// Ends all streams, including any that begin later.
    func finish() {
        let feeds = state.withLock { state in
            state.isFinished = true
            defer { state.feeds = [:] }
            return state.feeds
        }
        for var feed in feeds.values { feed.observers.finish() }
    }

    private func yield(_ update: TimelineUpdate, in room: RoomID) {
        state.withLock { $0.feeds[room]?.observers.yield(update) }
    }

    /// Returns the names that observers have, or those of a snapshot if there are no observers.
    private func names(of snapshot: RoomSnapshot) -> MemberNames {
        state.withLock { $0.feeds[snapshot.room.id]?.names } ?? MemberNames(snapshot.members)
    }

    private func opening(_ snapshot: RoomSnapshot, behind gap: TimelineGap?, _ names: MemberNames) -> TimelineUpdate {
        .opened(
            unsent.displayed(snapshot.page.after(gap), of: snapshot.room.id),
            members: snapshot.members.map(names.named), fullyReadMarker: snapshot.fullyReadMarker)
    }

    private func remove(_ token: Int, from room: RoomID) {
        state.withLock { state in
            state.feeds[room]?.observers.remove(token)
            if state.feeds[room]?.observers.isEmpty == true { state.feeds[room] = nil }
        }
    }
}

extension TimelinePage {
    /// The part of the page after a gap.
    func after(_ gap: TimelineGap?) -> TimelinePage {
        guard let gap else { return self }
        return TimelinePage(
            messages: messages.filter { $0.position >= gap.position }, hasOlder: true, hasNewer: hasNewer)
    }

    /// The part of the page before a gap.
    func before(_ gap: TimelineGap) -> TimelinePage {
        let remaining = messages.filter { $0.position < gap.position }
        return TimelinePage(
            messages: remaining, hasOlder: hasOlder, hasNewer: hasNewer || remaining.count < messages.count)
    }
}
