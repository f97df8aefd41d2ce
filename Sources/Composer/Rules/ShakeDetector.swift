/// Finds a fast shake of the pointer over the composer, which clears it where the user wants that (SLK-43).
///
/// A shake is four turns back within 0.6 seconds, each of at least 24 pixels: pointing at something is not that.
public struct ShakeDetector: Sendable {
    private static let turns = 4
    private static let span = Duration.milliseconds(600)
    private static let minDistance = 24.0

    /// Where the pointer turns if it turns now.
    private var extreme: Double?
    /// 1 or −1; 0 until it is known.
    private var direction = 0.0
    private var reversalTimes: [Duration] = []

    public init() {}

    /// The pointer is at `x`, in pixels from any origin.
    ///
    /// - Returns: whether this ends a shake; the next one begins afresh.
    public mutating func moved(to x: Double, at now: Duration) -> Bool {
        guard x.isFinite else { return false }
        guard let extreme else {
            extreme = x
            return false
        }
        let way = x - extreme
        if direction != 0, way * direction >= 0 {
            self.extreme = x
            return false
        }
        guard abs(way) >= Self.minDistance else { return false }
        if direction != 0 { reversalTimes = reversalTimes.filter { now - $0 <= Self.span } + [now] }
        direction = way < 0 ? -1 : 1
        self.extreme = x
        guard reversalTimes.count >= Self.turns else { return false }
        self = ShakeDetector()
        return true
    }

    /// The pointer left the composer.
    public mutating func reset() {
        self = ShakeDetector()
    }
}
