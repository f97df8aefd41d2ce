import Synchronization

/// Whether all that the server had to tell when one began to follow it is in the store.
final class SyncStatus: Sendable {
    private let isCurrent = Atomic(false)

    var hasCaughtUp: Bool {
        get { isCurrent.load(ordering: .acquiring) }
        set { isCurrent.store(newValue, ordering: .releasing) }
    }
}
