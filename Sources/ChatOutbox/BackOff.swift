/// How long to wait after attempts that failed.
public struct BackOff: Equatable, Sendable {
    public var shortest: Duration
    public var longest: Duration

    public init(shortest: Duration = .milliseconds(500), longest: Duration = .seconds(60)) {
        self.shortest = shortest
        self.longest = longest
    }

    /// Doubles with each attempt. Half of it is drawn, so that those who failed together do not return together.
    ///
    /// - Parameters:
    ///   - attempts: how many failed in a row, from 1.
    ///   - draw: from 0 to 1.
    /// - Returns: from ``shortest`` to ``longest``.
    public func delay(after attempts: Int, draw: Double) -> Duration {
        let doublings = min(max(attempts, 1), 30)
        let whole = min(longest, shortest * Double(1 << doublings))
        return min(longest, max(shortest, whole * (0.5 + 0.5 * min(max(draw, 0), 1))))
    }
}
