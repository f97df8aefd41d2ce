import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import LocalBackend
import Testing

@testable import ChatArchive

/// Exports of encrypted rooms say that they are not encrypted, and what they lack.
@Suite(.timeLimit(.minutes(10))) struct EncryptedExportTests {
    private static let own = Member(id: MemberID("own"), displayName: "Robin", kind: .own)
    private static let other = Member(id: MemberID("ann"), displayName: "Ann", kind: .person)
    private static let room = RoomID("room")

    /// Exports a room with two messages of Robin, the second of which was edited two seconds after it was sent.
    private func export(
        _ format: ExportFormat, isEncrypted: Bool?, edits: [MessageID: SealReason] = [:], in fixture: ArchiveFixture
    ) async throws -> (folder: URL, text: String) {
        try await fixture.store.createRoom(
            NewRoom(
                room: Room(id: Self.room, name: "Room", kind: .group), members: [Self.own, Self.other],
                createdAt: Fixtures.date))
        for id in ["m1", "m2"] {
            let new = NewMessage(id: MessageID(id), sender: Self.own.id, text: "at 5", sentAt: Fixtures.date)
            _ = try await fixture.store.append(new, to: Self.room)
        }
        _ = try await fixture.store.edit(
            MessageID("m2"), in: Self.room, to: Wording("at 6"), by: Self.own.id,
            at: Fixtures.date.addingTimeInterval(2))
        let archive = RoomArchive(
            source: EncryptedSource(backend: fixture.backend, answer: isEncrypted, edits: edits),
            destination: fixture.backend, zone: ArchiveFixture.zone)
        let report = try await archive.export(
            Self.room, named: "Room", as: format, into: fixture.folder.path("."), progress: { _ in })
        let file = report.folder.appending(path: "messages.\(format.fileExtension)")
        return (report.folder, String(decoding: try Data(contentsOf: file), as: UTF8.self))
    }

    @Test(
        "The export of a room that is or may be encrypted says before the messages that it is not encrypted",
        arguments: ExportFormat.allCases, [true, false, nil] as [Bool?])
    func warning(_ format: ExportFormat, isEncrypted: Bool?) async throws {
        let fixture = try await ArchiveFixture()
        let (folder, text) = try await export(format, isEncrypted: isEncrypted, in: fixture)
        let warning = text.range(of: "This room is encrypted, but this file is not")
        #expect((warning != nil) == (isEncrypted != false))
        if let warning {
            let message = try #require(text.range(of: "at 5"))
            #expect(warning.lowerBound < message.lowerBound)
            #expect(format != .html || text.contains("<strong>This room is encrypted"))
        }
        guard format != .markdown else { return }
        let report = try await fixture.archive.importConversations(from: folder) { _ in }
        #expect(report.messages == 2 && report.skippedItems.isEmpty)
    }

    @Test("A message whose latest edit could not be read says so, and why", arguments: ExportFormat.allCases)
    func unreadableEdit(_ format: ExportFormat) async throws {
        let fixture = try await ArchiveFixture()
        let (folder, text) = try await export(
            format, isEncrypted: true, edits: [MessageID("m1"): .noKey], in: fixture)
        let sentence =
            format == .json
            ? "\"unreadableEdit\":\"noKey\"" : "A later edit is missing. Not readable: its key has not come."
        #expect(text.components(separatedBy: sentence).count == 2)
        guard format != .markdown else { return }
        let report = try await fixture.archive.importConversations(from: folder) { _ in }
        #expect(report.messages == 2 && report.skippedItems.isEmpty)
    }
}

/// A backend whose room is encrypted; `nil` if that is not known.
private struct EncryptedSource: TimelineService, MediaService, AnnotationService, RoomCapabilityService {
    let backend: LocalBackend
    let answer: Bool?
    let edits: [MessageID: SealReason]

    func isEncrypted(_ room: RoomID) async throws -> Bool {
        guard let answer else { throw ChatError.unreachable }
        return answer
    }
    func revisions(of message: MessageID, in room: RoomID) async throws -> [MessageRevision] {
        try await backend.revisions(of: message, in: room)
    }
    func timeline(of room: RoomID, limit: Int) -> AsyncStream<TimelineUpdate> {
        backend.timeline(of: room, limit: limit)
    }
    func messages(in room: RoomID, before position: Int64, limit: Int) async throws -> TimelinePage {
        try await backend.messages(in: room, before: position, limit: limit)
    }
    func messages(in room: RoomID, after position: Int64, limit: Int) async throws -> TimelinePage {
        var page = try await backend.messages(in: room, after: position, limit: limit)
        for index in page.messages.indices { page.messages[index].unreadableEdit = edits[page.messages[index].id] }
        return page
    }
    func messages(in room: RoomID, around target: TimelineTarget, limit: Int) async throws -> TimelinePage {
        try await backend.messages(in: room, around: target, limit: limit)
    }
    func messages(_ ids: [MessageID], in room: RoomID) async throws -> [Message] { [] }
    func markRead(_ message: MessageID, in room: RoomID) async throws {}
    func storeMedia(
        _ content: MediaContent, named name: String, type: String, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> MediaReference { throw ChatError.notPermitted }
    func content(of media: MediaReference) async throws -> URL { throw ChatError.notFound }
    func cachedContent(of media: MediaReference) async -> URL? { nil }
    func namedFile(of media: MediaReference) async throws -> URL { throw ChatError.notFound }
}
