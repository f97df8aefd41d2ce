import ChatCore
import ChatTestSupport
import Composer
import Testing

@testable import ChatViewModels

/// Stored messages of any program, as they are edited.
@MainActor @Suite(.timeLimit(.minutes(5))) struct EditableMessageTests {
    private func editable(_ text: String, html: String? = nil, files: Int = 0) -> EditableMessage {
        var message = Message.of(1, by: Fixtures.own, text: text)
        message.formattedText = html
        message.attachments = (0..<files).map { MediaReference(uri: "mxc://a/\($0)", name: "a", type: "image/png") }
        let bodies = MessageBodies()
        bodies.setMembers([Member(id: MemberID("@ann:x"), displayName: "Ann Lee", kind: .person)])
        return EditableMessage(message, body: bodies.body(of: message))
    }

    /// Bold, lists, links, code and pills are so in the composer.
    @Test func whatAnotherProgramSentIsMarkdownWithPills() {
        let message = editable(
            "x",
            html: """
                <p><b>bold</b> <code>x</code> <a href="https://a.example">link</a> \
                <a href="https://matrix.to/#/@ann:x">Ann Lee</a></p><ul><li>one</li></ul>
                """)
        #expect(message.text.source == "**bold** `x` [link](https://a.example) Ann Lee\n\n- one")
        #expect(message.text.mentions.map(\.target) == [.member("@ann:x")] && message.losses.isEmpty)
        #expect(
            message.text.marks.map(\.short) == ["Ann"], "Backspace leaves the first name, as of one that was chosen")
    }

    /// What was written here is edited as it was written, syntax and all.
    @Test func whatWasWrittenHereIsEditedAsItWas() {
        var message = Message.of(1, by: Fixtures.own, text: "*stars* @Ann Lee")
        message.formattedText = "other"
        message.written = WrittenText(
            "*stars* @Ann Lee", mentioning: [Mention(.member("@ann:x"), text: "@Ann Lee")], syntax: .plain)
        let editable = EditableMessage(message, body: MessageBody())
        #expect(editable.text.source == "*stars* @Ann Lee" && editable.text.syntax == .plain)
        #expect(editable.text.mentions.map(\.target) == [.member("@ann:x")])
    }

    /// What was for everyone stays so; a text that only says it, or that another kind of program wrote, is a text.
    @Test(arguments: [nil, "<b>@room</b> hi *a*"]) func everyoneStaysMentioned(html: String?) {
        var message = Message.of(1, by: Fixtures.own, text: "@room hi *a*")
        message.formattedText = html
        #expect(EditableMessage(message, body: MessageBody(), readsPlainTexts: true).text.mentions.isEmpty)
        message.mentionsEveryone = true
        let text = EditableMessage(message, body: MessageBody(), readsPlainTexts: true).text
        #expect(text.source == (html == nil ? #"@room hi \*a\*"# : #"**@room** hi \*a\*"#))
        #expect(text.mentions.map(\.target) == [.everyone] && text.mentions.map(\.text) == ["@room"])
    }

    @Test func whatIsLostIsTold() {
        #expect(editable("x", html: "a <img src=\"mxc://a/b\" alt=\"cat\"> b").losses.count == 1)
    }

    /// What an earlier version typed is its Markdown, with those whom it recognised.
    @Test func earlierTextsKeepTheirPills() {
        let message = editable("**hi** @Ann Lee and @Bo")
        #expect(message.text.source == "**hi** @Ann Lee and @Bo")
        #expect(message.text.mentions.map(\.text) == ["@Ann Lee"])
        #expect(message.text.marks.map(\.short) == ["@Ann"])
    }

    /// What another program sent as text alone is edited as that: no sign in it is markup.
    @Test func plainTextsAreEditedAsPlainTexts() {
        var message = Message.of(1, by: Fixtures.own, text: "*2* # 3 @Ann Lee")
        func edited(_ message: Message) -> EditableMessage {
            let bodies = MessageBodies(readsPlainTexts: true)
            return EditableMessage(message, body: bodies.body(of: message), readsPlainTexts: true)
        }
        #expect(edited(message).text == WrittenText("*2* # 3 @Ann Lee", syntax: .plain))
        message.transactionID = TransactionID("t")
        #expect(edited(message).text.syntax == .markdown, "an earlier version's")
    }

    @Test(arguments: [0, 2]) func whatGoesWithFilesMayGo(files: Int) {
        #expect(editable("caption", files: files).mayBeEmpty == (files > 0))
    }
}
