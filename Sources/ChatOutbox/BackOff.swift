/// The delay between attempts: exponential back-off with jitter.
public struct BackOff: Equatable, Sendable {
    public var minDelay: Duration
    public var maxDelay: Duration

    public init(minDelay: Duration = .milliseconds(500), maxDelay: Duration = .seconds(60)) {
        self.minDelay = minDelay
        self.maxDelay = maxDelay
    }

    /// Returns the delay, which doubles with each attempt. Half of it is random, so that clients that failed together
    /// do not retry together.
    ///
    /// - Parameters:
    ///   - attempts: the number of consecutive failures, from 1.
    ///   - draw: a random number from 0 to 1.
    /// - Returns: a delay from ``minDelay`` to ``maxDelay``.
    public func delay(after attempts: Int, draw: Double) -> Duration {
        let doublings = min(max(attempts, 1), 30)
        let whole = min(maxDelay, minDelay * Double(1 << doublings))
        return min(maxDelay, max(minDelay, whole * (0.5 + 0.5 * min(max(draw, 0), 1))))
    }
}
