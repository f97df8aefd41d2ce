/// A clock on which everything waits a fraction of its time.
struct FastClock: Clock {
    private let base = ContinuousClock()
    let factor: Int

    struct Instant: InstantProtocol {
        /// As the users of the clock see it.
        var offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let start = ContinuousClock.now

    var now: Instant { Instant(offset: start.duration(to: base.now) * factor) }
    var minimumResolution: Duration { base.minimumResolution * factor }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await base.sleep(until: start + deadline.offset / factor, tolerance: nil)
    }
}
