import ChatTestSupport
import Foundation
import Synchronization
import Testing

@testable import ChatStore

@Suite(.timeLimit(.minutes(1))) struct MediaCacheTests {
    /// A cache of at most 1,000 bytes, 400 a file, whose time is moved by hand.
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
                limits: MediaCache.Limits(total: 1000, file: 400, age: 60 * 86400), now: { time.date })
        }

        var files: [String] {
            ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
        }
    }

    private final class Box: Sendable {
        private let value: Mutex<Date>
        init(_ date: Date) { value = Mutex(date) }
        var date: Date { value.withLock { $0 } }
        func advance(_ seconds: TimeInterval) { value.withLock { $0 += seconds } }
    }

    private func content(_ byte: UInt8, _ count: Int = 300) -> Data { Data(repeating: byte, count: count) }

    @Test func theLimitsAreTheProductsOwn() {
        #expect(MediaCache.Limits() == .init(total: 419_430_400, file: 20_971_520, age: 5_184_000))
    }

    @Test func keepsByContentAndForTheUserAlone() async throws {
        let cache = Cache(try await StoreFixture())
        #expect(try await cache.cache.content(of: "a") == nil)
        for uri in ["a", "b"] { #expect(try await cache.cache.keep(Data("abc".utf8), as: uri)) }
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        #expect(cache.files == [digest])
        #expect(try await cache.cache.content(of: "b") == Data("abc".utf8))
        let path = cache.folder.appendingPathComponent(digest).path
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        try await cache.cache.keep(Data("other".utf8), as: "a")
        #expect(cache.files.count == 2)
        #expect(try await cache.cache.content(of: "b") == Data("abc".utf8))
    }

    @Test(arguments: [Data(), Data("abd".utf8), Data("abcd".utf8)])
    func whatWasChangedOnTheDiskIsForgotten(_ changed: Data) async throws {
        let cache = Cache(try await StoreFixture())
        try await cache.cache.keep(Data("abc".utf8), as: "a")
        try changed.write(to: cache.folder.appendingPathComponent(cache.files[0]))
        #expect(try await cache.cache.content(of: "a") == nil)
        #expect(cache.files == [])
        try await cache.cache.keep(Data("abc".utf8), as: "a")
        #expect(try await cache.cache.content(of: "a") == Data("abc".utf8))
    }

    @Test func aFileThatIsTooLargeIsNotKept() async throws {
        let cache = Cache(try await StoreFixture())
        #expect(try await cache.cache.keep(content(1, 400), as: "a"))
        #expect(try await cache.cache.keep(content(2, 401), as: "b") == false)
        #expect(try await cache.cache.content(of: "b") == nil)
        #expect(cache.files.count == 1)
    }

    @Test func whatWasNotUsedForLongestMakesRoom() async throws {
        let cache = Cache(try await StoreFixture())
        for byte in UInt8(1)...3 {
            try await cache.cache.keep(content(byte), as: "\(byte)")
            cache.time.advance(7200)
        }
        #expect(try await cache.cache.content(of: "1") != nil)
        try await cache.cache.keep(content(4), as: "4")
        #expect(try await cache.cache.content(of: "2") == nil)
        for byte in [UInt8(1), 3, 4] { #expect(try await cache.cache.content(of: "\(byte)") == content(byte)) }
        #expect(cache.files.count == 3)
    }

    @Test func whatIsOldAndWhatNobodyKnowsIsPurged() async throws {
        let cache = Cache(try await StoreFixture())
        try await cache.cache.keep(content(1), as: "old")
        cache.time.advance(61 * 86400)
        try await cache.cache.keep(content(2), as: "new")
        #expect(cache.files.count == 1)
        let stranger = cache.folder.appendingPathComponent(MediaDigest(of: Data("stranger".utf8)).hex)
        try Data("stranger".utf8).write(to: stranger)
        try Data().write(to: cache.folder.appendingPathComponent("half.new"))
        let next = Cache(cache.fixture)
        next.time.advance(61 * 86400)
        try await next.cache.purge()
        #expect(next.files.count == 1)
        #expect(try await next.cache.content(of: "new") == content(2))
    }
}
