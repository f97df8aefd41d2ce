/// Carries out one piece of work after another, in the order in which they were handed in.
final class DeliveryQueue {
    /// Under way, and those that wait for it.
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

    /// Asks what is under way to end early.
    func cancelCurrent() { tasks.first?.cancel() }

    /// Returns when all is done.
    func finish() async {
        while let last = tasks.last { await last.value }
    }
}
