import Foundation

/// Runs a task and the actors that it calls on the thread that waits for it, so that no step has to wake another
/// thread.
public final class WaitingThread: TaskExecutor, @unchecked Sendable {
    private let condition = NSCondition()
    // Both are guarded by the condition's lock.
    private var jobs: [UnownedJob] = []
    private var hasEnded = false

    public init() {}

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        condition.withLock {
            jobs.append(job)
            condition.signal()
        }
    }

    /// Returns when the work has ended. Calls must not overlap.
    public func run(_ work: @escaping @Sendable () async -> Void) {
        condition.withLock { hasEnded = false }
        Task.detached(executorPreference: self) {
            await work()
            self.condition.withLock {
                self.hasEnded = true
                self.condition.signal()
            }
        }
        while let job = nextJob() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func nextJob() -> UnownedJob? {
        condition.withLock {
            while jobs.isEmpty, !hasEnded { condition.wait() }
            return jobs.isEmpty ? nil : jobs.removeFirst()
        }
    }
}
