import ChatCore
import Foundation
import Testing

/// Saving the content of messages as files.
@Suite struct MediaSavingTests {
    /// Provides a single file, or none.
    private struct Files: MediaService {
        var file: URL?

        func storeMedia(
            _ content: MediaContent, named name: String, type: String,
            progress: @escaping @Sendable (Double) -> Void
        ) async throws -> MediaReference { throw ChatError.notFound }

        func content(of media: MediaReference) async throws -> URL {
            guard let file else { throw ChatError.notFound }
            return file
        }

        func namedFile(of media: MediaReference) async throws -> URL { try await content(of: media) }
    }

    private static let media = MediaReference(uri: "fake:tea", name: "tea.txt", type: "text/plain")

    private func withFolder(_ work: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "parlance-saving-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // A leftover temporary file is harmless.
        defer { try? FileManager.default.removeItem(at: folder) }
        try await work(folder)
    }

    private func names(in folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test("A saved file is writable although the content is read-only, and replaces an existing file")
    func saving() async throws {
        try await withFolder { folder in
            let (content, target) = (folder.appending(path: "content"), folder.appending(path: "tea.txt"))
            try Data("new".utf8).write(to: content)
            try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: content.path)
            try Data("old".utf8).write(to: target)
            try await Files(file: content).save(Self.media, to: target)
            #expect(try String(contentsOf: target, encoding: .utf8) == "new")
            let mode = try FileManager.default.attributesOfItem(atPath: target.path)[.posixPermissions] as? Int
            #expect(mode == 0o644)
            #expect(try names(in: folder) == ["content", "tea.txt"])
        }
    }

    @Test("A failed save keeps an existing file, and leaves nothing next to it")
    func failing() async throws {
        try await withFolder { folder in
            let target = folder.appending(path: "tea.txt")
            try Data("old".utf8).write(to: target)
            await #expect(throws: ChatError.notFound) { try await Files().save(Self.media, to: target) }
            let gone = Files(file: folder.appending(path: "gone"))
            await #expect(throws: ChatError.storage(reason: "a file could not be copied")) {
                try await gone.save(Self.media, to: target)
            }
            #expect(try String(contentsOf: target, encoding: .utf8) == "old")
            #expect(try names(in: folder) == ["tea.txt"])
        }
    }

    @Test("A folder with that name is not replaced")
    func folders() async throws {
        try await withFolder { folder in
            let (content, target) = (folder.appending(path: "content"), folder.appending(path: "tea.txt"))
            try Data("new".utf8).write(to: content)
            try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
            await #expect(throws: ChatError.storage(reason: "a file could not be saved")) {
                try await Files(file: content).save(Self.media, to: target)
            }
            #expect(try names(in: folder) == ["content", "tea.txt"])
        }
    }
}
