import Composer
import Testing

struct SendingTests {
    /// SLK-9, MIB-9: events, whether the message can be sent.
    static let readiness: [([ComposerEvent], Bool)] = [
        ([], false),
        ([.insert("a", origin: .typed)], true),
        ([.insert(" \n\t", origin: .paste)], false),
        ([.attach(Attachment(type: "image/png", name: "a", bytes: 1))], true),
        ([.attach(Attachment(type: "image/png", name: "a", bytes: 1, upload: .running(0.5)))], false),
        (
            [.insert("a", origin: .typed), .attach(Attachment(type: "a/b", name: "a", bytes: 1, upload: .failed))],
            false
        ),
        ([.insert("a", origin: .typed), .connected(false)], false),
        ([.insert("a", origin: .typed), .hide(true)], false),
        ([.startEdit(id: "m", WrittenText("a"))], false),
        ([.attach(Attachment(type: "a/b", name: "a", bytes: 1)), .insert("a", origin: .typed), .detach(0)], true),
    ]

    @Test(arguments: readiness)
    func canSendRequiresContent(events: [ComposerEvent], canSend: Bool) {
        var script = ComposerScript()
        for event in events { script.send(event) }
        #expect(script.state.canSend == canSend)
    }

    @Test("SLK-9: a failed attachment is named before one on its way")
    func failedAttachmentIsNamedFirst() {
        var script = ComposerScript()
        script.send(.attach(Composer.Attachment(type: "a/b", name: "a", bytes: 1, source: "a", upload: .running(0.5))))
        script.send(.send)
        #expect(script.effects.contains(.rejected(.uploading)))
        script.send(.attach(Composer.Attachment(type: "a/b", name: "b", bytes: 1, source: "b", upload: .failed)))
        script.send(.send)
        #expect(script.effects.contains(.rejected(.uploadFailed)) && script.sent.isEmpty)
    }

    @Test func messageIsTrimmedAndSentOnce() {
        var script = ComposerScript()
        let mention = Mention(.custom("u1"), text: "Ann")
        script.send(
            .load(WrittenText("  hi Ann \n", mentioning: [mention])))
        script.send(.reply(ReplyTarget(messageID: "r", sender: "Bo")))
        script.send(.send)
        let message = script.sent.first
        #expect(message?.text.source == "hi Ann" && message?.raw.source == "  hi Ann \n" && message?.replyTo == "r")
        #expect(message?.mentions.map(\.range) == [TextRange(location: 3, length: 3)])
        #expect(script.text == "" && script.state.reply == nil && script.state.isSending)
        script.send(.send)
        #expect(script.sent.isEmpty)
    }

    /// MIB leaves clearing to the host; the button still sends only once until the host responds.
    @Test func retainedTextIsSentOnceUntilAccepted() {
        var configuration = ComposerConfiguration()
        configuration.clearsOnSend = false
        var script = ComposerScript(configuration)
        script.type("a")
        script.send(.send)
        #expect(script.sent.count == 1 && script.text == "a" && !script.state.canSend)
        script.send(.send)
        #expect(script.sent.isEmpty && script.effects.contains(.rejected(.alreadySending)))
        script.type("b")
        #expect(script.state.canSend)
        script.send(.deleteBackward(byWord: false))
        script.send(.sendAccepted("send-1"))
        #expect(script.state.canSend)
    }

    /// SLK-11: a failed message is restored with its caret, unless the user is writing something else.
    @Test func failedMessageIsRestored() {
        var script = ComposerScript()
        script.load("hello", select: .caret(2))
        script.send(.attach(Attachment(type: "image/png", name: "a", bytes: 1)))
        script.send(.send)
        script.send(.sendFailed("send-1"))
        #expect(script.text == "hello" && script.state.selection == .caret(2))
        #expect(script.state.attachments.count == 1)
    }

    @Test func failedMessageWaitsWhileAnotherIsWritten() {
        var script = ComposerScript()
        script.type("one")
        script.send(.send)
        script.type("two")
        script.send(.sendFailed("send-1"))
        #expect(script.text == "two" && script.state.failedCount == 1)
        script.send(.clear)
        script.send(.restoreFailedMessage)
        #expect(script.text == "one" && script.state.failedCount == 0)
        script.send(.sendFailed("send-1"))
        #expect(script.text == "one")
    }

