import ChatCore
import ChatOutbox
import ChatStore
import Synchronization

/// Publishes local echoes and pending changes as the outbox's items change, and notes which of them are held back.
final class OutboxObserver: Sendable {
    private struct State {
        var tasks: [RoomID: Task<Void, Never>] = [:]
        var isStopped = false
    }

    private let outbox: Outbox
    private let publisher: Publisher
    private let held: HeldMessages
    private let state = Mutex(State())

    init(outbox: Outbox, writer: RoomWriter, held: HeldMessages) {
        self.outbox = outbox
        self.held = held
        publisher = Publisher(writer: writer)
    }

    /// Observes a room, unless it is observed already.
    func observe(_ room: RoomID) {
        state.withLock { state in
            guard state.tasks[room] == nil, !state.isStopped else { return }
            let items = outbox.items(in: room)
            state.tasks[room] = Task { [publisher, held] in
                var isFirst = true
                for await items in items {
                    await publisher.publish(items, in: room, isFirst: isFirst)
                    held.note(items, in: room)
                    isFirst = false
                }
            }
        }
    }

    /// Ends observing permanently.
    func stop() {
        let tasks = state.withLock { state in
            state.isStopped = true
            return state.tasks.values
        }
        for task in tasks { task.cancel() }
        held.stop()
    }
}

private struct Publisher: Sendable {
    let writer: RoomWriter

    private var store: ChatStore { writer.store }
    private var unsent: UnsentMessages { writer.unsent }

    func publish(_ items: [OutboxItem], in room: RoomID, isFirst: Bool) async {
        await writer.serialized {
            if isFirst { await resolveStored(items, in: room) }
            let update = unsent.update(items, in: room)
            if !update.echoes.removed.isEmpty { writer.timelines.publish(.removed(update.echoes.removed), in: room) }
            if !update.echoes.changed.isEmpty { writer.timelines.publish(.changed(update.echoes.changed), in: room) }
            if update.changesNewest { writer.rooms.refresh(room) }
            var changed: [Message] = []
            for target in update.targets { changed += await messages(of: target, in: room) }
            if !changed.isEmpty { writer.timelines.publish(.changed(changed), in: room) }
            await writer.confirmStored(in: room)
        }
    }

    /// A kill between the sync and the server's response leaves a message in the store and in the outbox: display it
    /// once.
    private func resolveStored(_ items: [OutboxItem], in room: RoomID) async {
        for item in items {
            guard case .send = item.request.action,
                // What cannot be read is shown twice until the outbox removes it.
                let stored = (try? await store.message(of: item.request.id, in: room)) ?? nil
            else { continue }
            unsent.withEchoes { $0.resolve(item.request.id, as: stored.id, in: room) }
        }
    }

    /// Returns the messages that a change targets, without the change. One that cannot be read is not published again:
    /// the page that contains it shows the change when it is loaded.
    private func messages(of target: OutboxTarget, in room: RoomID) async -> [Message] {
        switch target {
        case .message(let id):
            if let echo = unsent.withEchoes({ $0.localEcho(of: id, in: room) }) { return [echo] }
            return (try? await store.messages([id], in: room)) ?? []
        case .queued(let transaction):
            return (try? await unsent.message(of: transaction, in: room, or: store)).map { [$0] } ?? []
        }
    }
}
