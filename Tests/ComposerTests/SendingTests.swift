import Composer
import Testing

struct SendingTests {
    /// SLK-9, MIB-9: what stands there, what makes sending possible.
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
        ([.beginEdit(id: "m", ComposerContent(text: "a"))], false),
        ([.attach(Attachment(type: "a/b", name: "a", bytes: 1)), .insert("a", origin: .typed), .detach(0)], true),
    ]

    @Test(arguments: readiness)
    func canSend(events: [ComposerEvent], canSend: Bool) {
        var script = ComposerScript()
        for event in events { script.send(event) }
        #expect(script.state.canSend == canSend)
    }

    @Test func aMessageIsTrimmedAndSentOnce() {
        var script = ComposerScript()
        let mention = Mention(entityID: "u1", text: "Ann")
        script.send(
            .load(
                ComposerContent(
                    text: "  hi Ann \n", mentions: [.init(mention: mention, range: TextRange(location: 5, length: 3))]))
        )
        script.send(.reply(ReplyTarget(messageID: "r", sender: "Bo")))
        script.send(.send)
        let message = script.sent.first
        #expect(message?.text == "hi Ann" && message?.rawText == "  hi Ann \n" && message?.replyTo == "r")
        #expect(message?.mentions.map(\.range) == [TextRange(location: 3, length: 3)])
        #expect(script.text == "" && script.state.reply == nil && script.state.isSending)
        script.send(.send)
        #expect(script.sent.isEmpty)
    }

    /// MIB leaves clearing to the host; the button still sends once.
    @Test func aTextThatStaysIsSentOnceUntilAnswered() {
        var configuration = ComposerConfiguration()
        configuration.clearsOnSend = false
        var script = ComposerScript(configuration)
        script.type("a")
        script.send(.send)
        #expect(script.sent.count == 1 && script.text == "a" && !script.state.canSend)
        script.send(.send)
        #expect(script.sent.isEmpty && script.effects.contains(.refused(.alreadySending)))
        script.type("b")
        #expect(script.state.canSend)
        script.send(.deleteBackward(byWord: false))
        script.send(.sendAccepted("send-1"))
        #expect(script.state.canSend)
    }

    /// SLK-11: a failed message comes back with its caret, if nothing else is being written.
    @Test func aFailedMessageComesBack() {
        var script = ComposerScript()
        script.load("hello", select: .caret(2))
        script.send(.attach(Attachment(type: "image/png", name: "a", bytes: 1)))
        script.send(.send)
        script.send(.sendFailed("send-1"))
        #expect(script.text == "hello" && script.state.selection == .caret(2))
        #expect(script.state.attachments.count == 1)
    }

    @Test func aFailedMessageWaitsWhileAnotherIsWritten() {
        var script = ComposerScript()
        script.type("one")
        script.send(.send)
        script.type("two")
        script.send(.sendFailed("send-1"))
        #expect(script.text == "two" && script.state.unsentCount == 1)
        script.send(.clear)
        script.send(.restoreUnsent)
        #expect(script.text == "one" && script.state.unsentCount == 0)
        script.send(.sendFailed("send-1"))
        #expect(script.text == "one")
    }

    @Test func aMessageThatFailsDuringAnEditComesBackAfterIt() {
        var script = ComposerScript()
        script.type("one")
        script.send(.send)
        script.send(.beginEdit(id: "m", ComposerContent(text: "old")))
        script.send(.sendFailed("send-1"))
        #expect(script.text == "old")
        script.send(.cancelEdit)
        #expect(script.text == "one")
    }

    @Test func aReplyToWhatIsGoneIsNoReply() {
        var script = ComposerScript()
        script.send(.reply(ReplyTarget(messageID: "r", sender: "Bo")))
        script.send(.replyPreview(id: "other", .gone))
        #expect(script.state.reply?.preview == .loading)
        script.send(.replyPreview(id: "r", .gone))
        script.type("a")
        script.send(.send)
        #expect(script.sent.first?.replyTo == nil)
    }

    /// MIB-20: text and attachments as parts, empty text being none.
    @Test func aMessageHasParts() {
        var script = ComposerScript()
        let file = Attachment(type: "image/png", name: "a", bytes: 1)
        script.send(.attach(file))
        script.send(.send)
        #expect(script.sent.first?.parts == [.attachment(file)])
    }
}
