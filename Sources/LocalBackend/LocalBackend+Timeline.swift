public import ChatCore
import ChatStore

extension LocalBackend {
    public nonisolated func timeline(of room: RoomID, limit: Int) -> AsyncStream<TimelineUpdate> {
        let (stream, continuation) = AsyncStream.makeStream(of: TimelineUpdate.self, bufferingPolicy: .unbounded)
        Task { await observe(room, limit: limit, with: continuation) }
        return stream
    }

    public func messages(in room: RoomID, before position: Int64, limit: Int) async throws -> TimelinePage {
        try await store.messages(in: room, before: position, limit: limit)
    }

    public func messages(in room: RoomID, after position: Int64, limit: Int) async throws -> TimelinePage {
        try await store.messages(in: room, after: position, limit: limit)
    }

    public func messages(in room: RoomID, around target: TimelineTarget, limit: Int) async throws -> TimelinePage {
        try await store.messages(in: room, around: target, limit: limit)
    }

    public func messages(_ ids: [MessageID], in room: RoomID) async throws -> [Message] {
        try await store.messages(ids, in: room)
    }

    public func scrollPosition(in room: RoomID) async throws -> ScrollPosition? {
        try await store.scrollPosition(in: room)
    }

    public func saveScrollPosition(_ position: ScrollPosition?, in room: RoomID) async throws {
        try await store.saveScrollPosition(position, in: room)
    }

    public func markRead(_ message: MessageID, in room: RoomID) async throws {
        try await serialized {
            if try await store.markRead(message, in: room) { roomsChanged() }
        }
    }

    private func observe(
        _ room: RoomID, limit: Int, with continuation: AsyncStream<TimelineUpdate>.Continuation
    ) async {
        await serialized {
            guard !isClosed else { return continuation.finish() }
            do {
                guard let snapshot = try await store.snapshot(of: room, limit: limit) else {
                    continuation.yield(.closed)
                    return continuation.finish()
                }
                startObserving(snapshot, with: continuation)
            } catch {
                continuation.finish()
            }
        }
    }

    private func startObserving(_ snapshot: RoomSnapshot, with continuation: AsyncStream<TimelineUpdate>.Continuation) {
        let room = snapshot.room.id
        continuation.yield(.opened(snapshot.page, members: snapshot.members, fullyReadMarker: snapshot.fullyReadMarker))
        if conversations[room]?.isTyping == true { continuation.yield(.typing([Self.guideID])) }
        let token = timelines[room, default: Observers()].add(continuation)
        continuation.onTermination = { [weak self] _ in
            Task { await self?.forget(token, in: room) }
        }
    }

    private func forget(_ token: Int, in room: RoomID) {
        timelines[room]?.remove(token)
        if timelines[room]?.isEmpty == true { timelines[room] = nil }
    }
}
