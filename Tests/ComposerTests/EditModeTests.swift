import Composer
import Testing

/// SLK-15: editing a stored message keeps what was being written.
struct EditModeTests {
    @Test(arguments: [ComposerEvent.commitEdit, .cancelEdit])
    func bothWaysOutRestoreTheDraft(ending: ComposerEvent) {
        var script = ComposerScript()
        script.type("draft")
        script.send(.select(.caret(2)))
        script.send(.reply(ReplyTarget(messageID: "r", sender: "Ann")))
        script.send(.attach(Attachment(type: "image/png", name: "a.png", bytes: 1)))
        script.send(.beginEdit(id: "m1", ComposerContent(text: "old")))
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

    @Test func commitHandsTheTextOver() {
        var script = ComposerScript()
        script.send(.beginEdit(id: "m1", ComposerContent(text: "old")))
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
        #expect(id == "m1" && message.text == "older" && message.rawText == "older ")
    }

    /// ⚠ SLK-15: the first draft was overwritten by the first edit's text.
    @Test func editingAnotherMessageMeanwhileKeepsTheFirstDraft() {
        var script = ComposerScript()
        script.type("draft")
        script.send(.beginEdit(id: "m1", ComposerContent(text: "one")))
        script.send(.beginEdit(id: "m2", ComposerContent(text: "two")))
        #expect(script.text == "two" && script.state.editing == "m2")
        script.send(.cancelEdit)
        #expect(script.text == "draft" && script.state.editing == nil)
    }

    @Test func beginningTheSameEditAgainChangesNothing() {
        var script = ComposerScript()
        script.send(.beginEdit(id: "m1", ComposerContent(text: "one")))
        script.type("!")
        script.send(.beginEdit(id: "m1", ComposerContent(text: "one")))
        #expect(script.text == "one!")
    }

    @Test func endingWithoutAnEditIsRefused() {
        var script = ComposerScript()
        script.type("a")
        script.send(.commitEdit)
        #expect(script.effects.contains(.refused(.notEditing)))
        script.send(.cancelEdit)
        #expect(script.effects.contains(.refused(.notEditing)))
        #expect(script.text == "a")
    }

    /// SLK-46: Up asks only where there is nothing to move in.
    @Test func upInAnEmptyComposerAsksForTheLastMessage() {
        var script = ComposerScript()
        script.press("Up")
        #expect(script.effects.contains(.editLastRequested))
        script.type("a")
        script.press("Up")
        #expect(!script.effects.contains(.editLastRequested) && !script.effects.contains(.keyHandled))
    }

    /// SLK-45: one layer a press.
    @Test func escapeClosesOneLayerAPress() {
        var script = ComposerScript()
        script.send(.focus(true))
        script.load("text", select: TextRange(location: 1, length: 2))
        script.send(.reply(ReplyTarget(messageID: "r", sender: "Ann")))
        script.send(.beginEdit(id: "m", ComposerContent(text: "old")))
        script.press("Escape")
        #expect(script.state.mode == .compose && script.state.reply != nil)
        script.press("Escape")
        #expect(script.state.reply == nil && script.state.selection.length == 2)
        script.press("Escape")
        #expect(script.state.selection == .caret(3))
        script.press("Escape")
        #expect(script.effects.contains(.focusRequested(false)))
    }
}
