import Dispatch

/// Runs an actor on a dispatch queue, where blocking calls do not delay other tasks.
final class SpellingQueue: SerialExecutor {
    private let queue = DispatchQueue(label: "spelling", qos: .utility)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}
