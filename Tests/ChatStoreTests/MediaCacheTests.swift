import ChatCore
import ChatTestSupport
import Foundation
import Synchronization
import Testing

@testable import ChatStore

@Suite(.timeLimit(.minutes(10))) struct MediaCacheTests {
    /// A cache limited to 1,000 bytes, with a manual clock.
    private final class Cache {
        let fixture: StoreFixture
        let cache: MediaCache
        let time = Box(Fixtures.date)
        var folder: URL { fixture.folder.path("media") }

        init(_ fixture: StoreFixture) {
            self.fixture = fixture
            let time = time
            cache = MediaCache(
                folder: fixture.folder.path("media"), index: fixture.store,
                limits: MediaCache.Limits(total: 1000, age: 60 * 86400), now: { time.date })
        }

        var files: [String] {
            // The folder does not exist before the first file.
            ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
        }

        /// Stores content as if it had been downloaded.
        @discardableResult func keep(_ content: Data, as uri: String) async throws -> URL {
            let file = fixture.folder.path(UUID().uuidString)
            try content.write(to: file)
            let stored = try await cache.store(file, as: uri)
            #expect(try Data(contentsOf: stored) == content)
            return stored
        }

        func content(of uri: String) async throws -> Data? {
            try await cache.file(of: uri).map { try Data(contentsOf: $0) }
        }
    }

    private final class Box: Sendable {
        private let value: Mutex<Date>
        init(_ date: Date) { value = Mutex(date) }
        var date: Date { value.withLock { $0 } }
        func advance(_ seconds: TimeInterval) { value.withLock { $0 += seconds } }
    }

    private func content(_ byte: UInt8, _ count: Int = 300) -> Data { Data(repeating: byte, count: count) }

    @Test("a purge leaves a file whose index entry is still being written") func purgeSparesArrivingFiles() async throws
    {
        let cache = Cache(try await StoreFixture())
        let (media, index) = (cache.cache, cache.fixture.store)
        let file = cache.fixture.folder.path("download")
        try Data("arriving".utf8).write(to: file)
        let isWriting = DispatchSemaphore(value: 0)
        let mayWrite = DispatchSemaphore(value: 0)
        async let other: Void = index.writeCache { _ in
            isWriting.signal()
            mayWrite.wait()
        }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                isWriting.wait()
                continuation.resume()
            }
        }
        async let stored = media.store(file, as: "mxc://a/1")
        while cache.files.isEmpty { await Task.yield() }
        try await media.purge()
        mayWrite.signal()
        try await other
        _ = try await stored
        #expect(try await cache.content(of: "mxc://a/1") == Data("arriving".utf8))
    }

    @Test func defaultLimitsAreTheProductLimits() {
        #expect(MediaCache.Limits() == .init(total: 419_430_400, age: 5_184_000))
    }

    @Test func contentIsDeduplicatedAndPrivateToTheUser() async throws {
        let cache = Cache(try await StoreFixture())
        #expect(try await cache.content(of: "a") == nil)
        for uri in ["a", "b"] { try await cache.keep(Data("abc".utf8), as: uri) }
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        #expect(cache.files == [digest])
        #expect(try await cache.content(of: "b") == Data("abc".utf8))
        let path = cache.folder.appendingPathComponent(digest).path
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        try await cache.keep(Data("other".utf8), as: "a")
        #expect(cache.files.count == 2)
        #expect(try await cache.content(of: "b") == Data("abc".utf8))
    }

    /// The digest is verified once per start, the size on every access.
    @Test(arguments: [(Data(), false), (Data("abd".utf8), true), (Data("abcd".utf8), false)])
    func contentModifiedOnDiskIsDiscarded(_ changed: Data, afterStart: Bool) async throws {
        let before = Cache(try await StoreFixture())
        try await before.keep(Data("abc".utf8), as: "a")
        try changed.write(to: before.folder.appendingPathComponent(before.files[0]))
        let cache = afterStart ? Cache(before.fixture) : before
        #expect(try await cache.content(of: "a") == nil)
        #expect(cache.files == [])
        try await cache.keep(Data("abc".utf8), as: "a")
        #expect(try await cache.content(of: "a") == Data("abc".utf8))
    }

    /// A file larger than the limit stays, if need be alone, until the next one is stored.
    @Test func oversizedFileIsEvictedByTheNextOne() async throws {
        let cache = Cache(try await StoreFixture())
        try await cache.keep(content(1), as: "small")
        try await cache.keep(content(2, 2000), as: "large")
        #expect(try await cache.content(of: "large") == content(2, 2000))
        #expect(try await cache.content(of: "small") == nil)
        try await cache.keep(content(3), as: "next")
        #expect(try await cache.content(of: "large") == nil)
        #expect(cache.files.count == 1)
    }

    @Test func evictsTheLeastRecentlyUsedContent() async throws {
        let cache = Cache(try await StoreFixture())
        for byte in UInt8(1)...3 {
            try await cache.keep(content(byte), as: "\(byte)")
            cache.time.advance(1)
        }
        #expect(try await cache.content(of: "1") != nil)
        try await cache.keep(content(4), as: "4")
        #expect(try await cache.content(of: "2") == nil)
        for byte in [UInt8(1), 3, 4] { #expect(try await cache.content(of: "\(byte)") == content(byte)) }
        #expect(cache.files.count == 3)
    }

    @Test("Content under several addresses counts once, as long as one of them is left")
    func sharedContentCountsOnce() async throws {
        let cache = Cache(try await StoreFixture())
        let all: [(byte: UInt8, uri: String)] = [(1, "1"), (1, "2"), (2, "3"), (3, "3"), (4, "4")]
        for (byte, uri) in all {
            try await cache.keep(content(byte), as: uri)
            cache.time.advance(1)
        }
        for uri in ["1", "2", "3", "4"] { #expect(try await cache.content(of: uri) != nil) }
        cache.time.advance(1)
        try await cache.keep(content(5), as: "5")
        #expect(cache.files.count == 3)
        #expect(try await cache.content(of: "5") == content(5))
    }

    @Test("The size of the cache is counted at the start, and not with each file")
    func sizeIsCountedOnce() async throws {
        let cache = Cache(try await StoreFixture())
        try await cache.keep(content(1), as: "1")
        // What only a count would find.
        let other = MediaEntry(uri: "other", digest: MediaDigest(of: content(2)), bytes: 900, usedAt: Fixtures.date)
        _ = try await cache.fixture.store.writeCache { db -> MediaEntry? in
            var table = MediaTable(db: db)
            return try table.put(other)
        }
        func isListed() async throws -> Bool {
            try await cache.fixture.store.read { db in try MediaTable(db: db).entry(of: "other") != nil }
        }
        cache.time.advance(1)
        try await cache.keep(content(3), as: "3")
        #expect(try await isListed())
        try await Cache(cache.fixture).cache.purge()
        #expect(try await !isListed())
    }

    @Test func expiredAndUnknownFilesArePurged() async throws {
        let cache = Cache(try await StoreFixture())
        try await cache.keep(content(1), as: "old")
        cache.time.advance(61 * 86400)
        try await cache.keep(content(2), as: "new")
        #expect(cache.files.count == 1)
        let unknown = cache.folder.appendingPathComponent(MediaDigest(of: Data("stranger".utf8)).hex)
        try Data("stranger".utf8).write(to: unknown)
        try Data().write(to: cache.folder.appendingPathComponent("half.new"))
        let next = Cache(cache.fixture)
        next.time.advance(61 * 86400)
        try await next.cache.purge()
        #expect(next.files.count == 1)
        #expect(try await next.content(of: "new") == content(2))
    }

    /// A sent file gets the server's URI in addition; the content remains even if the original is removed.
    @Test func copiedFileIsAlsoStoredUnderTheServerURI() async throws {
        let cache = Cache(try await StoreFixture())
        let sent = cache.fixture.folder.path("sent")
        try content(1).write(to: sent)
        try await cache.cache.store(sent, as: "mxc://a/b", isMoved: false)
        #expect(try Data(contentsOf: sent) == content(1))
        try FileManager.default.removeItem(at: sent)
        #expect(try await cache.content(of: "mxc://a/b") == content(1))
    }

    @Test func contentIsExportedUnderItsFileName() async throws {
        let cache = Cache(try await StoreFixture())
        try await cache.keep(content(1), as: "a")
        let named = try await cache.cache.named("../a pier.png", "a")
        #expect(named.pathExtension == "png" && named.path.hasPrefix(cache.folder.path))
        #expect(try Data(contentsOf: named) == content(1))
        await #expect(throws: ChatError.notFound) { try await cache.cache.named("x", "b") }
    }

    @Test("A named file is removed a day after it was last requested; the content stays")
    func namedFilesAreRemovedAfterADay() async throws {
        let cache = Cache(try await StoreFixture())
        try await cache.keep(content(1), as: "a")
        let named = try await cache.cache.named("pier.png", "a")
        cache.time.advance(80_000)
        #expect(try await cache.cache.named("pier.png", "a") == named)
        cache.time.advance(80_000)
        try await cache.cache.purge()
        #expect(FileManager.default.fileExists(atPath: named.path))
        cache.time.advance(10_000)
        try await cache.cache.purge()
        #expect(!FileManager.default.fileExists(atPath: named.path))
        #expect(try await cache.content(of: "a") == content(1))
        #expect(try await cache.cache.named("pier.png", "a") == named)
        #expect(try Data(contentsOf: named) == content(1))
    }

    @Test("what cannot be added leaves no copy of itself") func failedAddition() async throws {
        let cache = Cache(try await StoreFixture())
        let sent = cache.fixture.folder.path("sent")
        try content(1).write(to: sent)
        let digest = MediaDigest(of: content(1)).hex
        // Something else has the name of the file.
        let obstacle = cache.folder.appending(path: digest).appending(path: "obstacle")
        try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: true)
        await #expect(throws: ChatError.self) { try await cache.cache.store(sent, as: "mxc://a/b", isMoved: false) }
        #expect(cache.files == [digest])
        #expect(try Data(contentsOf: sent) == content(1))
    }
}
