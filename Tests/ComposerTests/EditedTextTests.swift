import Testing

@testable import Composer

/// The text with its selection, undo steps and styles, in isolation.
struct EditedTextTests {
    private static func text(_ string: String, selecting selection: TextRange? = nil) -> EditedText {
        var text = EditedText(undoDepth: 10)
        _ = text.exchange(ComposerDocument(string), selecting: selection ?? .caret(string.utf16.count))
        return text
    }

    @Test("A replacement returns the removed text, moves the caret after it and can be undone")
    func replacementCanBeUndone() throws {
        var text = Self.text("one two")
        let edit = TextEdit(range: TextRange(location: 0, length: 3), replacement: "three")
        let replaced = text.replace(edit, origin: .typed, at: .zero)
        let event = try #require(replaced)
        #expect(event == TextEvent(range: edit.range, removed: "one", inserted: "three", origin: .typed))
        #expect(text.document.text == "three two" && text.selection == .caret(5))
        let popped = text.history.pop(.undo)
        let step = try #require(popped)
        for event in step.events(.undo) { _ = text.replay(event) }
        _ = text.restore(step.target(.undo))
        #expect(text.document.text == "one two" && text.selection == .caret(7))
    }

    @Test("An empty replacement is no change")
    func emptyReplacementIsNoChange() {
        var text = Self.text("one")
        let revision = text.revision
        #expect(text.replace(TextEdit(range: .caret(1), replacement: ""), origin: .typed, at: .zero) == nil)
        #expect(text.revision == revision && !text.history.canUndo)
    }

    @Test("Styles chosen at the caret apply to the text typed next, until the caret moves")
    func typingStylesApplyToTypedText() {
        var text = Self.text("one")
        #expect(text.setStyle(.bold, true, at: .zero) == false, "nothing looks different yet")
        #expect(text.typingStyles == [.bold])
        _ = text.replace(TextEdit(range: .caret(3), replacement: "!"), origin: .typed, at: .zero)
        #expect(text.document.spans.map(\.range) == [TextRange(location: 3, length: 1)])
        text.select(.caret(0))
        #expect(text.typingStyles.isEmpty)
    }

    @Test("A style over the selection is an undo step only if it changes a span")
    func styleOverSelection() {
        var text = Self.text("one", selecting: TextRange(location: 0, length: 3))
        #expect(text.setStyle(.bold, true, at: .zero) == true)
        #expect(text.setStyle(.bold, true, at: .zero) == false)
        #expect(text.history.undoSteps.count == 1 && text.canClearStyles)
    }

    @Test("A mention is added only over its own text")
    func mentionMustMatchItsText() {
        var text = Self.text("hello Ann")
        let ann = Mention(.member("@ann"), text: "Ann")
        #expect(text.addMention(ann, over: TextRange(location: 6, length: 3), at: .zero) == true)
        #expect(text.addMention(ann, over: TextRange(location: 0, length: 3), at: .zero) == nil)
        #expect(text.document.mentions.map(\.mention) == [ann])
    }

    @Test("A held selection keeps its starting value, once")
    func heldSelectionReturnsItsStart() {
        var text = Self.text("one", selecting: .caret(1))
        text.holdSelection()
        text.select(.caret(2))
        text.holdSelection()
        #expect(text.isSelectionHeld)
        #expect(text.releaseSelection() == .caret(1))
        #expect(text.releaseSelection() == nil)
    }

    @Test("Exchanging the content exchanges the undo history")
    func contentsHaveTheirOwnHistory() {
        var text = Self.text("one")
        _ = text.replace(TextEdit(range: .caret(3), replacement: "!"), origin: .typed, at: .zero)
        let first = text.content
        let other = EditedText.Content(
            document: ComposerDocument("other"), selection: .caret(0), history: UndoHistory(depth: 10))
        #expect(text.exchange(other)?.inserted == "other")
        #expect(!text.history.canUndo)
        _ = text.exchange(first)
        #expect(text.document.text == "one!" && text.history.canUndo)
    }
}
