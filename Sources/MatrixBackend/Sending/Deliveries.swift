import ChatCore
import ChatOutbox
import ChatStore
import Composer

/// Stores and publishes what the server accepted, before the sync returns it.
struct Deliveries: Sendable {
    let store: ChatStore
    let gate: SerialGate
    let unsent: UnsentMessages
    let timelines: TimelineFeeds
    let rooms: RoomListFeed
    let syncStatus: SyncStatus

    /// Applies a delivery before the outbox removes its request, even if the attempt is canceled, as when the program
    /// ends.
    func apply(_ delivery: MatrixOutboxBackend.Delivery, of request: OutboxRequest) async {
        // In a task of its own, as the store does nothing for one that is canceled.
        await Task {
            await gate.runEvenIfCanceled {
                switch delivery {
                case .message(let message): await accept(message, of: request)
                case .change(let change): await apply(change, in: request.room)
                }
            }
        }.value
    }

    private func accept(_ message: MessageID, of request: OutboxRequest) async {
        if case .send(let sent) = request.action, !sent.text.isBlank,
            // Store the source before the outbox deletes it. If that fails, edits start from the rendered text.
            let updated = try? await store.setWritten(sent.text, of: message, in: request.room)
        {
            timelines.publish(.changed([updated]), in: request.room)
        }
        unsent.withEchoes { $0.accept(request.id, as: message, in: request.room, during: syncStatus.count) }
        // The sync may have returned the event already. If that cannot be read, the next sync resolves the echo.
        let stored = (try? await store.messages([message], in: request.room)) ?? []
        timelines.endEchoes(of: stored, in: request.room)
    }

    private func apply(_ change: MessageChange, in room: RoomID) async {
        // The sync delivers the change as well. For a local echo, the store notes it and the outbox retains it.
        guard let changed = try? await store.apply(change, in: room).changed, !changed.isEmpty else { return }
        timelines.publish(stored: changed, in: room)
        rooms.refresh(room)
    }
}
