import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatArchive

/// Imports of messages that do not fit as they are.
@Suite(.timeLimit(.minutes(10))) struct IncompleteImportTests {
    /// Writes an export of this program.
    private func write(
        _ messages: [String], members: String = #"{"id":"own","name":"Robin","kind":"own"}"#, files: Int = 0,
        in fixture: ArchiveFixture
    ) throws -> URL {
        let folder = fixture.folder.path("export")
        try FileManager.default.createDirectory(
            at: folder.appending(path: "media"), withIntermediateDirectories: true)
        for number in 0..<files {
            try Data("\(number)".utf8).write(to: folder.appending(path: "media/\(number).txt"))
        }
        let text =
            #"{"format":"\#(JSONExport.format)","version":2,"id":"r","name":"Files","#
            + #""members":[\#(members)],"messages":["# + messages.joined(separator: ",") + "]}"
        try Data(text.utf8).write(to: folder.appending(path: JSONExport.fileName))
        return folder
    }

    private func message(_ id: String, by sender: String = "own", text: String, files: Int = 0) -> String {
        let list = (0..<files).map { #"{"path":"media/\#($0).txt","name":"\#($0).txt","type":"text/plain"}"# }
        return #"{"id":"\#(id)","sender":"\#(sender)","sentAt":"2026-01-02T03:04:05.678Z","text":"\#(text)","#
            + #""files":["# + list.joined(separator: ",") + "]}"
    }

    @Test("Of more files than a message can have, the first are attached and the names of the others remain")
    func manyFiles() async throws {
        let fixture = try await ArchiveFixture()
        let url = try write([message("1", text: "All", files: 12)], files: 12, in: fixture)
        let report = try await fixture.archive.importConversations(from: url) { _ in }
        let room = try #require(report.conversations.first).room
        let imported = try #require(try await fixture.messages(in: room).first)
        #expect(imported.attachments.map(\.name) == (0..<ChatLimits.attachments).map { "\($0).txt" })
        #expect(imported.text == "All\n10.txt\n11.txt")
        #expect(report.messages == 1 && report.files == ChatLimits.attachments)
        #expect(report.skippedItems == [.missingFile: 2])
    }

    @Test("A message that cannot be stored is counted as skipped")
    func invalidMessage() async throws {
        let fixture = try await ArchiveFixture()
        let url = try write([message("1", text: " "), message("2", text: "Text")], in: fixture)
        let report = try await fixture.archive.importConversations(from: url) { _ in }
        #expect(report.messages == 1 && report.skippedItems == [.incomplete("text"): 1])
    }

    @Test(
        "Where the export says who the user is, others with the same name are other people", arguments: [true, false])
    func sameName(isOwnerIdentified: Bool) async throws {
        let fixture = try await ArchiveFixture()
        let kind = isOwnerIdentified ? "own" : "person"
        let url = try write(
            [message("1", by: "b", text: "From the other"), message("2", by: "a", text: "Mine")],
            members: #"{"id":"a","name":"Robin","kind":"\#(kind)"},{"id":"b","name":"Robin","kind":"person"}"#,
            in: fixture)
        let report = try await fixture.archive.importConversations(from: url) { _ in }
        let room = try #require(report.conversations.first).room
        let senders = try await fixture.messages(in: room).map(\.sender)
        #expect(senders == [isOwnerIdentified ? MemberID("import-b") : MemberID("own"), MemberID("own")])
    }
}
