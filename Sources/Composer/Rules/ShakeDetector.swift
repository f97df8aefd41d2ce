/// Detects a fast shake of the pointer over the composer, which clears it if the user enabled that (SLK-43).
///
/// A shake is four reversals within 0.6 seconds, each at least 24 pixels long, which ordinary pointing doesn't produce.
public struct ShakeDetector: Sendable {
    private static let turns = 4
    private static let span = Duration.milliseconds(600)
    private static let minDistance = 24.0

    /// The furthest position in the current direction.
    private var extreme: Double?
    /// 1 or −1; 0 while unknown.
    private var direction = 0.0
    private var reversalTimes: [Duration] = []

    public init() {}

    /// Handles pointer motion to `x`, in pixels from any origin.
    ///
    /// - Returns: whether this completes a shake, which resets the detector.
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

    /// Resets the detector when the pointer leaves the composer.
    public mutating func reset() {
        self = ShakeDetector()
    }
}
