import Composer
import Testing

/// SLK-43: detecting a fast shake of the pointer.
struct ShakeTests {
    /// Pointer positions, milliseconds between them, whether that is a shake.
    static let ways: [([Double], Int, Bool)] = [
        ([0, 60, 0, 60, 0, 60], 100, true), ([0, 60, 0, 60, 0], 100, false), ([0, 60, 0, 60, 0, 60], 250, false),
        // Jitter neither counts as a reversal nor cancels one.
        ([0, 5, 0, 5, 0, 5, 0, 5], 50, false), ([0, 30, 60, 58, 30, 0, 1, 40, 0, 60], 60, true),
        ([0, 60, 120, 180, 240, 300], 50, false), ([0, 60, .nan, 0, 60, .infinity, 0, 60], 90, true), ([], 1, false),
    ]

    @Test(arguments: ways)
    func detectsShakes(places: [Double], milliseconds: Int, isShake: Bool) {
        var detector = ShakeDetector()
        let found = places.enumerated().map { step, place in
            detector.moved(to: place, at: .milliseconds(step * milliseconds))
        }
        #expect(found.contains(true) == isShake)
        #expect(found.count { $0 } <= 1, "the next shake begins afresh")
    }

    @Test func resetForgetsTheMovement() {
        var detector = ShakeDetector()
        for place in [0.0, 60, 0, 60, 0] { _ = detector.moved(to: place, at: .zero) }
        detector.reset()
        let found = [60.0, 0].map { detector.moved(to: $0, at: .zero) }
        #expect(found == [false, false])
    }
}
