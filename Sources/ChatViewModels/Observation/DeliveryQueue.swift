/// Runs asynchronous work in turn, in the order in which it is added.
///
/// `ChatCore.SerialGate` is for tasks, which wait in the order in which they arrive. Here the caller does not wait: what
/// it has added runs after all that was added before, and ``finish()`` knows of it at once.
package final class DeliveryQueue {
    /// The running task, followed by those waiting.
    private var tasks: [Task<Void, Never>] = []

    package init() {}

    package func add(_ work: @escaping @MainActor () async -> Void) {
        let previous = tasks.last
        tasks.append(
            Task {
                await previous?.value
                await work()
                tasks.removeFirst()
            })
    }

    /// Cancels the running task.
    package func cancelCurrent() { tasks.first?.cancel() }

    /// Returns when the queue is empty.
    package func finish() async {
        while let last = tasks.last { await last.value }
    }
}
