import Composer
import Testing

/// HKW-31: only committed text reaches the document.
struct InputMethodTests {
    /// Hangul: one key press commits a syllable and starts the next.
    @Test func hangulCommitsAndStartsANewSyllable() {
        var script = ComposerScript()
        for (commit, preedit) in [("", "ㅎ"), ("", "하"), ("", "한"), ("한", "ㄱ"), ("", "그"), ("", "글")] {
            if !commit.isEmpty { script.send(.commit(commit)) }
            script.send(.preedit(preedit))
            #expect(!script.text.contains(preedit))
        }
        #expect(script.text == "한" && script.state.preedit == "글")
        script.send(.commit("글"))
        #expect(script.text == "한글" && script.state.preedit == "")
    }

    /// Japanese: kana, conversion, candidates, and a single commit that replaces the selection.
    @Test func japaneseCommitReplacesTheSelectionOnce() {
        var script = ComposerScript()
        script.load("私は学生", select: TextRange(location: 2, length: 2))
        for preedit in ["s", "せ", "せn", "せんせい", "先生"] { script.send(.preedit(preedit)) }
        #expect(script.text == "私は学生" && script.state.selection.length == 2)
        script.send(.commit("先生"))
        #expect(script.text == "私は先生")
        script.send(.undo)
        #expect(script.text == "私は学生" && script.state.selection.length == 2)
    }

    /// Chinese: Return selects a candidate instead of sending.
    @Test func keysBelongToTheInputMethodDuringPreedit() {
        var script = ComposerScript()
        script.type("a")
        script.send(.preedit("ni hao"))
        for chord in ["Return", "Ctrl+Return", "Escape", "Up", "Ctrl+Z"] {
            script.press(chord)
            #expect(script.effects.isEmpty)
        }
        script.send(.commit("你好"))
        script.press("Return")
        #expect(script.sent.map(\.text.source) == ["a你好"])
    }

    @Test func canceledPreeditChangesNothing() {
        var script = ComposerScript()
        script.load("abc", select: TextRange(location: 0, length: 3))
        script.send(.preedit("x"))
        #expect(!script.state.showsPlaceholder)
        script.send(.preedit(""))
        #expect(script.text == "abc" && script.state.selection.length == 3)
    }

    /// SLK-63: the composed word is committed and sent once.
    @Test func sendCommitsThePreeditFirst() {
        var script = ComposerScript()
        script.type("a ")
        script.send(.preedit("word"))
        script.send(.send)
        #expect(script.sent.map(\.text.source) == ["a word"])
        #expect(script.state.preedit == "" && script.text == "")
    }

    /// HKW-31: moving the caret commits the preedit at its original position.
    @Test func movingTheCaretCommitsThePreedit() {
        var script = ComposerScript()
        script.load("ab")
        script.send(.preedit("字"))
        script.send(.select(.caret(0)))
        #expect(script.text == "ab字" && script.state.selection == .caret(0))
    }

    /// ⚠ The offsets were those of the text before the commit.
    @Test("HKW-31: what is selected while composing is behind what that commits")
    func selectionMovesWithTheCommittedText() {
        let (after, within) = (TextRange.caret(1), TextRange(location: 1, length: 2))
        // What is selected while composing, what is selected then, and what that becomes.
        let cases: [(TextRange, TextRange, TextRange)] = [
            (after, .caret(3), .caret(6)), (after, .caret(4), .caret(7)), (after, .caret(0), .caret(0)),
            (after, TextRange(start: 0, end: 3), TextRange(start: 0, end: 6)),
            (after, TextRange(start: 1, end: 3), TextRange(start: 1, end: 6)),
            (after, TextRange(start: 0, end: 1), TextRange(start: 0, end: 1)),
            (within, .caret(4), .caret(5)), (within, .caret(3), .caret(4)), (within, .caret(1), .caret(1)),
            (within, TextRange(start: 0, end: 4), TextRange(start: 0, end: 5)),
        ]
        for (composing, selected, expected) in cases {
            var script = ComposerScript()
            script.load("abcd", select: composing)
            script.send(.preedit("漢字語"))
            script.send(.select(selected))
            #expect(script.text == (composing.isEmpty ? "a漢字語bcd" : "a漢字語d") && script.state.preedit == "")
            #expect(script.state.selection == expected, "\(selected) while composing at \(composing)")
        }
    }