    @Test func messageFailingDuringAnEditIsRestoredAfterIt() {
        var script = ComposerScript()
        script.type("one")
        script.send(.send)
        script.send(.startEdit(id: "m", WrittenText("old")))
        script.send(.sendFailed("send-1"))
        #expect(script.text == "old")
        script.send(.cancelEdit)
        #expect(script.text == "one")
    }

    @Test func replyToADeletedMessageIsSentWithoutReply() {
        var script = ComposerScript()
        script.send(.reply(ReplyTarget(messageID: "r", sender: "Bo")))
        script.send(.replyPreview(id: "other", .gone))
        #expect(script.state.reply?.preview == .loading)
        script.send(.replyPreview(id: "r", .gone))
        script.type("a")
        script.send(.send)
        #expect(script.sent.first?.replyTo == nil)
    }

    /// MIB-20: text and attachments are parts; empty text is not.
    @Test func messageConsistsOfParts() {
        var script = ComposerScript()
        let file = Attachment(type: "image/png", name: "a", bytes: 1)
        script.send(.attach(file))
        script.send(.send)
        #expect(script.sent.first?.parts == [.attachment(file)])
    }

    /// Undo restores a sent message with its text, marks, files, and reply.
    @Test(arguments: [true, false])
    func undoRestoresASentMessage(withText: Bool) {
        var script = ComposerScript()
        let file = Attachment(type: "image/png", name: "a", bytes: 1, source: "x:1")
        let other = Attachment(type: "image/png", name: "b", bytes: 1, source: "x:2")
        let reply = ReplyTarget(messageID: "r", sender: "Bo", senderID: "@bo:x")
        if withText { script.send(.load(WrittenText("hi @Ann", mentioning: [Mention(.member("u"), text: "@Ann")]))) }
        script.send(.attach(file))
        script.send(.reply(reply))
        script.send(.send)
        script.send(.sendAccepted("send-1"))
        #expect(script.text.isEmpty && script.state.attachments.isEmpty && script.state.reply == nil)
        script.send(.attach(other))
        script.send(.undo)
        #expect(script.engine.document.mentions.count == (withText ? 1 : 0))
        #expect(script.state.attachments == [file, other] && script.state.reply == reply)
        script.send(.redo)
        #expect(script.text.isEmpty && script.state.attachments == [other] && script.state.reply == nil)
    }

    /// A mention's target is the member's ID, whatever its text; surrounding white space is not sent.
    @Test func mentionKeepsItsTarget() {
        var script = ComposerScript()
        script.type("@an")
        script.wait()
        let ann = CompletionEntity(id: "@ann2:x", name: "Ann *Lee* ", target: .member("@ann2:x"), short: "Ann")
        script.send(.completionResults(query: script.completion?.openQuery ?? "", [ann], isFinal: true))
        script.send(.acceptCompletion(0))
        script.send(.send)
        #expect(script.sent.first?.text.mentions.map(\.target) == [.member("@ann2:x")])
        #expect(script.sent.first?.text.mentions.map(\.text) == ["@Ann *Lee*"])
        script.send(.undo)
        script.send(.deleteBackward(byWord: false))
        script.send(.deleteBackward(byWord: false))
        script.send(.deleteBackward(byWord: false))
        #expect(script.text == "@Ann")
        script.send(.send)
        #expect(script.sent.first?.text.mentions.map(\.target) == [.member("@ann2:x")])
    }

    /// Text parts between images keep their marks.
    @Test func textSegmentsKeepTheirMarks() {
        var script = ComposerScript()
        let picture = Attachment(type: "image/png", name: "a", bytes: 1, source: "x:1")
        script.send(.load(WrittenText("hi @Ann", mentioning: [Mention(.member("a"), text: "@Ann")])))
        script.send(.attach(picture))
        script.send(.placeInText(0))
        script.send(
            .paste([
                .fragment(
                    ClipboardFragment(
                        WrittenText("and @Bo", mentioning: [Mention(.member("b"), text: "@Bo")])))
            ]))
        script.send(.send)
        let parts = script.sent.first?.parts ?? []
        #expect(parts.count == 3)
        let targets = parts.map { part in
            if case .text(let text) = part { text.mentions.map(\.target) } else { [MentionTarget]() }
        }
        #expect(targets == [[.member("a")], [], [.member("b")]])
    }
}
