/// How long to wait after attempts that failed.
public struct BackOff: Equatable, Sendable {
    public var minDelay: Duration
    public var maxDelay: Duration

    public init(minDelay: Duration = .milliseconds(500), maxDelay: Duration = .seconds(60)) {
        self.minDelay = minDelay
        self.maxDelay = maxDelay
    }

    /// Doubles with each attempt. Half of it is drawn, so that those who failed together do not return together.
    ///
    /// - Parameters:
    ///   - attempts: how many failed in a row, from 1.
    ///   - draw: from 0 to 1.
    /// - Returns: from ``shortest`` to ``longest``.
    public func delay(after attempts: Int, draw: Double) -> Duration {
        let doublings = min(max(attempts, 1), 30)
        let whole = min(maxDelay, minDelay * Double(1 << doublings))
        return min(maxDelay, max(minDelay, whole * (0.5 + 0.5 * min(max(draw, 0), 1))))
    }
}