    @Test("HKW-31, HKW-32: what is selected while composing stays if the commit is rejected")
    func selectionStaysIfTheCommitIsRejected() {
        var script = ComposerScript()
        script.load("abcd", select: .caret(1))
        script.add(interceptor: Rejection(rejected: "字"))
        script.send(.preedit("字"))
        script.send(.select(.caret(3)))
        #expect(script.text == "abcd" && script.state.selection == .caret(3))
    }

    /// A composer in which an edit and a message fail while the input method composes.
    private static func failedWhileComposing() -> ComposerScript {
        var script = ComposerScript()
        script.type("sent")
        script.send(.send)
        script.send(.startEdit(id: "m", WrittenText("old")))
        script.type("er")
        script.send(.commitEdit)
        let edits = script.committed
        script.send(.preedit("ㅎ"))
        script.fail(edits)
        script.send(.sendFailed("send-1"))
        #expect(script.text.isEmpty && script.state.editing == nil && script.state.preedit == "ㅎ")
        return script
    }

    @Test("SLK-11, SLK-15: what fails during a preedit comes back a moment after that has ended")
    func failuresWaitForTheEndOfThePreedit() {
        var script = Self.failedWhileComposing()
        script.send(.preedit(""))
        #expect(script.state.editing == nil, "the input method may commit its text only now")
        script.wait(.seconds(1))
        #expect(script.text == "older" && script.state.editing == "m")
        script.send(.cancelEdit)
        #expect(script.text == "sent")
        #expect(script.engine.state.failedCount == 0)
    }

    @Test("SLK-11, SLK-15: what fails during a preedit waits while its text is written on")
    func failuresWaitForTheCommittedText() {
        var script = Self.failedWhileComposing()
        script.send(.preedit(""))
        script.send(.commit("한"))
        script.wait(.seconds(1))
        script.send(.restoreFailedMessage)
        #expect(script.text == "한" && script.state.editing == nil)
        script.send(.send)
        script.send(.restoreFailedMessage)
        #expect(script.text == "older" && script.state.editing == "m")
    }

    @Test("What is composed behind a prefix goes on with the query, which the accepted entity replaces.")
    func acceptedEntityReplacesThePreedit() {
        var script = ComposerScript("hi |")
        script.type("@")
        script.wait()
        script.respond(with: ["Ann"])
        script.send(.preedit("あ"))
        script.send(.acceptCompletion(0))
        #expect(script.text == "hi @Ann " && script.state.preedit == "")
        #expect(script.engine.document.mentions.count == 1)
        script.send(.undo)
        #expect(script.text == "hi @")
    }

    @Test("An entity of the host's own list goes behind what is being composed.")
    func entityOfTheHostFollowsThePreedit() {
        var script = ComposerScript("hi |")
        script.send(.preedit("字"))
        script.send(.acceptEntity(CompletionEntity(id: "u", name: "Ann")))
        #expect(script.text == "hi 字Ann " && script.state.preedit == "")
    }

    /// HKW-32: a rejected commit restores the text and the caret.
    @Test func rejectedCommitRestoresTextAndCaret() {
        var script = ComposerScript()
        script.load("abc", select: .caret(1))
        script.add(interceptor: Rejection(rejected: "字"))
        script.send(.preedit("字"))
        script.send(.commit("字"))
        #expect(script.text == "abc" && script.state.selection == .caret(1) && script.state.preedit == "")
        script.send(.commit("好"))
        #expect(script.text == "a好bc")
    }

    /// HKW-28: dictation is a single insertion and a single undo step.
    @Test func dictationIsOneUndoStep() {
        var script = ComposerScript()
        script.send(.insert("several words at once", origin: .dictation))
        script.send(.undo)
        #expect(script.text == "")
    }
}

/// Rejects changes that insert this text.
struct Rejection: ComposerInterceptor {
    let rejected: String
    var name: String { "rejection of \(rejected)" }

    func intercept(_ change: TextEdit, origin: EditOrigin, in document: ComposerDocument) -> Interception {
        change.replacement == rejected ? .deny : .allow
    }
}
