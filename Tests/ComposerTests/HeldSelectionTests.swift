import Composer
import Testing

/// SLK-61, HKW-20: a pointer selection takes effect when the button is released.
struct HeldSelectionTests {
    private func engine(_ text: String) -> ComposerEngine {
        var engine = ComposerEngine()
        _ = engine.handle(.focus(true), at: .zero)
        _ = engine.handle(.load(WrittenText(text)), at: .zero)
        return engine
    }

    private func selections(_ effects: [ComposerEffect]) -> Int {
        effects.count { if case .observed(.selectionChanged) = $0 { true } else { false } }
    }

    @Test func heldSelectionIsReportedOnceAtItsEnd() {
        var engine = engine("one two three")
        _ = engine.handle(.select(.caret(0)), at: .zero)
        var reported = selections(engine.handle(.holdSelection(true), at: .zero))
        for end in 1...7 {
            reported += selections(engine.handle(.select(TextRange(location: 0, length: end)), at: .zero))
        }
        #expect(reported == 0)
        #expect(engine.selection == TextRange(location: 0, length: 7), "the selection itself is there at once")
        #expect(selections(engine.handle(.holdSelection(false), at: .zero)) == 1)
        #expect(selections(engine.handle(.holdSelection(false), at: .zero)) == 0)
    }

    @Test func heldSelectionThatReturnsIsNotReported() {
        var engine = engine("one two")
        _ = engine.handle(.select(.caret(3)), at: .zero)
        _ = engine.handle(.holdSelection(true), at: .zero)
        _ = engine.handle(.select(TextRange(location: 3, length: 2)), at: .zero)
        _ = engine.handle(.select(.caret(3)), at: .zero)
        #expect(selections(engine.handle(.holdSelection(false), at: .zero)) == 0)
    }

    @Test func completionUpdatesOnlyAtTheEndOfADrag() {
        var engine = engine("@jo and @an")
        _ = engine.handle(.select(.caret(7)), at: .zero)
        _ = engine.handle(.holdSelection(true), at: .zero)
        let passing = engine.handle(.select(.caret(3)), at: .zero)
        #expect(engine.completion == nil, "the caret passes a word that completes")
        #expect(!passing.contains { if case .completion = $0 { true } else { false } }, "and nobody is asked")
        _ = engine.handle(.select(.caret(11)), at: .zero)
        _ = engine.handle(.holdSelection(false), at: .zero)
        #expect(engine.completion?.query == "an")
    }

    @Test func typingDuringADragOpensCompletion() {
        var engine = engine("a ")
        _ = engine.handle(.select(.caret(2)), at: .zero)
        _ = engine.handle(.holdSelection(true), at: .zero)
        _ = engine.handle(.insert("@", origin: .typed), at: .zero)
        #expect(engine.completion?.query == "")
    }
}
