import ChatCore
import ChatTestSupport
import Composer
import Foundation
import GRDB
import Testing

@testable import ChatStore

/// The written form of messages, stored beside their content.
@Suite(.timeLimit(.minutes(10))) struct WrittenTextStorageTests {
    private static let ann = MentionTarget.member("@ann:a")
    private static let bold = WrittenText.Mark(.style(.bold), over: TextRange(location: 0, length: 2))
    private static let first = WrittenText("Hi Ann, *look*", mentioning: ["Ann": ann])
    private static let second = WrittenText("Hi all", syntax: .plain, marks: [bold])!

    private func storedTexts(_ fixture: StoreFixture) async throws -> [WrittenText?] {
        try await fixture.store.messages(in: fixture.room, before: .max, limit: 10).messages.map(\.written)
    }

    private func count(_ table: String, _ store: ChatStore) async throws -> Int? {
        try await store.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table)") }
    }

    private func new(_ id: String, _ text: String, written: WrittenText? = nil) -> NewMessage {
        NewMessage(id: MessageID(id), sender: Fixtures.own.id, text: text, sentAt: Fixtures.date, written: written)
    }

    @Test(arguments: [first, second, WrittenText("plain"), WrittenText(#"\*tide\*"#)])
    func writtenFormSurvivesARoundTrip(_ written: WrittenText) async throws {
        let fixture = try await StoreFixture()
        for (id, text) in [("a", written.source), ("b", "another form")] {
            let stored = try await fixture.store.append(new(id, text, written: written), to: fixture.room)
            #expect(stored.message.written == written && stored.message.text == text)
        }
        _ = try await fixture.store.append(new("c", "received"), to: fixture.room)
        #expect(try await storedTexts(fixture) == [written, written, nil])
    }

    @Test func editsKeepTheEarlierWrittenForm() async throws {
        let fixture = try await StoreFixture()
        let message = try await fixture.store.append(
            new("a", Self.first.source, written: Self.first), to: fixture.room
        ).message
        let wording = Wording(Self.second.source, written: Self.second)
        let edited = try await fixture.store.edit(
            message.id, in: fixture.room, to: wording, by: Fixtures.own.id, at: Fixtures.date)
        #expect(edited?.written == Self.second)
        // The same source with other marks is a different text.
        let same = Wording(Self.second.source, written: WrittenText(Self.second.source))
        _ = try await fixture.store.edit(
            message.id, in: fixture.room, to: same, by: Fixtures.own.id, at: Fixtures.date)
        #expect(try await storedTexts(fixture) == [same.written])
        let before = try await fixture.store.revisions(of: message.id, in: fixture.room)
        #expect(before.map(\.wording.written) == [Self.first, Self.second])
        _ = try await fixture.store.delete(message.id, in: fixture.room, by: Fixtures.own.id)
        #expect(try await storedTexts(fixture) == [nil])
        #expect(try await count("written", fixture.store) == 0)
    }

    /// The server returns a message without its written form, before or after the response to the send.
    @Test(arguments: [false, true]) func writtenFormIsStoredInEitherOrderOfSyncAndResponse(_ syncsFirst: Bool)
        async throws
    {
        let fixture = try await StoreFixture()
        let message = new("$a", "Hi Ann, look")
        if syncsFirst { _ = try await fixture.store.ingest([message], into: fixture.room) }
        let changed = try await fixture.store.setWritten(Self.first, of: message.id, in: fixture.room)
        #expect(changed?.written == (syncsFirst ? Self.first : nil))
        if !syncsFirst { _ = try await fixture.store.ingest([message], into: fixture.room) }
        #expect(try await storedTexts(fixture) == [Self.first])
        #expect(try await count("authorNote", fixture.store) == 0)
        #expect(try await fixture.store.setWritten(Self.first, of: message.id, in: fixture.room) == nil)
    }

    /// Messages of others have no written form, whatever is stored under their event ID.
    @Test func messagesOfOthersHaveNoWrittenForm() async throws {
        let fixture = try await StoreFixture()
        _ = try await fixture.store.setWritten(Self.first, of: MessageID("$a"), in: fixture.room)
        var message = new("$a", "Hi Ann, look")
        message.sender = Fixtures.other.id
        _ = try await fixture.store.ingest([message], into: fixture.room)
        #expect(try await storedTexts(fixture) == [nil])
    }

    @Test func repeatedEditKeepsTheWrittenForm() async throws {
        let fixture = try await StoreFixture()
        _ = try await fixture.store.ingest([new("$a", "first")], into: fixture.room)
        func edit(_ id: String, _ wording: Wording, at seconds: Double) async throws {
            let change = MessageChange(
                id: id, target: MessageID("$a"), sender: Fixtures.own.id,
                at: Fixtures.date.addingTimeInterval(seconds), kind: .edit(wording))
            _ = try await fixture.store.apply(change, in: fixture.room)
        }
        try await edit("$1", Wording("second", html: "<b>second</b>", written: Self.second), at: 10)
        try await edit("$1", Wording("second", html: "<b>second</b>"), at: 11)
        #expect(try await storedTexts(fixture) == [Self.second])
        // Another client's edit has no written form; deleting that edit restores the earlier form.
        try await edit("$2", Wording("third"), at: 20)
        #expect(try await storedTexts(fixture) == [nil])
        let redaction = MessageChange(
            id: "$3", target: MessageID("$2"), sender: Fixtures.own.id, at: Fixtures.date, kind: .deletion)
        _ = try await fixture.store.apply(redaction, in: fixture.room)
        #expect(try await storedTexts(fixture) == [Self.second])
        // The first version's written form arrives late.
        _ = try await fixture.store.setWritten(Self.first, of: MessageID("$a"), in: fixture.room)
        #expect(try await storedTexts(fixture) == [Self.second])
        let before = try await fixture.store.revisions(of: MessageID("$a"), in: fixture.room)
        #expect(before.map(\.wording.written) == [Self.first])
    }

    /// Regression: an edit lost its written form if the sync delivered it before the response.
    @Test(arguments: [false, true]) func editSyncedBeforeItsResponseKeepsTheWrittenForm(isLatest: Bool) async throws {
        let fixture = try await StoreFixture()
        _ = try await fixture.store.ingest([new("$a", "first", written: Self.first)], into: fixture.room)
        func edit(_ id: String, _ wording: Wording, at seconds: Double) -> MessageChange {
            MessageChange(
                id: id, target: MessageID("$a"), sender: Fixtures.own.id,
                at: Fixtures.date.addingTimeInterval(seconds), kind: .edit(wording))
        }
        let syncedEdit = edit("$1", Wording("second", html: "<b>second</b>"), at: 10)
        _ = try await fixture.store.apply(syncedEdit, in: fixture.room)
        if !isLatest { _ = try await fixture.store.apply(edit("$2", Wording("third"), at: 20), in: fixture.room) }
        let answered = edit("$1", Wording("second", html: "<b>second</b>", written: Self.second), at: 30)
        let outcome = try await fixture.store.apply(answered, in: fixture.room)
        #expect(outcome.changed.map(\.written) == (isLatest ? [Self.second] : []))
        let now = try await fixture.store.messages(in: fixture.room, before: .max, limit: 10).messages
        let before = try await fixture.store.revisions(of: MessageID("$a"), in: fixture.room)
        let versions = before.map(\.wording.written) + now.map(\.written)
        #expect(versions == [Self.first, Self.second] + (isLatest ? [] : [nil]))
        #expect(now.first?.editedAt == Fixtures.date.addingTimeInterval(isLatest ? 10 : 20), "by the server's clock")
        // Applying it again changes nothing.
        #expect(try await fixture.store.apply(syncedEdit, in: fixture.room).changed.isEmpty)
        #expect(try await fixture.store.revisions(of: MessageID("$a"), in: fixture.room) == before)
    }

    /// Another client's room mention survives edits, also those that arrive before their message.
    @Test func roomMentionsOfOtherClientsSurviveEdits() async throws {
        let fixture = try await StoreFixture()
        func edit(_ id: String, _ wording: Wording, at seconds: Double) async throws {
            let change = MessageChange(
                id: id, target: MessageID("$a"), sender: Fixtures.own.id,
                at: Fixtures.date.addingTimeInterval(seconds), kind: .edit(wording))
            _ = try await fixture.store.apply(change, in: fixture.room)
        }
        func storedMessage() async throws -> Message? {
            let page = try await fixture.store.messages(in: fixture.room, before: .max, limit: 10)
            return page.messages.first
        }
        // The edit arrives before its message.
        try await edit("$1", Wording("@room first", mentionsEveryone: true), at: 10)
        var message = new("$a", "*no*")
        message.mentionsEveryone = true
        let batch = RoomBatch(
            id: fixture.room, name: "Room", createdAt: Fixtures.date, events: [.message(message)], gap: nil)
        let outcome = try await fixture.store.apply(SyncBatch(rooms: [batch], settings: [:]))
        #expect(outcome.first?.changed.map(\.mentionsEveryone) == [true])
        #expect(try await storedMessage()?.text == "@room first")
        #expect(try await storedMessage()?.wording == Wording("@room first", mentionsEveryone: true))
        #expect(try await fixture.summary()?.lastMessage?.syntax == nil, "nothing is known of its form")
        try await edit("$2", Wording("nobody"), at: 20)
        #expect(try await storedMessage()?.mentionsEveryone == false)
        // In text written in Parlance, only the marks determine the mentions.
        let everyone = WrittenText("@room", mentioning: ["@room": .everyone])
        try await edit("$3", Wording("@room", written: everyone), at: 30)
        try await edit("$3", Wording("@room", mentionsEveryone: true), at: 30)
        #expect(try await storedMessage()?.wording == Wording("@room", written: everyone))
        let before = try await fixture.store.revisions(of: MessageID("$a"), in: fixture.room)
        #expect(before.map(\.wording.mentionsEveryone) == [true, true, false])
        _ = try await fixture.store.delete(MessageID("$a"), in: fixture.room, by: Fixtures.own.id)
        #expect(try await count("written", fixture.store) == 0)
    }

    /// The room list needs only a text's syntax, not its written form.
    @Test func roomListKnowsTheSyntaxOfTheLastMessage() async throws {
        let fixture = try await StoreFixture()
        func syntax() async throws -> WrittenText.Syntax? { try await fixture.summary()?.lastMessage?.syntax }
        _ = try await fixture.store.append(new("a", "*a*"), to: fixture.room)
        #expect(try await syntax() == nil)
        var html = new("b", "*a*")
        html.formattedText = "<i>a</i>"
        _ = try await fixture.store.append(html, to: fixture.room)
        #expect(try await syntax() == .markdown)
        for (id, written) in [("c", WrittenText("*a*", syntax: .plain)), ("d", WrittenText("*a*")), ("e", Self.first)] {
            _ = try await fixture.store.append(new(id, "*a*", written: written), to: fixture.room)
            #expect(try await syntax() == written.syntax)
        }
    }

    @Test func unreadableWrittenFormKeepsTheText() async throws {
        let fixture = try await StoreFixture()
        _ = try await fixture.store.append(new("a", "text", written: Self.first), to: fixture.room)
        let behindTheEnd = #"{"content":{"style":{"_0":{"bold":{}}}},"range":{"location":9,"length":9}}"#
        for data in [#"{"syntax":"later"}"#, "no", #"{"marks":[\#(behindTheEnd)]}"#] {
            try await fixture.store.write { db in
                try db.execute(sql: "UPDATE written SET data = ?", arguments: [data])
            }
            let message = try await fixture.store.messages(in: fixture.room, before: .max, limit: 10).messages.first
            #expect(message?.text == "text" && message?.written == nil)
        }
    }
}
