import Testing
import ToolSupport

@testable import TimelineGtk

@Suite struct ThumbSteadinessTests {
    @Test func thumbNeverMovesAgainstTheUser() {
        var random = SeededGenerator(seed: 7)
        for direction in [ThumbSteadiness.Direction.up, .down] {
            var steadiness = ThumbSteadiness()
            var shown = steadiness.extent(.init(above: 5000, below: 3000), page: 700)
            var real = shown
            for _ in 0..<300 {
                let step = Double.random(in: 0..<120, using: &random)
                // The rows' real heights differ widely from the estimates, on both sides.
                let (up, down) = direction == .up ? (-step, step) : (step, -step)
                real.above = max(1, real.above + up + .random(in: -80..<200, using: &random))
                real.below = max(1, real.below + down + .random(in: -80..<200, using: &random))
                steadiness.moved(direction)
                let next = steadiness.extent(real, page: 700)
                #expect(next.above >= real.above && next.below >= real.below)
                for edge in [0, 700] as [Double] {
                    let before = (shown.above + edge) / (shown.above + shown.below + 700)
                    let after = (next.above + edge) / (next.above + next.below + 700)
                    #expect(direction == .up ? after <= before + 1e-9 : after >= before - 1e-9)
                }
                let (before, after) = (
                    shown.above / (shown.above + shown.below), next.above / (next.above + next.below)
                )
                #expect(direction == .up ? after <= before + 1e-9 : after >= before - 1e-9)
                shown = next
            }
        }
    }

    @Test func extentAheadIsExact() {
        var steadiness = ThumbSteadiness()
        _ = steadiness.extent(.init(above: 100, below: 100), page: 100)
        steadiness.moved(.up)
        #expect(steadiness.extent(.init(above: 90, below: 10), page: 100).above == 90)
    }

    @Test func releasedThumbShowsTheActualExtent() {
        var steadiness = ThumbSteadiness()
        _ = steadiness.extent(.init(above: 100, below: 100), page: 100)
        steadiness.moved(.up)
        steadiness.release()
        #expect(steadiness.extent(.init(above: 500, below: 10), page: 100) == .init(above: 500, below: 10))
    }
}
