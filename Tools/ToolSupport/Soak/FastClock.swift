/// A clock on which sleeping takes a fraction of the requested time.
package struct FastClock: Clock {
    private let base = ContinuousClock()
    private let factor: Int

    package init(factor: Int) { self.factor = factor }

    package struct Instant: InstantProtocol {
        /// The time as users of the clock see it.
        package var offset: Duration

        package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        package func duration(to other: Instant) -> Duration { other.offset - offset }
        package static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let start = ContinuousClock.now

    package var now: Instant { Instant(offset: start.duration(to: base.now) * factor) }
    package var minimumResolution: Duration { base.minimumResolution * factor }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await base.sleep(until: start + deadline.offset / factor, tolerance: nil)
    }
}
