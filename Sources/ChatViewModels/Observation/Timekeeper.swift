import Observation

/// The current time and a way to wait, based on any clock; tests use a manual one.
public nonisolated struct Timekeeper: Sendable {
    /// The time since an arbitrary origin; monotonic.
    public let now: @Sendable () -> Duration
    /// Waits until ``now`` reaches a time. Throws only if canceled.
    public let sleep: @Sendable (_ until: Duration) async throws -> Void

    public init<C: Clock>(_ clock: C) where C.Duration == Duration {
        let origin = clock.now
        now = { origin.duration(to: clock.now) }
        sleep = { try await clock.sleep(until: origin.advanced(by: $0), tolerance: nil) }
    }

    public static let continuous = Timekeeper(ContinuousClock())
}

extension Timekeeper {
    /// Returns when a condition over observable state holds, or after `limit`.
    func wait(atMost limit: Duration, until condition: @escaping @MainActor () -> Bool) async {
        let watching = Task {
            let states = Observations<Bool, Never> { condition() }
            for await holds in states where holds { return }
        }
        let limiting = Task {
            // Canceled once the condition holds; there is nothing left to cancel then.
            try? await sleep(now() + limit)
            watching.cancel()
        }
        await watching.value
        limiting.cancel()
    }
}
