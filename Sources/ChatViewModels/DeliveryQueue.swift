/// Carries out one piece of work after another, in the order in which they were handed in.
final class DeliveryQueue {
    private var last: Task<Void, Never>?
    private var count = 0

    func add(_ work: @escaping @MainActor () async -> Void) {
        let previous = last
        count += 1
        last = Task {
            await previous?.value
            await work()
            count -= 1
            if count == 0 { last = nil }
        }
    }

    /// Returns when all is done.
    func finish() async {
        while let last { await last.value }
    }
}
