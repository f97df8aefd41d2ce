import ChatCore
import ChatTestSupport
import MessageMarkup
import Testing

@testable import ChatViewModels

/// How much of a message a row shows.
struct MessageItemTests {
    private func item(_ text: String) -> MessageItem {
        MessageItem(
            message: Fixtures.message(1, text: text), senderName: "Robin", isOwn: true, startsGroup: true,
            endsGroup: true)
    }

    @Test(arguments: ["", "short", "two\nlines", String(repeating: "x", count: 8_000)])
    func ordinaryTextIsShownInFull(_ text: String) {
        #expect(item(text).displayedText == text[...])
        #expect(!item(text).isShortened)
    }

    @Test func longTextIsTruncatedAtACharacter() {
        let shown = item(String(repeating: "👨‍👩‍👧", count: 10_000))
        #expect(shown.displayedText.count == MessageItem.maxDisplayedCharacters)
        #expect(shown.isShortened)
    }

    @Test func manyLinesAreTruncatedAtALine() {
        let shown = item(Array(repeating: "x", count: 1_000).joined(separator: "\n"))
        #expect(shown.displayedText.split(separator: "\n").count == MessageItem.maxDisplayedLines)
        #expect(shown.isShortened)
    }

    @Test(
        "Lines are counted whatever ends them",
        arguments: ["\n", "\r", "\r\n", "\u{B}", "\u{C}", "\u{85}", "\u{2028}", "\u{2029}"])
    func lineBreaks(_ lineBreak: String) {
        for (count, isShortened) in [(199, false), (200, false), (201, true)] {
            let shown = item(Array(repeating: "è", count: count).joined(separator: lineBreak))
            #expect(shown.isShortened == isShortened, "\(count)")
            #expect(shown.displayedText.count { $0.isNewline } == min(count, MessageItem.maxDisplayedLines) - 1)
        }
    }

    @Test func whatCannotBeReadIsNeitherCopiedNorAnsweredNorEdited() {
        var sealed = item("")
        sealed.content = Message.Content(sealed: .noKey)
        sealed.supportsReactions = true
        sealed.hasLink = true
        #expect(!sealed.canCopy && !sealed.canReply && !sealed.canEdit && !sealed.canForward && !sealed.canSelect)
        #expect(!sealed.canReact && sealed.canDelete && sealed.canCopyLink && sealed.selectableText.isEmpty)
    }

    @Test func pictureWithoutACaptionIsForwardedButNotCopied() {
        var picture = item("")
        picture.content = Message.Content(
            kind: .image, attachments: [MediaReference(uri: "a", name: "a.png", type: "image/png")])
        #expect(!picture.canCopy && picture.canForward && picture.canReply && picture.offersMenu)
        picture.message.text = "A caption"
        #expect(picture.canCopy)
    }

    @Test("A message whose latest edit cannot be read says so, and why, until it is deleted")
    @MainActor func unreadableEdit() {
        let text = MessageText(.untranslated, time: { _ in "9:00" }, fullDate: { _ in "Monday" })
        var message = item("Tea?")
        #expect(text.unreadableEdit(message) == nil && text.tooltip(message) == "Monday")
        for reason in SealReason.allCases {
            message.message.unreadableEdit = reason
            let sentence = "A later edit is missing. " + text.reason(reason)
            #expect(text.unreadableEdit(message) == sentence && text.tooltip(message) == "Monday\n" + sentence)
            #expect(text.accessibleText(message).contains(sentence))
        }
        // An edit that is shown is later than the one that is missing.
        var edited = message
        edited.message.edit(to: Wording("Coffee?"), at: Fixtures.date)
        #expect(edited.unreadableEdit == nil && edited.isEdited)
        message.message.isDeleted = true
        #expect(text.unreadableEdit(message) == nil && text.tooltip(message) == "Monday")
    }

    @Test("Only a text that the server has gets a link preview")
    func previewedLink() {
        var message = item("x")
        message.body = MessageMarkup.body(markdown: "[x](https://example.org/)")
        #expect(message.previewedLink != nil)
        message.message.delivery = .sending
        #expect(message.previewedLink == nil)
        message.message.delivery = .failed
        #expect(message.previewedLink == nil)
        message.message.delivery = .sent
        let transaction = TransactionID("t")
        message.message.pendingChange = PendingChange(transaction: transaction, kind: .reaction)
        #expect(message.previewedLink != nil)
        message.message.editedAt = Fixtures.date
        #expect(message.previewedLink == nil, "the edit may be pending as well")
        message.message.pendingChange = PendingChange(transaction: transaction, kind: .edit)
        #expect(message.previewedLink == nil)
        message.message.pendingChange = PendingChange(transaction: transaction, kind: .edit, isRejected: true)
        #expect(message.previewedLink != nil, "the text is the one before the edit")
    }

    @Test func messageHasAMenuIfAnythingCanBeDoneWithIt() {
        var message = item("short")
        #expect(message.offersMenu)
        message.isOwn = false
        #expect(message.offersMenu)
        message.content = Message.Content(sealed: .noKey)
        #expect(!message.offersMenu, "it cannot be read and has no link")
        message.hasLink = true
        #expect(message.offersMenu, "its link can be copied")
        (message.isOwn, message.hasLink) = (true, false)
        #expect(message.offersMenu, "it can be deleted")
    }
}
