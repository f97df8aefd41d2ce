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

    /// The system's clock, which continues while the computer is suspended.
    public static let continuous = Timekeeper(ContinuousClock())
}
