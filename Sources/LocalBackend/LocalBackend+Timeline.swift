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

    public func readingPlace(in room: RoomID) async throws -> ReadingPlace? {
        try await store.readingPlace(in: room)
    }

    public func saveReadingPlace(_ place: ReadingPlace?, in room: RoomID) async throws {
        try await store.saveReadingPlace(place, in: room)
    }

    public func markRead(_ message: MessageID, in room: RoomID) async throws {
        try await inTurn {
            if try await store.markRead(message, in: room) { roomsChanged() }
        }
    }

    private func observe(
        _ room: RoomID, limit: Int, with continuation: AsyncStream<TimelineUpdate>.Continuation
    ) async {
        await inTurn {
            guard !isClosed else { return continuation.finish() }
            do {
                guard let snapshot = try await store.snapshot(of: room, limit: limit) else {
                    continuation.yield(.closed)
                    return continuation.finish()
                }
                begin(snapshot, with: continuation)
            } catch {
                continuation.finish()
            }
        }
    }

    private func begin(_ snapshot: RoomSnapshot, with continuation: AsyncStream<TimelineUpdate>.Continuation) {
        let room = snapshot.room.id
        continuation.yield(.opened(snapshot.page, members: snapshot.members, readUpTo: snapshot.readUpTo))
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
