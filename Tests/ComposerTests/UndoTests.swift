import Composer
import Testing

/// SLK-33, and undo behavior beyond it.
struct UndoTests {
    @Test func typingIsUndoneByWord() {
        var script = ComposerScript()
        script.type("one two three")
        var texts: [String] = []
        while script.state.canUndo {
            script.send(.undo)
            texts.append(script.text)
        }
        #expect(texts == ["one two ", "one ", ""])
        while script.state.canRedo {
            script.send(.redo)
            texts.append(script.text)
        }
        #expect(texts.suffix(3) == ["one ", "one two ", "one two three"])
        #expect(script.state.selection == .caret(13))
    }

    @Test func deletingIsUndoneByWord() {
        var script = ComposerScript()
        script.load("one two")
        for _ in 0..<7 { script.send(.deleteBackward(byWord: false)) }
        script.send(.undo)
        #expect(script.text == "one")
        script.send(.undo)
        #expect(script.text == "one two")
        #expect(script.state.selection == .caret(7))
    }

    /// Events between two key presses that start a new undo step.
    static let breaks: [[ComposerEvent]] = [
        [.select(.caret(0))],
        [.select(.caret(0)), .select(.caret(1))],
        [.insert("pasted", origin: .paste)],
        [.insert("b", origin: .code)],
        [.undo, .redo],
        [
            .setStyle(.bold, true), .select(TextRange(location: 0, length: 1)), .setStyle(.bold, true),
            .select(.caret(1)),
        ],
    ]

    @Test(arguments: breaks)
    func otherEventsEndAnUndoStep(between: [ComposerEvent]) {
        var script = ComposerScript()
        script.type("a")
        for event in between { script.send(event) }
        let before = script.text
        script.type("c")
        script.send(.undo)
        #expect(script.text == before)
    }

    @Test func pauseOfASecondEndsAnUndoStep() {
        var script = ComposerScript()
        script.type("a")
        script.now = .milliseconds(999)
        script.type("b")
        script.now = .milliseconds(1999)
        script.type("c")
        script.send(.undo)
        #expect(script.text == "ab")
        script.send(.undo)
        #expect(script.text == "")
    }

    /// ⚠ SLK-33: checking whether the view may resign focus cleared the history.
    @Test func historySurvivesFocusSendAndEditing() {
        var script = ComposerScript()
        script.type("draft")
        script.send(.focus(true))
        script.send(.focus(false))
        script.send(.startEdit(id: "m", WrittenText("old")))
        #expect(!script.state.canUndo)
        script.send(.undo)
        #expect(script.text == "old")
        script.type("x")
        script.send(.cancelEdit)
        script.send(.send)
        #expect(script.text == "")
        script.send(.undo)
        #expect(script.text == "draft")
        script.send(.undo)
        #expect(script.text == "")
    }

    @Test func sendingClearsTheHistoryIfConfigured() {
        var script = ComposerScript(.preset(.slack))
        script.type("draft")
        script.send(.send)
        #expect(!script.state.canUndo)
    }

    @Test func oldestStepsAreDropped() {
        var configuration = ComposerConfiguration()
        configuration.undoDepth = 2
        var script = ComposerScript(configuration)
        script.type("a b c")
        for _ in 0..<5 { script.send(.undo) }
        #expect(script.text == "a ")
        #expect(ComposerConfiguration().undoDepth == 1000)
    }

    @Test func undoRestoresSpansAndSelection() {
        var script = ComposerScript()
        let mention = Mention(.custom("u1"), text: "Ann")
        script.send(
            .load(WrittenText("hi Ann", mentioning: [mention]), selection: TextRange(location: 2, length: 3)))
        script.send(.insert("x", origin: .typed))
        #expect(script.text == "hixn" && script.engine.document.mentions.isEmpty)
        script.send(.undo)
        #expect(script.engine.document.mentions.map(\.range) == [TextRange(location: 3, length: 3)])
        #expect(script.state.selection == TextRange(location: 2, length: 3))
    }

    @Test func typingAfterUndoClearsTheRedoSteps() {
        var script = ComposerScript()
        script.type("a b")
        script.send(.undo)
        script.type("c")
        #expect(!script.state.canRedo)
        #expect(script.text == "a c")
    }

    /// ⚠ Undoing a style did not change the text, so it was not redrawn.
    @Test func undoingAStyleUpdatesTheRevision() {
        var script = ComposerScript()
        script.load("word", select: TextRange(location: 0, length: 4))
        script.send(.setStyle(.bold, true))
        for event in [ComposerEvent.undo, .redo] {
            let revision = script.state.revision
            script.send(event)
            #expect(script.state.revision > revision)
        }
    }
}
