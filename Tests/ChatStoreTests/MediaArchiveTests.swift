import ChatCore
import ChatTestSupport
import Foundation
import Glibc
import Synchronization
import Testing

@testable import ChatStore

@Suite("Media archive") struct MediaArchiveTests {
    private let folder = TemporaryFolder()
    private var archive: MediaArchive { MediaArchive(folder: folder.path("media"), limit: 5_000_000) }

    private func file(_ name: String, _ data: Data) throws -> URL {
        try data.write(to: folder.path(name))
        return folder.path(name)
    }

    private static func bytes(_ count: Int) -> Data { Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }) }

    @Test("Content is stored byte for byte under its SHA-256, read-only and accessible only to the user")
    func storesContentByDigest()
        async throws
    {
        let data = Self.bytes(3_000_000)
        let reported = Mutex<[Double]>([])
        let entry = try await archive.store(.file(file("a", data))) { part in reported.withLock { $0.append(part) } }
        #expect(entry.bytes == data.count)
        let url = try #require(archive.url(of: entry.digest))
        #expect(try Data(contentsOf: url) == data)
        let rights = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
        #expect(rights == 0o400)
        let progress = reported.withLock { $0 }
        #expect(progress == progress.sorted() && progress.last == 1 && progress.count == 3)
        // The SHA-256 test vector for "abc".
        let abc = try await archive.store(.data(Data("abc".utf8))) { _ in }
        #expect(abc.digest == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test("The same content is stored once") func storesEqualContentOnce() async throws {
        let first = try await archive.store(.data(Self.bytes(10))) { _ in }
        let second = try await archive.store(.file(file("b", Self.bytes(10)))) { _ in }
        #expect(first == second)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("media/incoming").path).isEmpty)
    }

    @Test("A rejected file leaves nothing behind", arguments: ["missing", "folder", "pipe", "large"])
    func rejectsUnusableFiles(what: String) async throws {
        let url = folder.path(what)
        switch what {
        case "folder": try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        case "pipe": mkfifo(url.path, 0o600)
        case "large": try Self.bytes(5_000_001).write(to: url)
        default: break
        }
        let expected: ChatError = what == "large" ? .fileTooLarge(limit: 5_000_000) : .unreadableFile
        await #expect(throws: expected) { try await archive.store(.file(url)) { _ in } }
        // The folder does not exist before the first file.
        let left = (try? FileManager.default.contentsOfDirectory(atPath: folder.path("media/incoming").path)) ?? []
        #expect(left.isEmpty)
    }

    @Test("A canceled copy stops and leaves nothing behind") func canceledCopyLeavesNothing() async throws {
        let source = try file("a", Self.bytes(4_000_000))
        let archive = archive
        let task = Task {
            try await archive.store(.file(source)) { _ in withUnsafeCurrentTask { $0?.cancel() } }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("media/incoming").path).isEmpty)
    }

    @Test("Invalid digests never name a path outside the archive", arguments: ["", "../../etc/passwd", "ab", "AB"])
    func invalidDigestsNameNoFile(digest: String) {
        #expect(archive.url(of: digest) == nil)
    }

    @Test("A sweep deletes only old, unreferenced files") func sweepRemovesOldUnusedFiles() async throws {
        let used = try await archive.store(.data(Data("used".utf8))) { _ in }
        let unused = try await archive.store(.data(Data("unused".utf8))) { _ in }
        #expect(try await archive.sweep(before: .distantPast) { _ in false } == 0)
        let count = try await archive.sweep(before: .distantFuture) { $0 == used.digest }
        #expect(count == 1)
        #expect(archive.url(of: used.digest) != nil && archive.url(of: unused.digest) == nil)
    }

    @Test(
        "A named file has the content and a safe name",
        arguments: [
            ("a.pdf", "a.pdf"), ("../../x.sh", "_.._x.sh"), ("/", "_"), (".hidden", "hidden"), ("", "file"),
            ("photo\u{202E}gnp.exe", "photognp.exe"), ("a\0b\n.txt", "ab.txt"), ("Käse 🧀.png", "Käse 🧀.png"),
        ])
    func namedFileHasASafeName(name: String, expected: String) async throws {
        let entry = try await archive.store(.data(Data("x".utf8))) { _ in }
        let url = try await archive.named(name, entry.digest)
        #expect(url.lastPathComponent == expected)
        #expect(url.deletingLastPathComponent().path.hasPrefix(folder.path("media").path))
        #expect(try Data(contentsOf: url) == Data("x".utf8))
        let long = try await archive.named(String(repeating: "ä", count: 400) + ".jpeg", entry.digest)
        #expect(long.lastPathComponent.utf8.count <= 200 && long.pathExtension == "jpeg")
    }
}
