import ChatCore
import ChatStore

/// Opens timelines, and moves the user's read markers.
struct MatrixTimelines: Sendable {
    let writer: RoomWriter
    let readMarkers: ReadMarkers

    private var store: ChatStore { writer.store }

    /// Begins a stream, serialized with the changes so that it misses none.
    func open(_ room: RoomID, limit: Int, with continuation: AsyncStream<TimelineUpdate>.Continuation) async {
        await writer.serialized {
            guard !writer.timelines.isFinished else { return continuation.finish() }
            do {
                guard let snapshot = try await store.snapshot(of: room, limit: limit) else {
                    continuation.yield(.closed)
                    return continuation.finish()
                }
                let gap = try await store.gaps(in: room).last
                writer.timelines.add(continuation, to: snapshot, behind: gap)
            } catch {
                continuation.finish()
            }
        }
    }

    func markRead(_ message: MessageID, in room: RoomID) async throws {
        // The user's own pending message is read already.
        guard LocalEchoes.transaction(of: message) == nil else { return }
        let moved = try await writer.serialized {
            let moved = try await store.markRead(message, in: room)
            if moved {
                try await store.setUnsentReadMarker(message, of: room)
                writer.rooms.refresh()
            }
            return moved
        }
        if moved { Task { await readMarkers.send(message, in: room) } }
    }
}
