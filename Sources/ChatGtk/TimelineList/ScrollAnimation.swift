/// A movement that slows down towards its end.
final class ScrollAnimation {
    /// In microseconds, as the frame clock counts.
    private static let duration = 250_000.0

    private let distance: Double
    private var start: Int64?

    /// - Parameter distance: in pixels.
    init(distance: Double) {
        self.distance = distance
    }

    /// What is left of the distance, in pixels.
    /// - Parameter time: of the frame, in microseconds.
    func rest(at time: Int64) -> Double {
        let start = self.start ?? time
        self.start = start
        let remaining = 1 - Double(time - start) / Self.duration
        return remaining <= 0 ? 0 : distance * remaining * remaining * remaining
    }
}

/// The scrolling while a drag is near an edge of the viewport.
final class DragScroll {
    /// How near to an edge it begins, in pixels.
    private static let margin = 24.0
    /// Viewport pixels a second for each pixel beyond that.
    private static let speed = 12.0
    private static let fastest = 3000.0

    var y: Double
    private var last: Int64?

    init(y: Double) {
        self.y = y
    }

    /// How far to move in this frame, in pixels.
    /// - Parameter time: of the frame, in microseconds.
    func step(at time: Int64, height: Double) -> Double {
        let elapsed = Double(time - (last ?? time)) / 1_000_000
        last = time
        let margin = min(Self.margin, height / 4)
        let beyond = y < margin ? y - margin : y > height - margin ? y - height + margin : 0
        return max(-Self.fastest, min(Self.fastest, beyond * Self.speed)) * min(elapsed, 0.1)
    }
}
