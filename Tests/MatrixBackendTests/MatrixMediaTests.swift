import ChatCore
import ChatStore
import ChatTestSupport
import Composer
import Foundation
import JSONReading
import Synchronization
import Testing

@testable import MatrixBackend

/// Downloading and caching of media.
@Suite(.timeLimit(.minutes(10))) struct MatrixMediaTests {
    /// A server with one file, optionally with thumbnails.
    private final class Server: MatrixTransport {
        let hasThumbnails: Bool
        private let asked = Mutex<[String]>([])

        init(hasThumbnails: Bool) { self.hasThumbnails = hasThumbnails }

        var paths: [String] { asked.withLock { $0 } }

        func send(_ request: MatrixRequest) async throws -> MatrixResponse {
            guard case .file(let file) = request.destination else {
                if request.url.path.hasSuffix("/sync") { try await Task.sleep(for: .seconds(3600)) }
                return MatrixResponse(status: 404, body: Data(#"{"errcode":"M_NOT_FOUND"}"#.utf8))
            }
            let path = request.url.path.replacing("/_matrix/client/v1/media/", with: "")
            asked.withLock { $0.append(request.url.query().map { "\(path)?\($0)" } ?? path) }
            let isThumbnail = path.hasPrefix("thumbnail")
            guard !isThumbnail || hasThumbnails else {
                return MatrixResponse(status: 400, body: Data(#"{"errcode":"M_UNKNOWN"}"#.utf8))
            }
            try Data((isThumbnail ? "small" : "large").utf8).write(to: file)
            return MatrixResponse(status: 200)
        }
    }

    private func start(_ server: Server, _ folder: TemporaryFolder) async throws -> MatrixBackend {
        let url = try #require(URL(string: "https://example.org"))
        return try await MatrixBackend.start(
            over: ChatStore.open(in: folder.path("store")), server: url, ownUserID: MemberID("@me:example.org"),
            token: AccessToken("secret"), transport: server)
    }

    @Test("A program that stays open removes files that were not sent once a day")
    func filesAreSweptDaily() async throws {
        let (folder, clock) = (TemporaryFolder(), ManualClock())
        let store = try await ChatStore.open(in: folder.path("store"))
        let backend = try await MatrixBackend.start(
            over: store, server: URL(filePath: "/"), ownUserID: MemberID("@me:example.org"), token: nil,
            transport: Server(hasThumbnails: false), now: { DailySweep.date }, upkeepClock: clock)
        try await DailySweep.check(backend, on: clock)
        await backend.close()
        await store.close()
    }

    @Test("A file is cached after its upload, also if sending ends at that moment")
    func canceledUpload() async throws {
        let transport = FakeTransport.responding { _ in
            withUnsafeCurrentTask { $0?.cancel() }
            return ["content_uri": "mxc://example.org/up"]
        }
        let parts = try await AccountParts.make(transport.client)
        let media = MatrixMedia(client: parts.client, store: parts.store, now: { Fixtures.date })
        let folder = TemporaryFolder()
        let file = folder.path("a.txt")
        try Data("Text".utf8).write(to: file)
        let uploads = MediaUploads(client: parts.client, media: media)
        let uri = try await Task { try await uploads.upload(file, named: "a.txt", "text/plain", into: .clear) }.value
        let cached = await media.cachedContent(of: MediaReference(uri: uri, name: "a.txt", type: "text/plain"))
        #expect(try cached.map(text) == "Text")
        await parts.store.close()
    }

    @Test("A file that nobody has any more cannot be encrypted, which says nothing of its room")
    func lostFile() async throws {
        let transport = FakeTransport.responding { _ in ["errcode": "M_NOT_FOUND", "status": 404] }
        let parts = try await AccountParts.make(transport.client)
        let media = MatrixMedia(client: parts.client, store: parts.store, now: { Fixtures.date })
        let uploads = MediaUploads(client: parts.client, media: media)
        await #expect(throws: ChatError.unreadableFile) {
            try await uploads.sealingFiles(of: WrittenMessage(WrittenText(), files: [photo]))
        }
        await parts.store.close()
    }

    private let photo = MediaReference(
        uri: "mxc://a/b", name: "photo.jpg", type: "image/jpeg", bytes: 5_000_000, width: 4000, height: 3000)

    private func text(_ file: URL) throws -> String { String(decoding: try Data(contentsOf: file), as: UTF8.self) }

    @Test func thumbnailSizeFitsTheRow() async throws {
        let (server, folder) = (Server(hasThumbnails: true), TemporaryFolder())
        let backend = try await start(server, folder)
        for _ in 1...2 {
            #expect(try text(await backend.thumbnail(of: photo, fitting: 320, by: 240)) == "small")
            #expect(try text(await backend.thumbnail(of: photo, fitting: 300, by: 200)) == "small", "the same one")
        }
        #expect(await backend.cachedContent(of: photo) == nil)
        #expect(server.paths == ["thumbnail/a/b?width=320&height=320&method=scale&animated=false"])
        // The viewer downloads the whole file; from then on rows use it too.
        #expect(try text(await backend.content(of: photo)) == "large")
        #expect(try text(await backend.thumbnail(of: photo, fitting: 640, by: 480)) == "large")
        #expect(server.paths.count == 2 && server.paths.last == "download/a/b")
        #expect(try text(await backend.namedFile(of: photo)) == "large")
        #expect(try await backend.namedFile(of: photo).lastPathComponent == "photo.jpg")
        await backend.close()
        await backend.store.close()
        // And after a restart.
        let next = try await start(server, folder)
        #expect(try text(await next.content(of: photo)) == "large")
        #expect(server.paths.count == 2)
        await next.close()
    }

    @Test func serverWithoutThumbnailsServesTheContent() async throws {
        let (server, folder) = (Server(hasThumbnails: false), TemporaryFolder())
        let backend = try await start(server, folder)
        #expect(try text(await backend.thumbnail(of: photo, fitting: 320, by: 240)) == "large")
        #expect(server.paths.map { $0.prefix(8) } == ["thumbnai", "download"])
        await backend.close()
    }

    @Test(
        "A server that is busy or does not answer makes thumbnails later; it is not asked for the content instead",
        arguments: [(429, ChatError.busy), (502, .unreachable)])
    func failedThumbnail(status: Int, error: ChatError) async throws {
        let transport = FakeTransport(status, #"{"errcode":"M_UNKNOWN"}"#)
        let parts = try await AccountParts.make(transport.client)
        let media = MatrixMedia(client: parts.client, store: parts.store, now: { Fixtures.date })
        await #expect(throws: error) { try await media.thumbnail(of: photo, fitting: 320, by: 240) }
        #expect(transport.requests.count == 1)
        await parts.store.close()
    }

    @Test("A file beyond the limit of downloads has an error of its own")
    func largeDownload() async throws {
        let transport = FakeTransport { _ in throw TransportError.tooLarge(limit: 5) }
        let parts = try await AccountParts.make(transport.client)
        let media = MatrixMedia(client: parts.client, store: parts.store, now: { Fixtures.date })
        await #expect(throws: ChatError.downloadTooLarge(limit: 5)) { try await media.content(of: photo) }
        #expect(transport.requests.count == 1)
        await #expect(throws: ChatError.downloadTooLarge(limit: 5)) {
            try await media.thumbnail(of: photo, fitting: 320, by: 240)
        }
        #expect(transport.requests.count == 3, "a thumbnail that is too large says nothing of the content")
        await parts.store.close()
    }

    @Test func smallOrAnimatedImagesAreFetchedInFull() {
        func side(_ change: (inout MediaReference) -> Void, _ width: Int = 320) -> Int? {
            var media = photo
            change(&media)
            return ThumbnailSide(of: media, fitting: width, by: 200)?.pixels
        }
        #expect(side({ _ in }) == 320 && side({ _ in }, 321) == 640 && side({ _ in }, 700) == 800)
        #expect(side({ _ in }, 801) == nil, "no server makes it so large")
        #expect(side { $0.bytes = 60_000 } == nil)
        #expect(side { ($0.width, $0.height) = (320, 100) } == nil)
        #expect(side { ($0.width, $0.height) = (321, 100) } == 320)
        #expect(side { $0.type = "image/gif" } == nil && side { $0.type = "image/webp" } == nil)
        #expect(side { ($0.bytes, $0.width, $0.height) = (nil, nil, nil) } == 320)
    }

    @Test("Four files are downloaded at once, and one that waits can be canceled")
    func limitedFetches() async throws {
        let (fetches, clock) = (MediaFetches(limit: 4), ManualClock())
        let tasks = (0..<8).map { number in
            Task {
                try await fetches.file("\(number)") {
                    try await clock.sleep(for: .seconds(1), tolerance: nil)
                    return URL(fileURLWithPath: "/\(number)")
                }
            }
        }
        await clock.waitForSleepers(4)
        for _ in 0..<100 { await Task.yield() }
        #expect(clock.sleeperCount == 4)
        // Which of them have begun is left to chance.
        for task in tasks.suffix(4) { task.cancel() }
        for task in tasks.suffix(4) { await #expect(throws: CancellationError.self) { try await task.value } }
        await clock.waitForSleepers(4)
        clock.advance(by: .seconds(1))
        for (number, task) in tasks.prefix(4).enumerated() {
            #expect(try await task.value == URL(fileURLWithPath: "/\(number)"))
        }
    }

    /// Several rows may request the same file: canceling one does not cancel the others.
    @Test func concurrentRequestsFetchOnce() async throws {
        let fetches = MediaFetches(limit: 4)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let file = URL(fileURLWithPath: "/x")
        let fetch: @Sendable () async throws -> URL = {
            begin.yield()
            for await _ in gate {}
            try Task.checkCancellation()
            return file
        }
        let first = Task { try await fetches.file("a", fetch) }
        for await _ in begun { break }
        let others = (0..<3).map { _ in Task { try await fetches.file("a") { throw ChatError.notFound } } }
        first.cancel()
        open.finish()
        for other in others {
            // A request made after the download completed starts its own.
            do { #expect(try await other.value == file) } catch { #expect(error as? ChatError == .notFound) }
        }
        let alone = Task {
            try await fetches.file("b") {
                for await _ in AsyncStream<Void>.makeStream().stream {}
                return file
            }
        }
        alone.cancel()
        _ = await alone.result
    }
}
