import Composer
import Testing

/// SLK-15: editing a stored message preserves the draft.
struct EditModeTests {
    @Test(arguments: [ComposerEvent.commitEdit, .cancelEdit])
    func endingAnEditRestoresTheDraft(ending: ComposerEvent) {
        var script = ComposerScript()
        script.type("draft")
        script.send(.select(.caret(2)))
        script.send(.reply(ReplyTarget(messageID: "r", sender: "Ann")))
        script.send(.attach(Attachment(type: "image/png", name: "a.png", bytes: 1)))
        script.send(.startEdit(id: "m1", WrittenText("old")))
        #expect(script.text == "old")
        #expect(script.state.mode == .edit("m1"))
        #expect(script.state.reply == nil && script.state.attachments.isEmpty)
        script.type("er")
        script.send(ending)
        #expect(script.text == "draft")
        #expect(script.state.mode == .compose)
        #expect(script.state.selection == .caret(2))
        #expect(script.state.reply?.messageID == "r")
        #expect(script.state.attachments.map(\.name) == ["a.png"])
        #expect(script.state.canUndo)
    }

    @Test func commitReturnsTrimmedAndRawText() {
        var script = ComposerScript()
        script.send(.startEdit(id: "m1", WrittenText("old")))
        script.type("er ")
        script.press("Return")
        guard
            case .commitEdit(let id, let message)? = script.effects.first(where: {
                if case .commitEdit = $0 { true } else { false }
            })
        else {
            Issue.record("no commit")
            return
        }
        #expect(id == "m1" && message.text.source == "older" && message.raw.source == "older ")
    }

    /// ⚠ SLK-15: a second edit overwrote the draft with the first edit's text.
    @Test func editingAnotherMessageKeepsTheOriginalDraft() {
        var script = ComposerScript()
        script.type("draft")
        script.send(.startEdit(id: "m1", WrittenText("one")))
        script.send(.startEdit(id: "m2", WrittenText("two")))
        #expect(script.text == "two" && script.state.editing == "m2")
        script.send(.cancelEdit)
        #expect(script.text == "draft" && script.state.editing == nil)
    }

    @Test func startingTheSameEditAgainChangesNothing() {
        var script = ComposerScript()
        script.send(.startEdit(id: "m1", WrittenText("one")))
        script.type("!")
        script.send(.startEdit(id: "m1", WrittenText("one")))
        #expect(script.text == "one!")
    }

    @Test func endingWithoutAnEditIsRejected() {
        var script = ComposerScript()
        script.type("a")
        script.send(.commitEdit)
        #expect(script.effects.contains(.rejected(.notEditing)))
        script.send(.cancelEdit)
        #expect(script.effects.contains(.rejected(.notEditing)))
        #expect(script.text == "a")
    }

    /// SLK-46: Up requests the last message only if the composer is empty.
    @Test func upRequestsTheLastMessageIfTheComposerIsEmpty() {
        var script = ComposerScript()
        script.press("Up")
        #expect(script.effects.contains(.editLastRequested))
        script.type("a")
        script.press("Up")
        #expect(!script.effects.contains(.editLastRequested) && !script.effects.contains(.keyHandled))
    }

    /// SLK-45: each press of Escape closes one layer.
    @Test func escapeClosesOneLayerAtATime() {
        var script = ComposerScript()
        script.send(.focus(true))
        script.load("text", select: TextRange(location: 1, length: 2))
        script.send(.reply(ReplyTarget(messageID: "r", sender: "Ann")))
        script.send(.startEdit(id: "m", WrittenText("old")))
        script.press("Escape")
        #expect(script.state.mode == .compose && script.state.reply != nil)
        script.press("Escape")
        #expect(script.state.reply == nil && script.state.selection.length == 2)
        script.press("Escape")
        #expect(script.state.selection == .caret(3))
        script.press("Escape")
        #expect(script.effects.contains(.focusRequested(false)))
    }

