import Synchronization

/// Forwards progress from any thread to the main actor, at most twenty times.
nonisolated final class ProgressSteps: Sendable {
    private let lastStep = Mutex(0)
    private let report: @MainActor @Sendable (Double) -> Void

    init(_ report: @escaping @MainActor @Sendable (Double) -> Void) {
        self.report = report
    }

    /// - Parameter fraction: from 0 to 1.
    func note(_ fraction: Double) {
        let step = Int(fraction * 20)
        let isNew = lastStep.withLock { lastStep in
            guard step > lastStep else { return false }
            lastStep = step
            return true
        }
        guard isNew else { return }
        Task { @MainActor [report] in report(fraction) }
    }
}
