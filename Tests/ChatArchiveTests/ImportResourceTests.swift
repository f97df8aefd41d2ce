import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatArchive

/// The cost of an import: buffered memory, and the number of passes over an archive.
@Suite(.timeLimit(.minutes(10))) struct ImportResourceTests {
    private let folder = TemporaryFolder()
    private let service = FakeImportService()

    private func plan(_ data: Data, as name: String) async throws -> ImportPlan {
        let url = folder.path(name)
        try data.write(to: url)
        return try await ImportPlan(of: url, zone: ArchiveFixture.zone) { _ in nil }
    }

    private func importFile(_ plan: ImportPlan) async throws -> ImportReport {
        try await ConversationImporter(plan, service: service, resolveRepeats: { _ in .newRooms }, progress: { _ in })
            .run()
    }

    private func telegram(_ messages: [String]) -> Data {
        Data((#"{"name":"Club","type":"x","messages":["# + messages.joined(separator: ",") + "]}").utf8)
    }

    @Test func longMessagesAreStoredInBoundedBatches() async throws {
        let text = String(repeating: "a", count: 3 << 20)
        let messages = (0..<7).map { number in
            #"{"id":\#(number),"type":"message","date_unixtime":"1682928060","from":"Ann","text":"\#(text)"}"#
        }
        let report = try await importFile(try await plan(telegram(messages), as: "result.json"))
        #expect(report.messages == 7)
        let batches = await service.batches
        #expect(batches.reduce(0, +) == 7 * text.utf8.count)
        #expect(try #require(batches.max()) < ConversationImporter.batchBytes + ChatLimits.messageBytes)
    }

    private func slack(_ messages: [String]) throws -> Data {
        SampleZip.data(of: [
            ("users.json", Data(#"[{"id":"U1","name":"ann"}]"#.utf8)),
            ("general/2024-01-01.json", Data(("[" + messages.joined(separator: ",") + "]").utf8)),
        ])
    }

    private func edit(_ text: String) -> String {
        #"{"type":"message","subtype":"message_changed","ts":"2.0","#
            + #""message":{"user":"U1","ts":"1.0","text":"\#(text)","edited":{"ts":"2.0"}}}"#
    }

    @Test func longEditsAreStoredInBoundedBatches() async throws {
        let first = #"{"type":"message","user":"U1","ts":"1.0","text":"short"}"#
        let texts = (0..<5).map { String(repeating: "\($0)", count: 3 << 20) }
        _ = try await importFile(try await plan(try slack([first] + texts.map(edit)), as: "slack.zip"))
        let changed = await service.changed
        #expect(changed.map(\.kind) == texts.map { .edit(Wording($0)) })
        #expect(try #require(await service.batches.max()) < ConversationImporter.batchBytes + ChatLimits.messageBytes)
    }

    /// Skips messages over the size limit, including those that exceed it only as Markdown.
    @Test func messagesOverTheSizeLimitAreSkipped() async throws {
        let long = String(repeating: "a", count: ChatLimits.messageBytes + 1)
        let marked = String(repeating: "*a* ", count: ChatLimits.messageBytes / 5)
        let messages = ["short", long, marked].enumerated().map { number, text in
            #"{"type":"message","user":"U1","ts":"\#(number + 1).0","text":"\#(text)"}"#
        }
        let all = messages + [edit(long), edit(marked), edit("shorter")]
        let report = try await importFile(try await plan(try slack(all), as: "slack.zip"))
        #expect(report.messages == 1 && report.skippedItems == [.tooLong: 2, .edit: 2])
        #expect(await service.changed.map(\.kind) == [.edit(Wording("shorter"))])
    }

    @Test func unclosedAngleBracketsAreScannedOnlyOnce() {
        let many = String(repeating: "<", count: 1 << 20)
        let directory = SlackParser.Directory(userNames: ["U1": "Ann"])
        #expect(SlackText.markdown(many, directory) == many)
        #expect(SlackText.markdown("<@U1>: 1 < 2 *so* a<b", directory) == "@Ann: 1 < 2 **so** a<b")
    }

    /// Messages reference the archive's files in a different order than they are stored in, one of them repeatedly.
    @Test func archiveIsScannedOncePerBatch() async throws {
        let count = 300
        let files = (0..<count).map { ("photos/\($0).png", Data("picture \($0)".utf8)) }
        let messages = (0..<2 * count).map { number in
            let file = number < count ? count - 1 - number : 7
            return #"{"id":\#(number),"type":"message","date_unixtime":"1682928060","from":"Ann","#
                + #""photo":"photos/\#(file).png","text":"\#(file)"}"#
        }
        let zip = SampleZip.data(of: files + [("result.json", telegram(messages))])
        let plan = try await plan(zip, as: "telegram.zip")
        let report = try await importFile(plan)
        #expect(report.messages == 2 * count && report.files == 2 * count && report.skippedItems.isEmpty)
        let archive = try #require(plan.files as? ZipFiles)
        #expect(archive.openings <= 3, "to know it, to read it, and for its files")
    }

    /// Opens a file while another one is open.
    @Test func archiveEntriesCanBeReadInAnyOrder() async throws {
        let names = (0..<10).map { "\($0).txt" }
        let url = folder.path("any.zip")
        try SampleZip.data(of: names.map { ($0, Data($0.utf8)) }).write(to: url)
        let files = try ZipFiles(url)
        var read: [String] = []
        try await files.read(names) { path, reader in
            var reader = reader
            let other = try await files.content(of: names[9 - read.count], limit: 100)
            #expect(other == Data(names[9 - read.count].utf8))
            read.append(String(decoding: try reader.read(100), as: UTF8.self))
        }
        #expect(read == names)
        #expect(try await files.content(of: "none", limit: 100) == nil)
        await #expect(throws: ArchiveError.unreadable(path: "none")) { try await files.read(["none"]) { _, _ in } }
        let before = files.openings
        for name in names { #expect(try await files.content(of: name, limit: 100) == Data(name.utf8)) }
        #expect(files.openings <= before + 1)
    }
}
