import ChatCore
import ChatOutbox
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Synchronization
import Testing

@testable import MatrixBackend

/// Requests to the homeserver for link previews, and validation of its responses.
@Suite(.timeLimit(.minutes(10))) struct LinkPreviewTests {
    private let room = RoomID("!room:example.org")
    private let address = "https://example.org/roses?a=1&b=2"

    private func start(encrypted: Bool?, _ server: FakeHomeserver, _ folder: TemporaryFolder) async throws
        -> MatrixBackend
    {
        let store = try await ChatStore.open(in: folder.path("store"))
        try await store.createRoom(
            NewRoom(room: Fixtures.room(room.rawValue), members: [Fixtures.own], createdAt: Fixtures.date))
        if let encrypted {
            try await store.updateRoomState(of: room) { $0.encryption = encrypted ? .on : .off }
        }
        let url = try #require(URL(string: "https://example.org"))
        let session = MatrixSession(
            user: MemberID("@me:example.org"), device: "D", token: AccessToken("secret"))
        return try await MatrixBackend.start(
            over: store, server: Homeserver(url: url, versions: ["v1.11"], features: []), session: session,
            transport: server)
    }

    private func asked(_ server: FakeHomeserver) -> [URL] {
        server.requests.map(\.url).filter { $0.path.hasSuffix("/preview_url") }
    }

    private func server(_ response: JSONValue?, encryption: JSONValue? = nil) -> FakeHomeserver {
        FakeHomeserver { request in
            if request.url.path.hasSuffix("/preview_url") { return response }
            if request.url.path.contains("m.room.encryption") { return encryption }
            return nil
        }
    }

    @Test func serverIsAskedOncePerLink() async throws {
        let folder = TemporaryFolder()
        let server = server(["og:title": "Roses", "og:description": "How\nthey grow", "og:image": "mxc://a/b"])
        let backend = try await start(encrypted: false, server, folder)
        for _ in 1...2 {
            let preview = try await backend.linkPreview(of: address, in: room)
            #expect(preview?.title == "Roses" && preview?.summary == "How they grow")
            #expect(preview?.picture?.uri == "mxc://a/b")
        }
        #expect(asked(server).map { $0.query() } == ["url=https%3A%2F%2Fexample.org%2Froses%3Fa%3D1%26b%3D2"])
        await backend.close()
    }

    @Test func linksInEncryptedRoomsAreNotSentToTheServer() async throws {
        let settings: JSONValue = ["algorithm": "m.megolm.v1.aes-sha2"]
        // The last room was encrypted while the account was offline.
        for (known, served) in [(true, nil), (nil, settings), (false, settings)] as [(Bool?, JSONValue?)] {
            let folder = TemporaryFolder()
            let server = server(["og:title": "Roses"], encryption: served)
            let backend = try await start(encrypted: known, server, folder)
            #expect(try await backend.linkPreview(of: address, in: room) == nil)
            #expect(asked(server).isEmpty)
            await backend.close()
        }
    }

    @Test func emptyPreviewIsNotRequestedAgain() async throws {
        let folder = TemporaryFolder()
        let server = server(nil)
        let backend = try await start(encrypted: false, server, folder)
        for _ in 1...2 { #expect(try await backend.linkPreview(of: address, in: room) == nil) }
        #expect(asked(server).count == 1)
        await backend.close()
    }

    @Test("That the server rejects all requests of the account for now does not count as having no preview")
    func blockedAccount() async throws {
        let folder = TemporaryFolder()
        let isBlocked = Mutex(true)
        let server = FakeHomeserver { request in
            guard request.url.path.hasSuffix("/preview_url") else { return nil }
            return isBlocked.withLock({ $0 })
                ? ["errcode": "M_CONSENT_NOT_GIVEN", "status": 403] : ["og:title": "Roses"]
        }
        let backend = try await start(encrypted: false, server, folder)
        await #expect(throws: ChatError.notPermitted) { try await backend.linkPreview(of: address, in: room) }
        isBlocked.withLock { $0 = false }
        #expect(try await backend.linkPreview(of: address, in: room)?.title == "Roses")
        await backend.close()
    }

    @Test("Beyond a number of stored previews, the oldest are removed")
    func storedPreviewsAreLimited() async throws {
        let folder = TemporaryFolder()
        let server = server(["og:title": "Roses"])
        let backend = try await start(encrypted: false, server, folder)
        let first = Date().timeIntervalSince1970 - 100_000
        let names = (0..<LinkPreviews.maxCount).map { "matrix.preview.https://example.org/\($0)" }
        var batch = SyncBatch(settings: ["matrix.preview": "other", "matrix.preview/": "other"])
        for (index, name) in names.enumerated() { batch.settings[name] = #"{"toldAt":\#(first + Double(index))}"# }
        _ = try await backend.store.apply(batch)
        for _ in 1...2 { #expect(try await backend.linkPreview(of: address, in: room)?.title == "Roses") }
        #expect(asked(server).count == 1)
        var left: [String] = []
        for name in names where try await backend.store.setting(name) != nil { left.append(name) }
        #expect(left == Array(names.suffix(LinkPreviews.maxCount / 2 - 1)))
        for name in ["matrix.preview", "matrix.preview/"] {
            #expect(try await backend.store.setting(name) == "other")
        }
        await backend.close()
    }

    @Test func previewFieldsAreBounded() {
        let long: JSONValue = .string(String(repeating: "wörd ", count: 10_000))
        let preview = LinkPreviews.preview(from: [
            "og:title": long, "og:description": "a\u{202E}b\u{200B}c", "og:site_name": 5,
            "og:image": "https://tracker.example/x.png",
        ])
        #expect(preview?.title.count == 200 && preview?.summary == "abc" && preview?.site == "")
        #expect(preview?.picture == nil, "only what the homeserver has itself")
        for response: JSONValue in [[:], ["og:title": ""], ["og:title": "\u{200B}"], ["og:title": [1]]] {
            #expect(LinkPreviews.preview(from: response) == nil)
        }
    }
}
