/// Runs asynchronous work one item at a time, in the order in which it is added.
///
/// Unlike with `ChatCore.SerialGate`, where tasks wait for their turn in the order in which they arrive, the caller
/// does not wait. Its work runs after everything added before, and ``finish()`` waits for it as soon as it is
/// added.
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
