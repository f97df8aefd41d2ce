import ChatArchive
import ChatCore
import ChatStore
import ChatTestSupport
import Composer
import Foundation
import LocalBackend
import Testing

/// Exported rooms can be imported again, and losses are reported.
@Suite(.timeLimit(.minutes(10))) struct RoundTripTests {
    private static let texts = ["*Hello* <b>", "an answer", "東京 👩‍👩‍👧 ||secret||", "```swift\nlet a = 1\n```"]

    /// Creates a room of four messages by two people, one with a file, and a deleted message after them.
    private func fixture() async throws -> (ArchiveFixture, RoomID) {
        let fixture = try await ArchiveFixture()
        let room = Room(id: RoomID("room"), name: "Club \"of\" 7", kind: .group)
        let own = Member(id: MemberID("own"), displayName: "Robin", kind: .own)
        let other = Member(id: MemberID("ann"), displayName: "Ann", kind: .person)
        try await fixture.store.createRoom(NewRoom(room: room, members: [own, other], createdAt: Fixtures.date))
        var picture = try await fixture.backend.storeMedia(
            .data(Data("a picture".utf8)), named: "a b.png", type: "image/png", progress: { _ in })
        picture.altText = "A *rose*"
        for (number, text) in (Self.texts + ["deleted"]).enumerated() {
            let new = NewMessage(
                id: MessageID("m\(number)"), sender: number % 2 == 0 ? own.id : other.id, text: text,
                sentAt: Fixtures.date.addingTimeInterval(Double(number) * 3600),
                replyTo: number == 1 ? MessageID("m0") : nil, attachments: number == 2 ? [picture] : [])
            _ = try await fixture.store.append(new, to: room.id)
        }
        _ = try await fixture.store.setReaction(
            "👍", isAdded: true, to: MessageID("m0"), in: room.id, by: other.id, at: Fixtures.date)
        _ = try await fixture.store.delete(MessageID("m4"), in: room.id, by: own.id)
        return (fixture, room.id)
    }

    @Test(arguments: [ExportFormat.json, .html])
    func exportedRoomSurvivesARoundTrip(format: ExportFormat) async throws {
        let (fixture, room) = try await fixture()
        let exported = try await fixture.archive.export(
            room, named: "Club \"of\" 7", as: format, into: fixture.folder.path("."), progress: { _ in })
        #expect(exported.startDate == nil)
        let report = try await fixture.archive.importConversations(from: exported.folder) { _ in }
        let made = try #require(report.conversations.first)
        #expect(made.name == "Club \"of\" 7" && made.messages == Self.texts.count && report.files == 1)
        #expect(report.skippedItems == [.event("deleted"): 1])
        let before = try await fixture.messages(in: room).dropLast()
        let after = try await fixture.messages(in: made.room)
        #expect(after.map(\.text) == before.map(\.text))
        #expect(after.map(\.sentAt) == before.map(\.sentAt))
        #expect(after.allSatisfy { $0.formattedText == nil && $0.written == nil }, "Markdown stays that")
        #expect(try await fixture.texts(in: made.room) == (try await fixture.texts(in: room)).dropLast())
        #expect(after[1].replyTo == after[0].id && after[0].reactions.map(\.text) == ["👍"])
        let file = try #require(after[2].attachments.first)
        #expect(file.name == "a b.png" && file.type == "image/png" && file.altText == "A *rose*")
        #expect(try Data(contentsOf: await fixture.backend.content(of: file)) == Data("a picture".utf8))
    }

    /// Formatting, mentions, earlier revisions, and waveforms survive the round trip.
    @Test(arguments: [ExportFormat.json, .html])
    func allMessageDetailsSurviveARoundTrip(format: ExportFormat) async throws {
        let fixture = try await ArchiveFixture()
        let room = Room(id: RoomID("room"), name: "Club -- <!-- --> </script>", kind: .group)
        let own = Member(id: MemberID("own"), displayName: "Robin", kind: .own)
        let ann = Member(id: MemberID("ann"), displayName: "Ann", kind: .person)
        try await fixture.store.createRoom(NewRoom(room: room, members: [own, ann], createdAt: Fixtures.date))
        var voice = try await fixture.backend.storeMedia(
            .data(Data("a voice".utf8)), named: "voice.ogg", type: "audio/ogg", progress: { _ in })
        (voice.loudness, voice.duration, voice.blurHash) = ([0, 512, 1024], 3000, "LEHV6nWB2yk8")
        let pill = "<a href=\"https://matrix.to/#/@ann:a.example\">*Ann*</a> &amp; <b>bold</b> <!-- x -->"
        let said: [(text: String, html: String?)] = [
            ("*Ann* & **bold**", pill), ("2*3*4 -- *x*", "2*3*4 -- *x*"), ("third", nil), ("fourth", "<u>fourth</u>"),
        ]
        _ = try await fixture.store.append(
            NewMessage(
                id: MessageID("m0"), sender: own.id, text: said[0].text, sentAt: Fixtures.date,
                formattedText: said[0].html), to: room.id)
        for (number, version) in said.enumerated().dropFirst() {
            _ = try await fixture.store.edit(
                MessageID("m0"), in: room.id, to: Wording(version.text, html: version.html), by: own.id,
                at: Fixtures.date.addingTimeInterval(Double(number)))
        }
        _ = try await fixture.store.append(
            NewMessage(
                id: MessageID("m1"), sender: own.id, text: said[0].text, sentAt: Fixtures.date, kind: .audio,
                formattedText: pill, attachments: [voice]), to: room.id)
        let marks = [
            WrittenText.Mark(.mention(.member("ann")), over: TextRange(location: 0, length: 3)),
            WrittenText.Mark(.mention(.everyone), over: TextRange(location: 4, length: 5)),
            WrittenText.Mark(.style(.underline), over: TextRange(location: 10, length: 1)),
            WrittenText.Mark(.mention(.member("own")), over: TextRange(location: 12, length: 2)),
        ]
        let written = try #require(WrittenText("*a* @room x me", marks: marks))
        _ = try await fixture.store.append(
            NewMessage(
                id: MessageID("m2"), sender: own.id, text: written.source, sentAt: Fixtures.date, written: written),
            to: room.id)
        let exported = try await fixture.archive.export(
            room.id, named: room.name, as: format, into: fixture.folder.path("."), progress: { _ in })
        let report = try await fixture.archive.importConversations(from: exported.folder) { _ in }
        let made = try #require(report.conversations.first)
        #expect(made.name == room.name && report.skippedItems.isEmpty)
        let messages = try await fixture.messages(in: made.room)
        #expect(messages.map(\.text) == [said[3].text, said[0].text, written.source])
        #expect(messages.map(\.formattedText) == [said[3].html, pill, nil])
        // Imported mentions refer to the imported members.
        #expect(
            messages[2].written?.mentions.map(\.target.id) == ["import-ann", "@room", LocalBackend.ownUserID.rawValue])
        #expect(messages[2].written?.marks.map(\.range) == marks.map(\.range))
        #expect(try await fixture.store.members(of: made.room).contains { $0.displayName == "Ann" })
        #expect(messages[0].editedAt == Fixtures.date.addingTimeInterval(3))
        let revisions = try await fixture.store.revisions(of: messages[0].id, in: made.room)
        #expect(revisions == (try await fixture.store.revisions(of: MessageID("m0"), in: room.id)))
        #expect(revisions.map(\.text) == said.dropLast().map(\.text))
        let file = try #require(messages[1].attachments.first)
        #expect(file.loudness == [0, 512, 1024] && file.duration == 3000 && file.blurHash == voice.blurHash)
        #expect(messages[1].kind == .audio && messages[0].written == nil)
    }

    /// Exports contain no times of reactions, only their order.
    @Test(arguments: [ExportFormat.json, .html])
    func orderOfReactionsSurvivesARoundTrip(format: ExportFormat) async throws {
        let (fixture, room) = try await fixture()
        let (own, ann) = (MemberID("own"), MemberID("ann"))
        // Of reactions with the same time, the store returns those of the user first.
        for (number, (text, member)) in [("🎉", ann), ("👍", own), ("🎉", own)].enumerated() {
            _ = try await fixture.store.setReaction(
                text, isAdded: true, to: MessageID("m1"), in: room, by: member,
                at: Fixtures.date.addingTimeInterval(7200 + Double(number)))
        }
        let exported = try await fixture.archive.export(
            room, named: "Club", as: format, into: fixture.folder.path("."), progress: { _ in })
        let report = try await fixture.archive.importConversations(from: exported.folder) { _ in }
        let messages = try await fixture.messages(in: try #require(report.conversations.first?.room))
        let importedAnn = MemberID("import-ann")
        #expect(
            messages[1].reactions == [
                Reaction(text: "🎉", senders: [importedAnn, LocalBackend.ownUserID]),
                Reaction(text: "👍", senders: [LocalBackend.ownUserID]),
            ])
    }

    /// An HTML page with truncated or modified metadata comments is rejected and never crashes.
    @Test(arguments: [
        "<!--parlance:-->", "<!--parlance:{}-->", "<!--parlance:{\"format\":\"parlance-room\"}",
        "<!--parlance:x--><!--parlance:y-->",
        "<<!--parlance:{\"name\":\"a\"}--><!--parlance:{\"id\":1}-->",
    ])
    func malformedPagesAreRejected(page: String) async throws {
        let fixture = try await ArchiveFixture()
        let file = try fixture.write(Data(page.utf8), as: "messages.html")
        await #expect(throws: ArchiveError.self) { try await fixture.archive.importConversations(from: file) { _ in } }
        #expect(try await fixture.roomNames() == ["Notes", "Welcome"])
    }

    /// A description or the file name replaces an unavailable file.
    @Test func messagesWithMissingFilesSurviveARoundTrip() async throws {
        let (fixture, room) = try await fixture()
        var picture = try await fixture.backend.storeMedia(
            .data(Data("another".utf8)), named: "c.png", type: "image/png", progress: { _ in })
        for (number, altText) in [nil, "A garden"].enumerated() {
            picture.altText = altText
            let new = NewMessage(
                id: MessageID("p\(number)"), sender: MemberID("ann"), text: "", sentAt: Fixtures.date,
                kind: .image, attachments: [picture])
            _ = try await fixture.store.append(new, to: room)
        }
        let archive = RoomArchive(
            source: PartialSource.unreachable(behind: 0, fixture.backend), destination: fixture.backend)
        let exported = try await archive.export(
            room, named: "Club", as: .json, into: fixture.folder.path("."), progress: { _ in })
        let report = try await archive.importConversations(from: exported.folder) { _ in }
        let messages = try await fixture.messages(in: try #require(report.conversations.first?.room))
        #expect(
            messages.map(\.text) == [Self.texts[0], Self.texts[1], Self.texts[2] + "\nA *rose*", Self.texts[3]] + [
                "c.png", "A garden",
            ])
        #expect(messages.allSatisfy { $0.kind == .text && $0.attachments.isEmpty })
        #expect(report.skippedItems == [.missingFile: 3, .event("deleted"): 1])
    }

    /// If the server does not respond, the export contains what is stored locally and reports what is missing.
    @Test(arguments: ExportFormat.allCases)
    func messagesMissingFromTheServerAreReported(format: ExportFormat) async throws {
        let (fixture, room) = try await fixture()
        let first = try #require(try await fixture.messages(in: room).dropFirst().first)
        let archive = RoomArchive(
            source: PartialSource.unreachable(behind: first.position, fixture.backend), destination: fixture.backend)
        let report = try await archive.export(
            room, named: "Part", as: format, into: fixture.folder.path("."), progress: { _ in })
        #expect(report.messages == 4 && report.startDate == first.sentAt)
        #expect(report.files == 0 && report.missingFiles == 0 && report.unloadedFiles == 1)
    }
}
