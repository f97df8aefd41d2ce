import ChatCore
import ChatTestSupport
import Composer
import MessageMarkup
import Testing

@testable import ChatViewModels

/// Converts stored messages of any client for editing.
@MainActor @Suite(.timeLimit(.minutes(10))) struct EditableMessageTests {
    private func editable(_ text: String, html: String? = nil, files: Int = 0) -> EditableMessage {
        var message = Message.of(1, by: Fixtures.own, text: text)
        message.formattedText = html
        message.attachments = (0..<files).map { MediaReference(uri: "mxc://a/\($0)", name: "a", type: "image/png") }
        let bodies = MessageBodies()
        bodies.setMembers([Member(id: MemberID("@ann:x"), displayName: "Ann Lee", kind: .person)])
        return EditableMessage(message, body: bodies.body(of: message))
    }

    /// HTML formatting becomes Markdown, with mentions as pills.
    @Test func htmlBecomesMarkdownWithMentions() {
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

    /// A message written in Parlance opens with its original source and syntax.
    @Test func writtenFormIsEditedUnchanged() {
        var message = Message.of(1, by: Fixtures.own, text: "*stars* @Ann Lee")
        message.formattedText = "other"
        message.written = WrittenText(
            "*stars* @Ann Lee", mentioning: [Mention(.member("@ann:x"), text: "@Ann Lee")], syntax: .plain)
        let editable = EditableMessage(message, body: MessageBody())
        #expect(editable.text.source == "*stars* @Ann Lee" && editable.text.syntax == .plain)
        #expect(editable.text.mentions.map(\.target) == [.member("@ann:x")])
    }

    @Test("The text of a rejected edit is edited further, as that edit would be lost otherwise")
    func rejectedEdit() {
        var message = Message.of(1, by: Fixtures.own, text: "old")
        message.written = WrittenText("old")
        let edited = WrittenText("new @Ann Lee", mentioning: [Mention(.member("@ann:x"), text: "@Ann Lee")])
        message.pendingChange = PendingChange(
            transaction: TransactionID("e"), kind: .edit, isRejected: true, rejectedText: edited)
        let editable = EditableMessage(message, body: MessageBody())
        #expect(editable.text.source == "new @Ann Lee" && editable.losses.isEmpty)
        #expect(editable.text.mentions.map(\.target) == [.member("@ann:x")])
        message.pendingChange?.rejectedText = nil
        #expect(EditableMessage(message, body: MessageBody()).text.source == "old")
    }

    /// A room mention stays one; the mere text `@room`, or that of another client, does not become one.
    @Test(arguments: [nil, "<b>@room</b> hi *a*"]) func roomMentionIsPreserved(html: String?) {
        var message = Message.of(1, by: Fixtures.own, text: "@room hi *a*")
        message.formattedText = html
        #expect(EditableMessage(message, body: MessageBody(), readsPlainTexts: true).text.mentions.isEmpty)
        message.mentionsEveryone = true
        let text = EditableMessage(message, body: MessageBody(), readsPlainTexts: true).text
        #expect(text.source == (html == nil ? #"@room hi \*a\*"# : #"**@room** hi \*a\*"#))
        #expect(text.mentions.map(\.target) == [.everyone] && text.mentions.map(\.text) == ["@room"])
    }

    @Test func lostContentIsReported() {
        #expect(editable("x", html: "a <img src=\"mxc://a/b\" alt=\"cat\"> b").losses.count == 1)
    }

    /// Texts of earlier versions are Markdown whose mentions are recognized by name.
    @Test("The warning lists what saving loses, in an order that translations can change")
    func lossesAreListed() {
        var message = editable("hi")
        #expect(message.warning(.untranslated) == nil)
        message.losses = [.table, .spacing, .mention]
        #expect(message.warning(.untranslated) == "Saving removes table layout, some spacing, mentions")
        let arabic = Translator(
            translate: { $0 == "{list}, {item}" ? "{list}، {item}" : $0 }, plural: { $2 == 1 ? $0 : $1 })
        #expect(message.warning(arabic) == "Saving removes table layout، some spacing، mentions")
    }

    @Test func earlierMessagesKeepTheirMentions() {
        let message = editable("**hi** @Ann Lee and @Bo")
        #expect(message.text.source == "**hi** @Ann Lee and @Bo")
        #expect(message.text.mentions.map(\.text) == ["@Ann Lee"])
        #expect(message.text.marks.map(\.short) == ["@Ann"])
    }

    private func edited(_ message: Message) -> EditableMessage {
        let bodies = MessageBodies(readsPlainTexts: true)
        return EditableMessage(message, body: bodies.body(of: message), readsPlainTexts: true)
    }

    /// SLK-15: no character of it is markup until the user adds some.
    @Test(
        "A plain text of another client is edited as Markdown, and saving it unchanged sends the same text",
        arguments: [
            "hello", "*2* # 3 @Ann Lee", "a\nb", "# a\n- b\n1. c", "a\n\nb", "`a` <b> &amp; \\*", "||a|| ~~b~~",
        ])
    func plainTextIsEditedAsMarkdown(text: String) {
        let editable = edited(.of(1, by: Fixtures.own, text: text))
        #expect(editable.text.syntax == .markdown && editable.text.marks.isEmpty && editable.losses.isEmpty)
        #expect(MessageMarkup.plainText(of: editable.text) == text)
    }

    @Test("A plain text that Markdown cannot express is edited literally", arguments: ["a\n    b", "a\n\n*b* c*"])
    func plainTextThatMarkdownCannotExpressStaysLiteral(text: String) {
        let editable = edited(.of(1, by: Fixtures.own, text: text))
        #expect(editable == EditableMessage(WrittenText(text, syntax: .plain)))
    }

    @Test("A plain text of an earlier version is Markdown")
    func plainTextOfAnEarlierVersionIsMarkdown() {
        var message = Message.of(1, by: Fixtures.own, text: "*2* # 3")
        message.transactionID = TransactionID("t")
        #expect(edited(message).text == WrittenText("*2* # 3"))
    }

    @Test(arguments: [0, 2]) func messageWithFilesMayBeEmpty(files: Int) {
        #expect(editable("caption", files: files).mayBeEmpty == (files > 0))
    }
}
