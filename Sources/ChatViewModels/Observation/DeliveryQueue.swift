/// A serial queue of asynchronous work.
final class DeliveryQueue {
    /// The running task, followed by those waiting.
    private var tasks: [Task<Void, Never>] = []

    func add(_ work: @escaping @MainActor () async -> Void) {
        let previous = tasks.last
        tasks.append(
            Task {
                await previous?.value
                await work()
                tasks.removeFirst()
            })
    }

    /// Cancels the running task.
    func cancelCurrent() { tasks.first?.cancel() }

    /// Returns when the queue is empty.
    func finish() async {
        while let last = tasks.last { await last.value }
    }
}
