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
