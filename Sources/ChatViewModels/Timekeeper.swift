import Observation

/// What time it is and how to wait, from any clock: tests hand in one they move by hand.
public nonisolated struct Timekeeper: Sendable {
    /// Time since an arbitrary origin; never goes back.
    public let now: @Sendable () -> Duration
    /// Waits until ``now`` has reached a time. Throws only when cancelled.
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
            try? await sleep(now() + limit)
            watching.cancel()
        }
        await watching.value
        limiting.cancel()
    }
}
