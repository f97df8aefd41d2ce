/// A scroll animation with a cubic ease-out.
final class ScrollAnimation {
    /// In microseconds, the unit of the frame clock.
    private static let duration = 250_000.0

    private let distance: Double
    private var start: Int64?

    /// - Parameter distance: The distance to animate, in pixels.
    init(distance: Double) {
        self.distance = distance
    }

    /// The remaining distance, in pixels.
    /// - Parameter time: The frame time, in microseconds.
    func rest(at time: Int64) -> Double {
        let start = self.start ?? time
        self.start = start
        let remaining = 1 - Double(time - start) / Self.duration
        return remaining <= 0 ? 0 : distance * remaining * remaining * remaining
    }
}

/// Autoscroll while a drag is near an edge of the viewport.
final class DragScroll {
    /// The distance from an edge at which autoscroll begins, in pixels.
    private static let margin = 24.0
    /// Scroll speed in pixels per second, per pixel of pointer distance past the margin.
    private static let speed = 12.0
    private static let fastest = 3000.0

    var y: Double
    private var last: Int64?

    init(y: Double) {
        self.y = y
    }

    /// The distance to scroll in this frame, in pixels.
    /// - Parameter time: The frame time, in microseconds.
    func step(at time: Int64, height: Double) -> Double {
        let elapsed = Double(time - (last ?? time)) / 1_000_000
        last = time
        let margin = min(Self.margin, height / 4)
        let beyond = y < margin ? y - margin : y > height - margin ? y - height + margin : 0
        return max(-Self.fastest, min(Self.fastest, beyond * Self.speed)) * min(elapsed, 0.1)
    }
}
