import Synchronization

/// Hands progress that is told from another thread to the main actor, at most twenty times in all.
nonisolated final class ProgressSteps: Sendable {
    private let told = Mutex(0)
    private let tell: @MainActor @Sendable (Double) -> Void

    init(_ tell: @escaping @MainActor @Sendable (Double) -> Void) {
        self.tell = tell
    }

    /// - Parameter part: from 0 to 1.
    func note(_ part: Double) {
        let step = Int(part * 20)
        let isNew = told.withLock { told in
            guard step > told else { return false }
            told = step
            return true
        }
        guard isNew else { return }
        Task { @MainActor [tell] in tell(part) }
    }
}
