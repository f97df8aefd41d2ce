import ChatCore
import ChatTestSupport
import Foundation
import GRDB
import Testing

@testable import ChatStore

@Suite(.timeLimit(.minutes(10))) struct MessageContentTests {
    private static let picture = MediaReference(
        uri: "mxc://server/1", name: "a.png", type: "image/png", bytes: 1000, width: 20, height: 10, duration: nil,
        thumbnailURI: "mxc://server/2", altText: "A picture", blurHash: "00TI:j")

    @Test(arguments: Message.Kind.allCases.filter { ![.event, .sealed].contains($0) }) func everyKindSurvivesARoundTrip(
        _ kind: Message.Kind
    )
        async throws
    {
        let fixture = try await StoreFixture()
        let sound = MediaReference(
            uri: "mxc://server/3", name: "b.ogg", type: "audio/ogg", duration: 1500, loudness: [0, 7, 1024])
        let withoutWaveform = MediaReference(uri: "mxc://server/4", name: "c.ogg", type: "audio/ogg", loudness: [])
        let new = NewMessage(
            id: MessageID("id"), sender: Fixtures.own.id, text: "text", sentAt: Fixtures.date, kind: kind,
            formattedText: "<b>text</b>", attachments: [Self.picture, sound, withoutWaveform])
        let stored = try await fixture.store.append(new, to: fixture.room).message
        #expect(stored.kind == kind && stored.formattedText == "<b>text</b>")
        #expect(stored.attachments == [Self.picture, sound, withoutWaveform])
        try await fixture.append(2)
        let page = try await fixture.store.messages(in: fixture.room, before: .max, limit: 5)
        #expect(page.messages.first == stored && page.messages.last?.attachments == [])
    }

    @Test("What comes after NUL is stored, found and returned as it is stored")
    func textAfterNUL() async throws {
        let fixture = try await StoreFixture()
        let (store, room) = (fixture.store, fixture.room)
        let new = NewMessage(
            id: MessageID("id"), sender: Fixtures.own.id, text: "one\0two\0", sentAt: Fixtures.date,
            formattedText: "<b>one</b>\0two")
        let stored = try await store.append(new, to: room).message
        #expect(stored.text == "one\u{FFFD}two\u{FFFD}" && stored.formattedText == "<b>one</b>\u{FFFD}two")
        #expect(try await store.messages(in: room, before: .max, limit: 1).messages == [stored])
        #expect(try await fixture.summary()?.lastMessage?.text == stored.text)
        #expect(try await store.search(SearchQuery(text: "two")).messages == [stored])

        let wording = Wording("three\0\u{301}four", html: "\0<i>four</i>")
        func edit() async throws -> Message? {
            try await store.edit(
                stored.id, in: room, to: wording, by: Fixtures.own.id, at: Fixtures.date.addingTimeInterval(1))
        }
        let edited = try #require(try await edit())
        #expect(edited.text == "three\u{FFFD}\u{301}four" && edited.formattedText == "\u{FFFD}<i>four</i>")
        #expect(try await store.messages(in: room, before: .max, limit: 1).messages == [edited])
        #expect(try await edit() == nil)
        #expect(try await store.revisions(of: stored.id, in: room).map(\.text) == [stored.text])

        let older = NewMessage(id: MessageID("older"), sender: Fixtures.own.id, text: "a\0b", sentAt: Fixtures.date)
        #expect(try await store.ingest([older], into: room, at: .start).map(\.text) == ["a\u{FFFD}b"])
    }

    @Test func reactionsAreOrderedByTheFirstOfEach() async throws {
        let fixture = try await StoreFixture()
        let message = try await fixture.append(1)
        func react(_ text: String, _ isGiven: Bool, by member: Member, after seconds: Double) async throws -> Message? {
            try await fixture.store.setReaction(
                text, isAdded: isGiven, to: message.id, in: fixture.room, by: member.id,
                at: Fixtures.date.addingTimeInterval(seconds))
        }
        _ = try await react("👍", true, by: Fixtures.other, after: 1)
        _ = try await react("🎉", true, by: Fixtures.own, after: 2)
        let all = try await react("👍", true, by: Fixtures.own, after: 3)
        let thumbs = Reaction(text: "👍", senders: [Fixtures.other.id, Fixtures.own.id])
        #expect(all?.reactions == [thumbs, Reaction(text: "🎉", senders: [Fixtures.own.id])])
        #expect(try await react("👍", true, by: Fixtures.own, after: 4) == nil)
        let fewer = try await react("🎉", false, by: Fixtures.own, after: 5)
        #expect(fewer?.reactions == [thumbs])
        #expect(try await fixture.store.messages(in: fixture.room, before: .max, limit: 1).messages == [fewer])
    }

    @Test func editsKeepEarlierRevisionsAndDeletionRemovesThem() async throws {
        let fixture = try await StoreFixture()
        let message = try await fixture.append(1, text: "frist")
        for (text, seconds) in [("firts", 1.0), ("first", 2)] {
            _ = try await fixture.store.edit(
                message.id, in: fixture.room, to: Wording(text), by: Fixtures.own.id,
                at: Fixtures.date.addingTimeInterval(seconds))
        }
        let revisions = try await fixture.store.revisions(of: message.id, in: fixture.room)
        #expect(revisions.map(\.text) == ["frist", "firts"])
        #expect(revisions.map(\.writtenAt) == [message.sentAt, Fixtures.date.addingTimeInterval(1)])
        _ = try await fixture.store.setReaction(
            "👍", isAdded: true, to: message.id, in: fixture.room, by: Fixtures.other.id, at: Fixtures.date)
        let deleted = try #require(
            try await fixture.store.delete(message.id, in: fixture.room, by: Fixtures.own.id))
        #expect(deleted.text.isEmpty && deleted.reactions.isEmpty && deleted.isDeleted)
        #expect(try await fixture.store.messages(in: fixture.room, before: .max, limit: 1).messages == [deleted])
        #expect(try await fixture.store.revisions(of: message.id, in: fixture.room) == [])
    }

    @Test func receiptsAndScrollPositionsAreStoredPerRoom() async throws {
        let fixture = try await StoreFixture()
        let ids = [try await fixture.append(1).id, try await fixture.append(2).id]
        let receipt = ReadReceipt(member: Fixtures.other.id, message: ids[0], readAt: Fixtures.date)
        try await fixture.store.setReceipt(receipt, in: fixture.room)
        var newer = receipt
        newer.message = ids[1]
        try await fixture.store.setReceipt(newer, in: fixture.room)
        #expect(try await fixture.store.receipts(in: fixture.room) == [newer])
        #expect(try await fixture.store.scrollPosition(in: fixture.room) == nil)
        let position = ScrollPosition(message: MessageID("m"), offset: 12.5)
        try await fixture.store.saveScrollPosition(position, in: fixture.room)
        #expect(try await fixture.store.scrollPosition(in: fixture.room) == position)
        try await fixture.store.saveScrollPosition(nil, in: fixture.room)
        #expect(try await fixture.store.scrollPosition(in: fixture.room) == nil)
        await #expect(throws: ChatError.notFound) {
            try await fixture.store.saveScrollPosition(position, in: RoomID("none"))
        }
    }

    @Test func receivedMessagesAreStoredOnceAtEitherEnd() async throws {
        let fixture = try await StoreFixture()
        func batch(_ numbers: ClosedRange<Int>) -> [NewMessage] {
            numbers.map { number in
                NewMessage(
                    id: MessageID("m\(number)"), sender: Fixtures.other.id, text: "text \(number)",
                    sentAt: Fixtures.date.addingTimeInterval(Double(number)))
            }
        }
        let store = fixture.store
        #expect(try await store.ingest(batch(5...7), into: fixture.room).count == 3)
        #expect(try await store.ingest(batch(6...8), into: fixture.room).map(\.text) == ["text 8"])
        let older = try await store.ingest(batch(1...4), into: fixture.room, at: .start)
        #expect(older.map(\.text) == (1...4).map { "text \($0)" })
        let page = try await store.messages(in: fixture.room, before: .max, limit: 20)
        #expect(page.messages.map(\.text) == (1...8).map { "text \($0)" })
        #expect(page.messages.map(\.position) == Array(-3...4))
        #expect(try await fixture.summary()?.unreadCount == 4)
        #expect(try await fixture.summary()?.lastMessage?.text == "text 8")
    }

    @Test func sentDraftIsHiddenEvenIfItsRemovalFails() async throws {
        let fixture = try await StoreFixture()
        _ = try await fixture.store.saveDraft(Fixtures.draft("sent"), in: fixture.room)
        let new = NewMessage(id: MessageID("m"), sender: Fixtures.own.id, text: "sent", sentAt: Fixtures.date)
        try await fixture.store.writePending { db in
            try db.execute(sql: "CREATE TRIGGER keep BEFORE DELETE ON draft BEGIN SELECT raise(ABORT, 'no'); END")
        }
        _ = try await fixture.store.append(new, to: fixture.room, removingDraft: true)
        #expect(try await fixture.store.draft(in: fixture.room) == nil)
        #expect(try await fixture.summary()?.draftPreview == nil)
        #expect(try await fixture.store.saveDraft(Fixtures.draft("sent"), in: fixture.room))
        #expect(try await fixture.store.draft(in: fixture.room) == Fixtures.draft("sent"))
    }
}
