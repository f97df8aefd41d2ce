import ChatCore
import ChatStore

/// Opens timelines, and moves the user's read markers.
struct LocalTimelines: Sendable {
    let store: ChatStore
    let gate: SerialGate
    let feeds: TimelineFeeds
    let rooms: RoomListFeed
    /// The number of messages published when a timeline is reopened.
    private static let pageAnew = 100

    init(store: ChatStore, gate: SerialGate, feeds: TimelineFeeds, rooms: RoomListFeed) {
        self.store = store
        self.gate = gate
        self.feeds = feeds
        self.rooms = rooms
    }

    /// Begins a stream, serialized with the changes so that it misses none.
    func open(_ room: RoomID, limit: Int, with continuation: AsyncStream<TimelineUpdate>.Continuation) async {
        await gate.runEvenIfCanceled {
            guard !feeds.isFinished else { return continuation.finish() }
            do {
                guard let snapshot = try await store.snapshot(of: room, limit: limit) else {
                    continuation.yield(.closed)
                    return continuation.finish()
                }
                feeds.add(continuation, to: room, opening: TimelineUpdate(snapshot))
            } catch {
                continuation.finish()
            }
        }
    }

    /// Republishes a room after changes that may be anywhere in its timeline. Call it through the gate.
    func reopen(_ room: RoomID) async throws {
        guard feeds.hasObservers(of: room),
            let snapshot = try await store.snapshot(of: room, limit: Self.pageAnew)
        else { return }
        feeds.publish(TimelineUpdate(snapshot), in: room)
    }

    func markRead(_ message: MessageID, in room: RoomID) async throws {
        try await gate.run {
            let hasMoved = try await store.markRead(message, in: room)
            let wasMarked = try await store.removeUnreadMark(of: room, isUnsent: false)
            if hasMoved || wasMarked { rooms.refresh(room) }
        }
    }

    func markAllRead(in room: RoomID) async throws {
        if let newest = try await store.newestMessage(in: room) {
            try await markRead(newest, in: room)
        } else {
            try await setMarkedUnread(false, in: room)
        }
    }

    /// Removes the unread mark of a room that the user writes in.
    func noteSending(in room: RoomID) async {
        // If this fails, the message is sent anyway.
        try? await gate.run {
            if try await store.removeUnreadMark(of: room, isUnsent: false) { rooms.refresh(room) }
        }
    }

    func setMarkedUnread(_ isMarked: Bool, in room: RoomID) async throws {
        try await gate.run {
            try await store.setMarkedUnread(isMarked, in: room, isUnsent: false)
            rooms.refresh(room)
        }
    }
}

extension TimelineUpdate {
    fileprivate init(_ snapshot: RoomSnapshot) {
        self = .opened(snapshot.page, members: snapshot.members, fullyReadMarker: snapshot.fullyReadMarker)
    }
}
