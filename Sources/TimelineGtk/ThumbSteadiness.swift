/// Keeps the scrollbar's thumb from moving against the scroll direction while row heights are being measured.
///
/// Measured heights that differ from the estimate change the content size above and below the viewport. While the user
/// scrolls up, the share above must not grow, and while the user scrolls down, the share below must not. To prevent
/// that, the extent on the other side is reported larger than measured until the true ratio catches up.
nonisolated struct ThumbSteadiness {
    /// The content above and below the viewport as reported to the scrollbar, in pixels.
    struct Extent: Equatable {
        var above: Double
        var below: Double
    }

    /// The direction of the user's last scroll.
    enum Direction {
        case up, down
    }

    private var direction: Direction?
    private var displayedExtent: Extent?

    /// Restricts the thumb to moving in `direction` until ``release()``.
    mutating func moved(_ direction: Direction) { self.direction = direction }

    /// Lifts the restriction, after rows were inserted or removed or the viewport jumped.
    mutating func release() {
        direction = nil
        displayedExtent = nil
    }

    /// The extent to report to the scrollbar.
    /// - Parameter page: The viewport's height in pixels.
    mutating func extent(_ real: Extent, page: Double) -> Extent {
        var result = real
        if let displayedExtent, let direction, page > 0 {
            switch direction {
            case .up:
                let minimum = Self.minimum(
                    ahead: real.above, displayedAhead: displayedExtent.above, displayedBehind: displayedExtent.below,
                    page)
                result.below = max(real.below, minimum)
            case .down:
                let minimum = Self.minimum(
                    ahead: real.below, displayedAhead: displayedExtent.below, displayedBehind: displayedExtent.above,
                    page)
                result.above = max(real.above, minimum)
            }
        }
        displayedExtent = result
        return result
    }

    /// The minimum extent behind the viewport, as seen in the scroll direction, that keeps the thumb's center and
    /// both its edges from moving backward.
    private static func minimum(ahead: Double, displayedAhead: Double, displayedBehind: Double, _ page: Double)
        -> Double
    {
        guard displayedAhead > 0 else { return 0 }
        return max(
            ahead * displayedBehind / displayedAhead,
            ahead * (displayedBehind + page) / displayedAhead - page,
            (ahead + page) * displayedBehind / (displayedAhead + page))
    }
}
