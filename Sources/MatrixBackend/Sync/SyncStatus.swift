import Synchronization

/// Whether the store has everything that the server had when the sync began.
final class SyncStatus: Sendable {
    private let isCurrent = Atomic(false)

    var hasCaughtUp: Bool {
        get { isCurrent.load(ordering: .acquiring) }
        set { isCurrent.store(newValue, ordering: .releasing) }
    }
}
