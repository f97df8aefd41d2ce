import ChatCore
import ChatTestSupport
import Composer
import Foundation
import Testing

@testable import ChatViewModels

/// Captions, tooltips and accessible labels of messages.
@MainActor @Suite struct MessageTextTests {
    private let texts = MessageText(.untranslated, time: { _ in "12:00" }, fullDate: { _ in "a date" })

    private func item(_ change: (inout MessageItem) -> Void = { _ in }) -> MessageItem {
        var item = MessageItem(
            message: Fixtures.message(1, text: "hello"), body: MessageBody(plain: "hello"), senderName: "Robin",
            isOwn: true, startsGroup: true, endsGroup: true)
        item.transactionID = TransactionID("t")
        change(&item)
        return item
    }

    @Test("The caption of an own message has its state, and at the end of a group the time")
    func captions() {
        #expect(texts.caption(item()) == "12:00")
        #expect(texts.caption(item { $0.endsGroup = false }) == "")
        #expect(texts.caption(item { $0.editedAt = Fixtures.date }) == "12:00", "a pencil says so")
        #expect(texts.caption(item { $0.delivery = .sending }) == "Sending… · 12:00")
        #expect(
            texts.caption(
                item {
                    $0.delivery = .sending
                    $0.waitsForSignIn = true
                }) == "Waiting for sign-in · 12:00")
        #expect(texts.caption(item { $0.upload = 0.5 }) == "", "its progress bar says so")
        #expect(texts.caption(item { $0.delivery = .failed }) == "12:00", "its bar says so")
        #expect(texts.caption(item { $0.isOwn = false }) == "", "the time is beside the sender")
        #expect(texts.tooltip(item()) == "a date")
    }

    @Test("A sealed message shows its reason, each with its own text")
    func seals() {
        let all = SealReason.allCases.map { reason in
            texts.placeholder(item { $0.content = Message.Content(sealed: reason) }) ?? ""
        }
        #expect(Set(all).count == SealReason.allCases.count && all.allSatisfy { !$0.isEmpty })
        let sealed = item {
            $0.content = Message.Content(sealed: .noKey)
            $0.body = MessageBody()
        }
        #expect(texts.placeholder(sealed) == "The key for this message has not arrived yet.")
        #expect(texts.accessibleText(sealed).hasPrefix("You: The key for this message has not arrived yet."))
        #expect(texts.announcement([sealed]) == "Robin: The key for this message has not arrived yet.")
        #expect(texts.placeholder(item()) == nil)
        #expect(texts.placeholder(item { $0.isDeleted = true }) == "Message deleted")
    }

    @Test("The time of others' messages is next to the sender, if the row shows it")
    func headers() {
        #expect(texts.headerTime(item { $0.isOwn = false }) == "12:00")
        #expect(
            texts.headerTime(
                item {
                    $0.isOwn = false
                    $0.startsGroup = false
                }) == nil)
        #expect(texts.headerTime(item()) == nil)
    }

    @Test("A quote shows its sender once it is loaded, or else why it is missing")
    func quotes() {
        let loaded = texts.quote(.text(MessageID("q"), senderName: "Alex", words: "what?"))
        #expect(loaded.senderName == "Alex" && loaded.text.source == "what?")
        #expect(texts.quote(.loading(MessageID("q"))).text.source == "Loading…")
        let unavailable = texts.quote(.unavailable)
        #expect(unavailable.senderName == nil && unavailable.text.source == "Message not available")
        #expect(MessageItem.Quote.loading(MessageID("q")).message == MessageID("q"))
        #expect(MessageItem.Quote.unavailable.message == nil)
    }

    @Test("What the timeline warns of is quoted behind its warning, with the mentions in place")
    func doubtfulQuotes() throws {
        let mention = WrittenText.Mark(.mention(.member("@ann:x")), over: TextRange(location: 6, length: 3))
        let text = try #require(WrittenText("Hello Ann", syntax: .plain, marks: [mention]))
        func quote(_ trust: MessageTrust?, _ texts: MessageText) -> WrittenText {
            texts.quote(.text(MessageID("q"), senderName: "Alex", text: text, trust: trust)).text
        }
        let inverted = MessageText(
            Translator(
                translate: { $0 == "Not encrypted: {text}" ? "‘{text}’ (clear)" : $0 }, plural: { $2 == 1 ? $0 : $1 }),
            time: { _ in "" }, fullDate: { _ in "" })
        #expect(quote(nil, texts) == text && quote(.unproven, texts) == text)
        for (quoted, source) in [
            (quote(.notEncrypted, texts), "Not encrypted: Hello Ann"),
            (quote(.changedIdentity, texts), "Identity changed: Hello Ann"),
            (quote(.notEncrypted, inverted), "‘Hello Ann’ (clear)"),
        ] {
            #expect(quoted.source == source && quoted.mentions.map(\.text) == ["Ann"])
        }
    }

    @Test("A warned of quote is parsed: no invisible character precedes it, though they isolate a text that is not")
    func markupOfDoubtfulQuotes() {
        let arabic = Translator(
            translate: { $0 == "Not encrypted: {text}" ? "غير معمّاة: {text}" : $0 }, plural: { one, _, _ in one })
        let trust: MessageTrust? = .notEncrypted
        #expect(trust.marking(WrittenText("_Hi!_"), arabic).source == "غير معمّاة: _Hi!_")
        #expect(trust.marking("Hi!", arabic) == "غير معمّاة: \u{2068}Hi!\u{2069}")
    }

    @Test("Only discarding a message is confirmed")
    func failures() {
        #expect(texts.failure(.message) == .init(reason: "Not sent", retry: "Retry", discard: "Discard…"))
        #expect(
            texts.failure(.change(.reaction))
                == .init(reason: "Could not change reaction", retry: "Retry", discard: "Discard"))
    }

    @Test("Each reason why something was not sent has a text; the server's words are the last resort")
    func failureReasons() {
        let all: [SendFailure] = [
            .changedIdentity, .notPermitted, .notInRoom, .notFound, .messageUnavailable, .messageTooLong, .tooLarge,
            .unreadableFile, .encryptionUnavailable, .encryptionUnknown, .mayBeSent, .termsNotAccepted,
            .ownIdentityReplaced,
        ]
        let explained = all.compactMap { texts.failure(.message, because: $0).explanation }
        #expect(explained.count == all.count && Set(explained).count == all.count)
        #expect(
            texts.failure(.message, because: .rejected(reason: "400 M_BAD_JSON")).explanation
                == "Not allowed by the server: 400 M_BAD_JSON")
        #expect(
            texts.failure(.change(.edit), because: .notPermitted).explanation
                == "You do not have permission to do this")
        #expect(texts.failure(.message).explanation == nil)
    }

    @Test("The accessible label says why something was not sent")
    func accessibleFailures() {
        let failed = item {
            $0.delivery = .failed
            $0.failure = .tooLarge
        }
        #expect(texts.accessibleText(failed) == "You: hello. 12:00, Not sent, Too large for the server")
        let unchanged = item {
            $0.pendingChange = PendingChange(
                transaction: TransactionID("c"), kind: .edit, isRejected: true, failure: .notPermitted)
        }
        #expect(
            texts.accessibleText(unchanged)
                == "You: hello. 12:00, Could not save edit, You do not have permission to do this")
    }

    @Test("Bars have the number of failed and of selected messages")
    func bars() {
        #expect(texts.failedCount(2) == "2 messages not sent")
        #expect(texts.selectedCount(1) == "1 selected")
    }

    @Test("The window with the full text is named after the sender")
    func windowTitles() {
        #expect(texts.windowTitle(item()) == "Your Message")
        #expect(texts.windowTitle(item { $0.isOwn = false }) == "Robin")
    }

    @Test("The accessible label contains sender, text, reply, reactions, time and state")
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
                == "You: Image a rose. hello. Reply to Alex. You and Alex reacted with 👍. 12:00, Could not save edit. Read by Alex"
        )
    }

    @Test("Reactions name who reacted, the user first")
    func reactions() {
        #expect(texts.accessibleText(.init(text: "👍", others: [], isOwn: true)) == "You reacted with 👍")
        #expect(texts.accessibleText(.init(text: "👍", others: ["Alex"], isOwn: false)) == "Alex reacted with 👍")
        #expect(
            texts.accessibleText(.init(text: "👍", others: ["{emoji}"], isOwn: true)) == "You and {emoji} reacted with 👍"
        )
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

    @Test("Up to three received messages are announced in full, more as a number")
    func announcements() {
        #expect(texts.announcement([item(), item()]) == "Robin: hello\nRobin: hello")
        #expect(texts.announcement(Array(repeating: item(), count: 4)) == "4 new messages")
        let madeUp = item { $0.trust = .notEncrypted }
        #expect(texts.announcement([madeUp, item()]) == "Robin: Not encrypted: hello\nRobin: hello")
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

    @Test("A row of events is one line: the change, or the number of changes if several are in effect")
    func eventTitles() {
        func line(_ id: String, _ event: RoomEvent) -> EventGroup.Line {
            EventGroup.Line(
                id: MessageID(id), event: event, actor: .named("Ann"), subject: .named("Ann"), sentAt: Fixtures.date)
        }
        let named = line("n", RoomEvent(.roomNamed, after: "Tea"))
        let topic = line("t", RoomEvent(.topicSet, after: "Green"))
        let one = texts.events(EventGroup(lines: [named], isExpanded: true))
        #expect(one.title == "Ann changed the room name to “Tea”")
        #expect(one.tooltip == "Ann changed the room name to “Tea” · 12:00")
        #expect(one.lines.isEmpty && one.openRoom == nil)
        let renamed = texts.events(
            EventGroup(lines: [line("o", RoomEvent(.roomNamed, after: "Pot")), named], isExpanded: false))
        #expect(renamed.title == "Ann changed the room name to “Tea”", "the change in effect")
        let two = texts.events(EventGroup(lines: [named, topic], isExpanded: false))
        #expect(two.title == "2 room changes")
        #expect(two.tooltip == "Ann changed the room name to “Tea” · Ann changed the topic to “Green”")
        #expect(two.accessibleText == two.tooltip)
        let expanded = texts.events(EventGroup(lines: [named, topic], isExpanded: true))
        #expect(expanded.lines.split(separator: "\n").count == 2)
        let replaced = RoomEvent(.replaced, before: "#new:x")
        #expect(texts.events(EventGroup(lines: [line("r", replaced)], isExpanded: false)).openRoom == "Go to New Room")
    }
}
