/// Keeps a scrollbar's thumb from running against the user's scrolling while heights are being found out.
///
/// Measured heights that differ from their estimates change how much lies above and below. Going up, the part above
/// must not grow relative to the whole, and likewise going down: the side one comes from then counts more than it
/// measures, until the ratio is right by itself.
nonisolated struct ThumbSteadiness {
    /// What the scrollbar is told to lie above and below the viewport, in pixels.
    struct Extent: Equatable {
        var above: Double
        var below: Double
    }

    /// The user's last move.
    enum Direction {
        case up, down
    }

    private var direction: Direction?
    private var displayedExtent: Extent?

    /// The user has moved: the thumb may go that way only, until ``release()``.
    mutating func moved(_ direction: Direction) { self.direction = direction }

    /// The thumb may go anywhere: rows came or went, or one has jumped.
    mutating func release() {
        direction = nil
        displayedExtent = nil
    }

    /// What to tell the scrollbar.
    /// - Parameter page: the viewport's height in pixels.
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

    /// What must lie behind at least so that neither the thumb's middle nor one of its edges goes back on the track.
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
