import Synchronization

/// The progress of the sync.
final class SyncStatus: Sendable {
    private let isCurrent = Atomic(false)
    private let begun = Atomic(0)

    /// Whether the store has everything that the server had when the sync began.
    var hasCaughtUp: Bool {
        get { isCurrent.load(ordering: .acquiring) }
        set { isCurrent.store(newValue, ordering: .releasing) }
    }

    /// The number of sync requests that have begun.
    var count: Int { begun.load(ordering: .acquiring) }

    /// Counts a request that begins.
    /// - Returns: Its number, from 1.
    func begin() -> Int { begun.add(1, ordering: .acquiringAndReleasing).newValue }
}
