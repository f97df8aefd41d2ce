import ChatArchive
import ChatCore
import ChatTestSupport
import Foundation
import Testing

/// Exports with attachments that are named like the file by which an export is recognized.
@Suite(.timeLimit(.minutes(10))) struct MainFileTests {
    /// The names that samples of a single file have in an export with attachments.
    private static let mainFiles = [
        "element.json": "export.json", "whatsapp-ios-us.txt": "_chat.txt",
        "WhatsApp Chat with Familie.txt": "WhatsApp Chat with Familie.txt",
    ]

    /// Imports each export without and with the attachment, also from inside of an extra folder.
    @Test(arguments: [
        ("telegram", "files/users.json"), ("telegram", "files/channels.json"), ("telegram", "files/result.json"),
        ("telegram", "files/export.json"), ("telegram", "files/_chat.txt"), ("telegram", "messages.html"),
        ("element.json", "files/export.json"), ("element.json", "files/WhatsApp.txt"),
        ("whatsapp-ios-us.txt", "export.json"), ("whatsapp-ios-us.txt", "users.json"),
        ("WhatsApp Chat with Familie.txt", "export.json"), ("WhatsApp Chat with Familie.txt", "result.json"),
        ("slack", "__uploads/F1/users.json"), ("slack", "__uploads/F1/channels.json"),
        ("slack", "__uploads/F1/result.json"), ("slack", "__uploads/F1/_chat.txt"),
    ])
    func attachmentsAreNotImportedAsExports(export: String, attachment: String) async throws {
        let folder = TemporaryFolder()
        let copy = folder.path("copy")
        let sample = try ArchiveFixture.export(export)
        if let name = Self.mainFiles[export] {
            try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
            try FileManager.default.copyItem(at: sample, to: copy.appending(path: name))
        } else {
            try FileManager.default.copyItem(at: sample, to: copy)
        }
        let before = try await [ImportedSample(copy), ImportedSample(folder.url)]
        let file = copy.appending(path: attachment)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("no export".utf8).write(to: file)
        let after = try await [ImportedSample(copy), ImportedSample(folder.url)]
        #expect(after == before)
    }

    /// In an archive, attachments may precede the main file.
    @Test func attachmentsInAnArchiveAreNotImportedAsExports() async throws {
        let fixture = try await ArchiveFixture()
        let result = try Data(contentsOf: ArchiveFixture.export("telegram/result.json"))
        let zip = SampleZip.data(of: [
            ("ChatExport/files/users.json", Data("no export".utf8)),
            ("ChatExport/files/result.json", Data("no export".utf8)), ("ChatExport/result.json", result),
        ])
        let report = try await fixture.archive.importConversations(from: fixture.write(zip, as: "any.zip")) { _ in }
        #expect(report.conversations.map(\.name) == ["Bike Club"])
    }
}

/// The result of importing a sample into an empty store.
private struct ImportedSample: Equatable {
    /// The messages of each conversation, by its name.
    var texts: [String: [String]]
    var files: Int
    var skippedItems: [ImportReport.SkippedItem: Int]

    init(_ url: URL) async throws {
        let fixture = try await ArchiveFixture()
        let report = try await fixture.archive.importConversations(from: url) { _ in }
        var texts: [String: [String]] = [:]
        for conversation in report.conversations {
            texts[conversation.name] = try await fixture.texts(in: conversation.room)
        }
        self.texts = texts
        files = report.files
        skippedItems = report.skippedItems
    }
}
