import ChatArchive
import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import LocalBackend
import Testing

/// What was exported as JSON can be brought in again, and what is not there is told.
@Suite(.timeLimit(.minutes(5))) struct RoundTripTests {
    private static let texts = ["*Hello* <b>", "an answer", "東京 👩‍👩‍👧 ||secret||", "```swift\nlet a = 1\n```"]

    /// A room of four messages by two people, one with a file, one deleted behind them.
    private func fixture() async throws -> (ArchiveFixture, RoomID) {
        let fixture = try await ArchiveFixture()
        let room = Room(id: RoomID("room"), name: "Club \"of\" 7", kind: .group)
        let own = Member(id: MemberID("own"), displayName: "Robin", kind: .own)
        let other = Member(id: MemberID("ann"), displayName: "Ann", kind: .person)
        try await fixture.store.createRoom(NewRoom(room: room, members: [own, other], createdAt: Fixtures.date))
        var picture = try await fixture.backend.takeIn(
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
            "👍", isGiven: true, to: MessageID("m0"), in: room.id, by: other.id, at: Fixtures.date)
        _ = try await fixture.store.delete(MessageID("m4"), in: room.id, by: own.id)
        return (fixture, room.id)
    }

    @Test func aRoomComesBack() async throws {
        let (fixture, room) = try await fixture()
        let exported = try await fixture.archive.export(
            room, named: "Club \"of\" 7", as: .json, into: fixture.folder.path("."), progress: { _ in })
        #expect(exported.begins == nil)
        let report = try await fixture.archive.importConversations(from: exported.folder) { _ in }
        let made = try #require(report.conversations.first)
        #expect(made.name == "Club \"of\" 7" && made.messages == Self.texts.count && report.files == 1)
        #expect(report.omissions == [.event("deleted"): 1])
        let before = try await fixture.messages(in: room).dropLast()
        let after = try await fixture.messages(in: made.room)
        #expect(after.map(\.text) == before.map(\.text))
        #expect(after.map(\.sentAt) == before.map(\.sentAt))
        #expect(try await fixture.texts(in: made.room) == (try await fixture.texts(in: room)).dropLast())
        #expect(after[1].replyTo == after[0].id && after[0].reactions.map(\.text) == ["👍"])
        let file = try #require(after[2].attachments.first)
        #expect(file.name == "a b.png" && file.type == "image/png" && file.altText == "A *rose*")
        #expect(try Data(contentsOf: await fixture.backend.content(of: file)) == Data("a picture".utf8))
    }

    /// What a file shows, or what it is called, stands for one that was not at hand.
    @Test func messagesComeBackWithoutTheirFiles() async throws {
        let (fixture, room) = try await fixture()
        var picture = try await fixture.backend.takeIn(
            .data(Data("another".utf8)), named: "c.png", type: "image/png", progress: { _ in })
        for (number, altText) in [nil, "A garden"].enumerated() {
            picture.altText = altText
            let new = NewMessage(
                id: MessageID("p\(number)"), sender: MemberID("ann"), text: "", sentAt: Fixtures.date,
                kind: .image, attachments: [picture])
            _ = try await fixture.store.append(new, to: room)
        }
        let archive = RoomArchive(
            source: PartialSource(backend: fixture.backend, start: 0), destination: fixture.backend)
        let exported = try await archive.export(
            room, named: "Club", as: .json, into: fixture.folder.path("."), progress: { _ in })
        let report = try await archive.importConversations(from: exported.folder) { _ in }
        let messages = try await fixture.messages(in: try #require(report.conversations.first?.room))
        #expect(
            messages.map(\.text) == [Self.texts[0], Self.texts[1], Self.texts[2] + "\nA *rose*", Self.texts[3]] + [
                "c.png", "A garden",
            ])
        #expect(messages.allSatisfy { $0.kind == .text && $0.attachments.isEmpty })
        #expect(report.omissions == [.missingFile: 3, .event("deleted"): 1])
    }

    /// With a server that does not answer, what is here is written, and what is not is told.
    @Test(arguments: ExportFormat.allCases)
    func whatTheServerKeepsIsTold(format: ExportFormat) async throws {
        let (fixture, room) = try await fixture()
        let first = try #require(try await fixture.messages(in: room).dropFirst().first)
        let archive = RoomArchive(
            source: PartialSource(backend: fixture.backend, start: first.position), destination: fixture.backend)
        let report = try await archive.export(
            room, named: "Part", as: format, into: fixture.folder.path("."), progress: { _ in })
        #expect(report.messages == 4 && report.begins == first.sentAt)
        #expect(report.files == 0 && report.missingFiles == 1)
    }
}

/// A backend of which the older part, and all files, are somewhere else.
private struct PartialSource: TimelineService, MediaService {
    let backend: LocalBackend
    let start: Int64

    func fetchHistory(of room: RoomID, progress: @escaping @Sendable (Int) -> Void) async throws -> Int64? { start }
    func timeline(of room: RoomID, limit: Int) -> AsyncStream<TimelineUpdate> {
        backend.timeline(of: room, limit: limit)
    }
    func messages(in room: RoomID, before position: Int64, limit: Int) async throws -> TimelinePage {
        try await backend.messages(in: room, before: position, limit: limit)
    }
    func messages(in room: RoomID, after position: Int64, limit: Int) async throws -> TimelinePage {
        try await backend.messages(in: room, after: position, limit: limit)
    }
    func messages(in room: RoomID, around target: TimelineTarget, limit: Int) async throws -> TimelinePage {
        try await backend.messages(in: room, around: target, limit: limit)
    }
    func messages(_ ids: [MessageID], in room: RoomID) async throws -> [Message] { [] }
    func markRead(_ message: MessageID, in room: RoomID) async throws {}
    func takeIn(
        _ content: MediaContent, named name: String, type: String, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> MediaReference { throw ChatError.notPermitted }
    func content(of media: MediaReference) async throws -> URL {
        Issue.record("asked for a file")
        throw ChatError.notFound
    }
    func contentAtHand(of media: MediaReference) async -> URL? { nil }
    func namedFile(of media: MediaReference) async throws -> URL { throw ChatError.notFound }
}
