import ChatCore
import ChatStore

/// Opens timelines, and records what the user has read or marked as unread.
struct MatrixTimelines: Sendable {
    let writer: RoomWriter
    let readMarkers: ReadMarkers
    let unreadMarks: UnreadMarks

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
                let gap = try await store.lastGap(in: room)
                writer.timelines.add(continuation, to: snapshot, behind: gap)
            } catch {
                continuation.finish()
            }
        }
    }

    func markRead(_ message: MessageID, in room: RoomID) async throws {
        // The user's own pending message is read already.
        guard LocalEchoes.transaction(of: message) == nil else { return }
        let (change, latest) = try await writer.serialized {
            let change = try await store.markReadUnsent(message, in: room)
            if change.hasMoved || change.wasMarked { writer.rooms.refresh(room) }
            let isLast = change.hasMoved ? try? await isLast(message, in: room) : nil
            return (change, isLast == true ? writer.latestEvents.event(in: room) : nil)
        }
        if change.hasMoved { Task { await readMarkers.send(message, in: room, through: latest) } }
        if change.wasMarked { await sendMark() }
    }

    /// Whether no other message follows, stored or in a gap: what follows has not been read.
    private func isLast(_ message: MessageID, in room: RoomID) async throws -> Bool {
        guard try await store.newestMessage(in: room) == message,
            let position = try await store.position(of: message, in: room)
        else { return false }
        return try await store.lastGap(in: room).map { $0.position <= position } ?? true
    }

    func markAllRead(in room: RoomID) async throws {
        if let newest = try await store.newestMessage(in: room) {
            try await markRead(newest, in: room)
        } else {
            try await setMarkedUnread(false, in: room)
        }
    }

    func setMarkedUnread(_ isMarked: Bool, in room: RoomID) async throws {
        try await writer.serialized {
            try await store.setMarkedUnread(isMarked, in: room, isUnsent: true)
            writer.rooms.refresh(room)
        }
        await sendMark()
    }

    /// Removes the unread mark of a room that the user writes in.
    func noteSending(in room: RoomID) async {
        // If this fails, the message is sent anyway.
        let wasMarked = try? await writer.serialized {
            let wasMarked = try await store.removeUnreadMark(of: room, isUnsent: true)
            if wasMarked { writer.rooms.refresh(room) }
            return wasMarked
        }
        if wasMarked == true { await sendMark() }
    }

    private func sendMark() async {
        await unreadMarks.noteUnsent()
        Task { await unreadMarks.sendUnsent() }
    }
}
