import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatViewModels

/// Captions, tooltips and accessible labels of messages.
@MainActor @Suite struct MessageTextTests {
    private let texts = MessageText(.untranslated) { _ in "12:00" }

    private func item(_ change: (inout MessageItem) -> Void = { _ in }) -> MessageItem {
        var item = MessageItem(
            id: MessageID("m"), text: "hello", body: MessageBody(plain: "hello"), senderID: Fixtures.own.id,
            senderName: "Robin", sentAt: Fixtures.date, isOwn: true, isEdited: false, isDeleted: false,
            delivery: .sent, transactionID: TransactionID("t"), startsGroup: true, endsGroup: true,
            isBeingEdited: false)
        change(&item)
        return item
    }

    @Test("The caption has the time at the end of a group, and the message's state")
    func captions() {
        #expect(texts.caption(item()) == "12:00")
        #expect(texts.caption(item { $0.endsGroup = false }) == "")
        #expect(texts.caption(item { $0.isEdited = true }) == "12:00 · Edited")
        #expect(texts.caption(item { $0.delivery = .sending }) == "12:00 · Sending…")
        #expect(
            texts.caption(
                item {
                    $0.delivery = .sending
                    $0.waitsForSignIn = true
                }) == "12:00 · Waiting for sign-in")
        #expect(texts.caption(item { $0.upload = 0.5 }) == "", "its progress bar says so")
        #expect(texts.caption(item { $0.delivery = .failed }) == "12:00", "its bar says so")
    }

    @Test("The accessible label has sender, text, reply, reactions, time and state")
    func accessibleLabels() {
        #expect(texts.accessibleText(item()) == "You: hello. 12:00")
        #expect(texts.accessibleText(item { $0.isOwn = false }) == "Robin: hello. 12:00")
        #expect(texts.accessibleText(item { $0.isDeleted = true }) == "You: Message deleted. 12:00")
        #expect(texts.accessibleText(item { $0.delivery = .failed }) == "You: hello. 12:00, Not sent")
        let full = item {
            $0.quote = .text(MessageID("q"), senderName: "Alex", words: "what?")
            $0.attachments = [MediaReference(uri: "a", name: "a.png", type: "image/png", altText: "a rose")]
            $0.reactions = [.init(text: "👍", others: ["Alex"], isOwn: true)]
            $0.readers = [.init(id: Fixtures.other.id, name: "Alex", readAt: Fixtures.date)]
            $0.pendingChange = PendingChange(transaction: TransactionID("c"), kind: .edit, isRejected: true)
        }
        #expect(
            texts.accessibleText(full)
                == "You: Image a rose. hello. Reply to Alex. 👍 by You, Alex. 12:00, Could not save edit. Read by Alex")
    }

    @Test("Attachments are named by kind")
    func attachments() {
        let voice = MediaReference(uri: "v", name: "v.ogg", type: "audio/ogg", loudness: [1])
        let file = MediaReference(uri: "f", name: "f.pdf", type: "application/pdf")
        #expect(texts.attachments([voice, file]) == "Voice Message, File f.pdf")
    }

    @Test("A tooltip lists at most twenty readers")
    func readers() {
        let readers = (1...22).map {
            MessageItem.Reader(id: MemberID("r\($0)"), name: "R\($0)", readAt: Fixtures.date)
        }
        #expect(texts.readBy(Array(readers.prefix(2))) == "Read by R1 and R2")
        #expect(texts.readBy(readers) == "Read by R1, R2, and 20 others")
        let lines = texts.tooltip(readers).split(separator: "\n")
        #expect(lines.count == 22 && lines[1] == "R1 · 12:00" && lines.last == "2 others")
    }

    @Test("Up to three received messages are announced in full, more by their number")
    func announcements() {
        #expect(texts.announcement([item(), item()]) == "Robin: hello\nRobin: hello")
        #expect(texts.announcement(Array(repeating: item(), count: 4)) == "4 new messages")
    }

    @Test("An expanded row of events lists each event")
    func events() {
        let lines = ["a", "b"].map {
            EventGroup.Line(
                id: MessageID($0), event: RoomEvent(.joined, subject: MemberID($0)), actor: .named($0),
                subject: .named($0),
                sentAt: Fixtures.date)
        }
        #expect(texts.accessibleText(EventGroup(lines: lines, isExpanded: false)) == "a and b joined")
        #expect(
            texts.accessibleText(EventGroup(lines: lines, isExpanded: true))
                == "a and b joined\na joined · 12:00\nb joined · 12:00")
    }
}
