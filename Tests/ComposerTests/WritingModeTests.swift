import Testing

@testable import Composer

/// What is being written (a new message, a reply or an edit), and what is set aside meanwhile.
struct WritingModeTests {
    private static func content(_ text: String) -> EditedText.Content {
        EditedText.Content(
            document: ComposerDocument(text), selection: .caret(0), history: UndoHistory(depth: 10))
    }

    private static func edit(_ id: String, mayBeEmpty: Bool = false) -> SuspendedEdit {
        SuspendedEdit(id: id, text: content("sent"), mayBeEmpty: mayBeEmpty)
    }

    @Test("The new message and its reply are set aside until the last edit ends")
    func newMessageWaitsForTheLastEdit() {
        var mode = WritingMode()
        let reply = ReplyTarget(messageID: "r", sender: "Ann", preview: .gone)
        #expect([mode.setReply(reply), mode.setReply(reply)] == [true, false])
        mode.begin(Self.edit("a", mayBeEmpty: true), settingAside: Self.content("new"))
        #expect(mode.mode == .edit("a") && mode.reply == nil && mode.mayBeEmpty)
        mode.begin(Self.edit("b"), settingAside: Self.content("not this"))
        #expect(!mode.mayBeEmpty)
        #expect(mode.end()?.document.text == "new")
        #expect(mode.mode == .compose && mode.reply == reply && mode.stash == nil)
        #expect(mode.end() == nil)
    }

    @Test("An edit is suspended only if it has undo steps")
    func onlyEditsWithUndoStepsAreSuspended() {
        var mode = WritingMode()
        #expect(mode.suspendedEdit(of: Self.content("new")) == nil)
        mode.begin(Self.edit("a"), settingAside: Self.content("new"))
        #expect(mode.halfDoneEdit(of: Self.content("sent")) == nil)
        var text = EditedText(undoDepth: 10)
        _ = text.replace(TextEdit(range: .caret(0), replacement: "x"), origin: .typed, at: .zero)
        #expect(mode.halfDoneEdit(of: text.content)?.id == "a")
    }

    @Test("A reply's preview is updated wherever the reply is, and only there")
    func previewUpdatesOnlyItsReply() {
        var mode = WritingMode()
        _ = mode.setReply(ReplyTarget(messageID: "r", sender: "Ann", preview: .gone))
        mode.begin(Self.edit("a"), settingAside: Self.content(""))
        mode.setReplyPreview("other", .text(WrittenText("no")))
        mode.setReplyPreview("r", .text(WrittenText("yes")))
        _ = mode.end()
        #expect(mode.reply?.preview == .text(WrittenText("yes")))
    }
}