    /// Undo restores an unfinished edit after another edit replaced it, whether that one was saved or canceled.
    @Test(arguments: [nil, ComposerEvent.commitEdit, .cancelEdit])
    func undoReturnsToAnUnfinishedEdit(ending: ComposerEvent?) {
        var script = ComposerScript()
        script.type("draft")
        script.send(.startEdit(id: "m1", WrittenText("one", mentioning: [Mention(.member("u"), text: "one")])))
        script.type(" more")
        script.send(.startEdit(id: "m2", WrittenText("two"), mayBeEmpty: true))
        #expect(script.effects.contains(.editSuspended(id: "m1")) && script.text == "two" && script.state.canUndo)
        if let ending {
            script.send(ending)
            #expect(script.text == "draft" && script.effects.contains(.editSuspended(id: "m1")))
        } else {
            script.type("!")
            script.send(.undo)
            #expect(script.text == "two")
        }
        script.send(.undo)
        #expect(script.text == "one more" && script.state.editing == "m1")
        #expect(script.engine.document.mentions.count == 1)
        script.send(.redo)
        #expect(script.text == (ending == nil ? "two" : "draft"))
        script.send(.undo)
        script.send(.cancelEdit)
        #expect(script.text == "draft" && script.state.editing == nil)
    }

    @Test func undoReturnsToAnEditInterruptedByAReply() {
        var script = ComposerScript()
        script.type("draft")
        script.send(.startEdit(id: "m1", WrittenText("one")))
        script.type(" more")
        script.send(.reply(ReplyTarget(messageID: "r", sender: "Ann")))
        #expect(script.text == "draft" && script.state.reply?.messageID == "r")
        script.send(.undo)
        #expect(script.text == "one more" && script.state.editing == "m1" && script.state.reply == nil)
        script.send(.commitEdit)
        #expect(script.text == "draft" && script.state.reply?.messageID == "r")
    }

    /// ⚠ It was lost, as it has no undo steps.
    @Test(
        "SLK-15: undo returns to an edit that could not be saved, as to a half-done one",
        arguments: [
            ComposerEvent.startEdit(id: "m2", WrittenText("two")),
            .reply(ReplyTarget(messageID: "r", sender: "Ann")),
        ])
    func undoReturnsToAFailedEdit(interruption: ComposerEvent) {
        var script = ComposerScript()
        script.type("draft")
        script.send(.startEdit(id: "m1", WrittenText("one")))
        script.type(" more")
        script.send(.commitEdit)
        script.fail(script.committed)
        #expect(script.text == "one more" && script.state.editing == "m1" && !script.state.canUndo)
        script.send(interruption)
        #expect(script.effects.contains(.editSuspended(id: "m1")) && script.state.editing != "m1")
        #expect(script.engine.makeDraft().suspendedEdits?.map(\.id) == ["m1"])
        script.send(.undo)
        #expect(script.text == "one more" && script.state.editing == "m1")
        script.send(.cancelEdit)
        #expect(script.text == "draft" && script.state.editing == nil)
    }

    @Test("SLK-15: a reply during another edit loses no edit that failed meanwhile", arguments: [false, true])
    func replyLeavesTheWayToAFailedEdit(isHalfDone: Bool) {
        var script = ComposerScript()
        script.type("draft")
        script.send(.startEdit(id: "m1", WrittenText("one")))
        script.type(" more")
        script.send(.commitEdit)
        let edits = script.committed
        script.send(.startEdit(id: "m2", WrittenText("two")))
        if isHalfDone { script.type("!") }
        script.fail(edits)
        #expect(script.state.editing == "m2")
        script.send(.reply(ReplyTarget(messageID: "r", sender: "Ann")))
        #expect(script.text == "draft" && script.state.reply?.messageID == "r")
        script.send(.undo)
        #expect(script.text == "one more" && script.state.editing == "m1")
        guard isHalfDone else { return }
        script.send(.undo)
        #expect(script.text == "two!" && script.state.editing == "m2")
    }

