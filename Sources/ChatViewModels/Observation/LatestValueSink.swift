/// Passes values to a slow consumer, one at a time and in order; of those waiting, only the newest.
final class LatestValueSink<Value: Sendable> {
    private let accept: @MainActor (Value) async -> Void
    private var waiting: Value?
    private var holds = 0
    private var working: Task<Void, Never>?

    init(_ accept: @escaping @MainActor (Value) async -> Void) {
        self.accept = accept
    }

    /// Whether a value is not being delivered yet.
    var isWaiting: Bool { waiting != nil }

    func put(_ value: Value) {
        waiting = value
        work()
    }

    /// Suspends delivery until a matching number of ``release()`` calls.
    func hold() { holds += 1 }

    func release() {
        holds -= 1
        work()
    }

    /// Returns when no value is being delivered. Suspended values stay queued.
    func waitUntilIdle() async {
        while let working { await working.value }
    }

    private func work() {
        guard working == nil, holds == 0, waiting != nil else { return }
        working = Task {
            while holds == 0, let next = waiting {
                waiting = nil
                await accept(next)
            }
            working = nil
        }
    }
}
