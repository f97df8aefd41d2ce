import ChatCore
import ChatOutbox
import Synchronization

/// Sends messages that a changed identity held back, once the user has verified or accepted it: here, by a
/// verification, or on another device.
final class HeldMessages: Sendable {
    private struct State {
        var tasks: [RoomID: Task<Void, Never>] = [:]
        /// Those that have been noted before and are still in the outbox.
        var noted: [RoomID: Set<TransactionID>] = [:]
        var isStopped = false
    }

    private let outbox: Outbox
    private let trust: @Sendable (RoomID) -> AsyncStream<RoomTrust?>
    private let state = Mutex(State())

    /// - Parameter trust: The trust of a room, now and after each change; `nil` while it cannot be read.
    init(outbox: Outbox, trust: @escaping @Sendable (RoomID) -> AsyncStream<RoomTrust?>) {
        self.outbox = outbox
        self.trust = trust
    }

    /// Notes the requests of a room after each change.
    func note(_ items: [OutboxItem], in room: RoomID) {
        let held = items.filter(\.isHeld).map(\.request.id)
        let ended: Task<Void, Never>? = state.withLock { state in
            let noted = state.noted[room]?.intersection(items.map(\.request.id)) ?? []
            state.noted[room] = noted.isEmpty ? nil : noted
            // Once all are sent or discarded: the trust of the room is read again at each change of the keys.
            if noted.isEmpty, held.isEmpty { return state.tasks.removeValue(forKey: room) }
            guard !held.isEmpty, state.tasks[room] == nil, !state.isStopped else { return nil }
            // The identity may have been accepted since, or in an earlier run. A message that has been noted before waits for
            // a change: it would be tried forever if the trust does not tell why it is held.
            let isNew = !noted.isSuperset(of: held)
            state.noted[room] = noted.union(held)
            state.tasks[room] = Task { [weak self, trust] in
                var wasHolding = isNew
                for await trust in trust(room) {
                    guard let trust else { continue }
                    if wasHolding, !trust.holdsMessages {
                        if !Task.isCancelled { await self?.release(room) }
                        return
                    }
                    wasHolding = trust.holdsMessages
                }
            }
            return nil
        }
        ended?.cancel()
    }

    private func release(_ room: RoomID) async {
        // First, so that messages that are held again are noted again.
        state.withLock { $0.tasks[room] = nil }
        // Where it cannot be stored, the user can still retry.
        try? await outbox.retry(in: room, rejectedFor: RoomSealer.isHeld)
    }

    func stop() {
        let tasks = state.withLock { state in
            state.isStopped = true
            return state.tasks.values
        }
        for task in tasks { task.cancel() }
    }
}

extension OutboxItem {
    fileprivate var isHeld: Bool { request.failure.map(RoomSealer.isHeld) ?? false }
}