    @Test func unchangedEditIsNotSuspended() {
        var script = ComposerScript()
        script.send(.startEdit(id: "m1", WrittenText("one")))
        script.send(.startEdit(id: "m2", WrittenText("two")))
        #expect(!script.state.canUndo && !script.effects.contains(.editSuspended(id: "m1")))
        script.send(.reply(ReplyTarget(messageID: "r", sender: "Ann")))
        #expect(!script.state.canUndo && script.state.editing == nil && script.state.reply != nil)
    }

    /// SLK-34: neither the selection nor an edit changes.
    @Test func textIsAppendedOnALineOfItsOwn() {
        var script = ComposerScript()
        script.send(.appendToMessage("one"))
        #expect(script.text == "one" && script.state.selection == .caret(3))
        script.send(.select(TextRange(location: 0, length: 3)))
        script.send(.appendToMessage("two\n"))
        script.send(.appendToMessage("three"))
        #expect(script.text == "one\ntwo\nthree" && script.state.selection == TextRange(location: 0, length: 3))
        script.send(.undo)
        #expect(script.text == "one\ntwo\n")
    }

    @Test func textAppendedDuringAnEditJoinsTheDraft() {
        var script = ComposerScript()
        script.type("draft")
        script.send(.startEdit(id: "m1", WrittenText("old")))
        script.type("!")
        script.send(.appendToMessage("two"))
        #expect(script.text == "old!" && script.state.editing == "m1")
        #expect(script.engine.makeDraft().stash?.written == WrittenText("draft\ntwo"))
        script.send(.cancelEdit)
        #expect(script.text == "draft\ntwo" && script.state.selection == .caret(5))
        script.send(.undo)
        #expect(script.text == "draft")
    }

    /// An edit restored from a draft has no undo history, but may still differ from the stored message.
    @Test func restoredEditIsSuspendedWithoutUndoSteps() throws {
        var first = ComposerScript()
        first.send(.startEdit(id: "m1", WrittenText("one")))
        first.type(" more")
        let draft = first.engine.makeDraft()
        var script = ComposerScript()
        script.change { _ = $0.restore(draft) }
        script.send(.startEdit(id: "m2", WrittenText("two")))
        script.send(.undo)
        #expect(script.text == "one more" && script.state.editing == "m1")
    }

    @Test func editsOfDeletedMessagesAreDropped() {
        var script = ComposerScript()
        for (id, text) in [("m1", "one"), ("m2", "two"), ("m3", "three")] {
            script.send(.startEdit(id: id, WrittenText(text)))
            script.type("!")
        }
        script.send(.messageDeleted(id: "m2"))
        #expect(script.text == "three!")
        while script.state.canUndo, script.state.editing == "m3" { script.send(.undo) }
        #expect(script.state.editing == "m1" && script.text == "one!")
        script.send(.messageDeleted(id: "m1"))
        #expect(script.state.editing == nil && script.text.isEmpty)
    }

    /// A message with files may lose its text.
    @Test(arguments: [false, true])
    func captionCanBeEmptied(mayBeEmpty: Bool) {
        var script = ComposerScript()
        script.send(.startEdit(id: "m1", WrittenText("caption"), mayBeEmpty: mayBeEmpty))
        script.send(.clear)
        #expect(script.state.canSave == mayBeEmpty)
        script.send(.commitEdit)
        #expect(script.effects.contains(.observed(.editCommitted)) == mayBeEmpty)
    }

    /// Editing a plain-text message does not turn it into Markdown.
    @Test func editedPlainTextStaysPlain() {
        var script = ComposerScript()
        script.type("draft")
        script.send(.startEdit(id: "m1", WrittenText("*one*", syntax: .plain)))
        script.type("!")
        script.send(.select(TextRange(location: 0, length: 5)))
        script.send(.format("Bold"))
        #expect(script.text == "*one*!" && script.effects.contains(.rejected(.format("Bold"))))
        script.send(.commitEdit)
        let commit = script.effects.lazy.compactMap {
            if case .commitEdit(_, let message) = $0 { message.text } else { nil }
        }
        #expect(commit.first == WrittenText("*one*!", syntax: .plain))
        #expect(script.engine.document.syntax == .markdown)
    }
}
