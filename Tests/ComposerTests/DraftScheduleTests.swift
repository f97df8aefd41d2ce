import Composer
import Testing

/// SLK-39: when a draft is saved.
struct DraftScheduleTests {
    private static let delay = ComposerConfiguration().draftDelay

    private func isDue(_ effects: [ComposerEffect]) -> Bool { effects.contains(.draftChanged) }

    @Test func draftIsDueAfterTheDelay() {
        var engine = ComposerEngine()
        #expect(!isDue(engine.handle(.insert("a", origin: .typed), at: .zero)))
        #expect(!isDue(engine.advance(to: Self.delay - .milliseconds(1))))
        #expect(isDue(engine.advance(to: Self.delay)))
        #expect(!isDue(engine.advance(to: Self.delay * 10)))
    }

    /// While the user types without pause, the draft is never older than the delay, and not every key press saves it.
    @Test(arguments: [10, 40, 90, 250, 499])
    func continuousTypingDoesNotPostponeTheDraft(millisecondsAKey pace: Int) {
        var engine = ComposerEngine()
        var (firstUnwritten, writes, presses): (Duration?, Int, Int) = (nil, 0, 0)
        for millisecond in stride(from: 0, through: 20_000, by: pace) {
            let now = Duration.milliseconds(millisecond)
            // If a timer and a key press coincide, the timer's effects come first.
            if let deadline = engine.nextDeadline, deadline <= now, isDue(engine.advance(to: deadline)) {
                firstUnwritten = nil
                writes += 1
            }
            if let firstUnwritten { #expect(now - firstUnwritten < Self.delay) }
            #expect(!isDue(engine.handle(.insert("c", origin: .typed), at: now)))
            firstUnwritten = firstUnwritten ?? now
            presses += 1
        }
        #expect(writes <= 20_000 / 500 + 1)
        #expect(writes >= 20_000 / (500 + pace) - 1)
        #expect(presses > writes)
    }

    @Test func movingTheCaretMakesTheDraftDue() {
        var engine = ComposerEngine()
        _ = engine.handle(.insert("text", origin: .typed), at: .zero)
        _ = engine.advance(to: .seconds(1))
        _ = engine.handle(.select(.caret(2)), at: .seconds(2))
        #expect(isDue(engine.advance(to: .seconds(2) + Self.delay)))
    }

    @Test func blurAndSendMakeTheDraftDueImmediately() {
        var engine = ComposerEngine()
        _ = engine.handle(.focus(true), at: .zero)
        _ = engine.handle(.insert("d", origin: .typed), at: .milliseconds(10))
        #expect(isDue(engine.handle(.focus(false), at: .milliseconds(20))))
        #expect(isDue(engine.handle(.send, at: .milliseconds(30))))
        #expect(!isDue(engine.advance(to: .seconds(9))))
        #expect(!isDue(engine.handle(.focus(false), at: .seconds(9))))
    }

    @Test func zeroDelayMakesEachChangeDue() {
        var configuration = ComposerConfiguration()
        configuration.draftDelay = .zero
        var engine = ComposerEngine(configuration: configuration)
        #expect(isDue(engine.handle(.insert("a", origin: .typed), at: .zero)))
        #expect(engine.handle(.select(.caret(1)), at: .zero).contains(.draftChanged) == false)
        #expect(isDue(engine.handle(.select(.caret(0)), at: .zero)))
    }
}
