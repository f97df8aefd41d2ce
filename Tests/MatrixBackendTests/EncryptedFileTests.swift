import ChatCore
import ChatStore
import ChatTestSupport
import Composer
import Foundation
import JSONReading
import Ratchets
import Synchronization
import Testing
import ToolSupport

@testable import MatrixBackend

/// Encrypted attachments.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct EncryptedFileTests {
    private let folder = TemporaryFolder()

    /// A file encrypted by its sender.
    private struct Sealed {
        let json: JSONValue
        let bytes: Data

        init(_ plaintext: Data, at address: String) throws {
            let (key, counter) = (try Randomness.bytes(32), try Randomness.bytes(8) + [UInt8](repeating: 0, count: 8))
            bytes = Data(try CounterCipher(key: KeyMaterial(bytes: key), counter: counter).apply(to: Array(plaintext)))
            let url = Base64.encoded(key).replacing("+", with: "-").replacing("/", with: "_")
            let digest = Base64.encoded(try SHA256.digest(of: Array(bytes)))
            json = [
                "v": "v2", "url": .string(address), "iv": .string(Base64.encoded(counter)),
                "hashes": ["sha256": .string(digest)],
                "key": [
                    "kty": "oct", "alg": "A256CTR", "ext": true, "key_ops": ["encrypt", "decrypt"], "k": .string(url),
                ],
            ]
        }
    }

    /// A media server that records the requested paths.
    private final class Server: MatrixTransport {
        private let files: Mutex<[String: Data]>
        private let asked = Mutex<[String]>([])

        init(_ files: [String: Data]) { self.files = Mutex(files) }

        var paths: [String] { asked.withLock { $0 } }

        func send(_ request: MatrixRequest) async throws -> MatrixResponse {
            guard case .file(let target) = request.destination else {
                if request.url.path.hasSuffix("/sync") { try await Task.sleep(for: .seconds(3600)) }
                return MatrixResponse(status: 404, body: Data(#"{"errcode":"M_NOT_FOUND"}"#.utf8))
            }
            asked.withLock { $0.append(request.url.absoluteString) }
            guard let data = files.withLock({ $0[request.url.lastPathComponent] }) else {
                return MatrixResponse(status: 404, body: Data(#"{"errcode":"M_NOT_FOUND"}"#.utf8))
            }
            try data.write(to: target)
            return MatrixResponse(status: 200)
        }
    }

    private func start(_ server: Server) async throws -> MatrixBackend {
        try await MatrixBackend.start(
            over: ChatStore.open(in: folder.path("store")), server: try #require(URL(string: "https://example.org")),
            ownUserID: MemberID("@me:example.org"), token: AccessToken("secret"), transport: server)
    }

    private func image(_ file: Sealed, thumbnail: Sealed? = nil) throws -> MediaReference {
        var info: [String: JSONValue] = ["mimetype": "image/png", "size": 5_000_000, "w": 4000, "h": 3000]
        info["thumbnail_file"] = thumbnail?.json
        let content = try #require(
            Message.Content(json: [
                "msgtype": "m.image", "body": "photo.png", "file": file.json, "info": .object(info),
            ]))
        #expect(content.kind == .image)
        return try #require(content.attachments.first)
    }

    @Test("A file is decrypted when loaded and cached decrypted; its key is never sent", arguments: [0, 5, 3_000_001])
    func content(_ size: Int) async throws {
        let plaintext = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let file = try Sealed(plaintext, at: "mxc://a/file")
        let server = Server(["file": file.bytes])
        let backend = try await start(server)
        let reference = try image(file)
        #expect(reference.isEncrypted && !reference.isOnlyHere)
        for _ in 1...2 { #expect(try Data(contentsOf: await backend.content(of: reference)) == plaintext) }
        #expect(try Data(contentsOf: #require(await backend.cachedContent(of: reference))) == plaintext)
        #expect(try Data(contentsOf: await backend.namedFile(of: reference)) == plaintext)
        #expect(server.paths == ["https://example.org/_matrix/client/v1/media/download/a/file"])
        let incomplete = folder.path("store-fetched")
        #expect(try FileManager.default.contentsOfDirectory(atPath: incomplete.path).isEmpty)
        await backend.close()
    }

    @Test("A file with another hash is rejected before any of it is used")
    func otherHash() async throws {
        let file = try Sealed(Data("hello".utf8), at: "mxc://a/file")
        var damaged = file.bytes
        damaged[0] ^= 1
        let backend = try await start(Server(["file": damaged]))
        let reference = try image(file)
        await #expect(throws: ChatError.unreadableFile) { try await backend.content(of: reference) }
        #expect(await backend.cachedContent(of: reference) == nil)
        await backend.close()
    }

    @Test("The sender's thumbnail is used; none is requested from the server")
    func thumbnails() async throws {
        let (file, small) = (
            try Sealed(Data("large".utf8), at: "mxc://a/file"), try Sealed(Data("small".utf8), at: "mxc://a/small")
        )
        let server = Server(["file": file.bytes, "small": small.bytes])
        let backend = try await start(server)
        let reference = try image(file, thumbnail: small)
        func text(_ file: URL) throws -> String { String(decoding: try Data(contentsOf: file), as: UTF8.self) }
        #expect(try text(await backend.thumbnail(of: reference, fitting: 320, by: 240)) == "small")
        #expect(try text(await backend.thumbnail(of: reference, fitting: 2000, by: 1000)) == "large")
        #expect(try text(await backend.thumbnail(of: reference, fitting: 320, by: 240)) == "large", "it is there")
        let other = try image(try Sealed(Data("x".utf8), at: "mxc://a/gone"), thumbnail: small)
        #expect(try text(await backend.thumbnail(of: other, fitting: 320, by: 240)) == "small")
        #expect(server.paths.allSatisfy { !$0.contains("thumbnail") && !$0.contains("encrypted") })
        await backend.close()
    }

    @Test("The sender's poster of a video is used, whatever address is beside it; none is requested from the server")
    func posters() async throws {
        let (video, still) = (
            try Sealed(Data("video".utf8), at: "mxc://a/video"), try Sealed(Data("still".utf8), at: "mxc://a/still")
        )
        let server = Server(["video": video.bytes, "still": still.bytes])
        let backend = try await start(server)
        func reference(_ thumbnail: JSONValue) throws -> MediaReference {
            let content = try #require(
                Message.Content(json: [
                    "msgtype": "m.video", "body": "a.mp4", "file": video.json,
                    "info": [
                        "mimetype": "video/mp4", "size": 5_000_000, "w": 4000, "h": 3000,
                        "thumbnail_file": thumbnail, "thumbnail_url": "mxc://a/clear",
                    ],
                ]))
            #expect(content.kind == .video)
            return try #require(content.attachments.first)
        }
        func text(of media: MediaReference) async throws -> String {
            let file = try await backend.thumbnail(of: media, fitting: 320, by: 240)
            return String(decoding: try Data(contentsOf: file), as: UTF8.self)
        }
        // As a row asks for it.
        func poster(_ video: MediaReference) throws -> MediaReference {
            MediaReference(uri: try #require(video.thumbnailURI), name: video.name, type: "image/*")
        }
        let received = try reference(still.json)
        #expect(try poster(received).isEncrypted)
        for _ in 1...2 { #expect(try await text(of: poster(received)) == "still") }
        #expect(await backend.cachedContent(of: received) == nil)
        #expect(try await text(of: received) == "video")
        let gone = try reference(try Sealed(Data("x".utf8), at: "mxc://a/gone").json)
        await #expect(throws: (any Error).self) { try await text(of: poster(gone)) }
        #expect(try reference(["v": "v2"]).thumbnailURI == nil)
        #expect(try reference(.null).thumbnailURI == nil)
        let download = "https://example.org/_matrix/client/v1/media/download/a/"
        #expect(server.paths == ["still", "video", "gone"].map { download + $0 })
        await backend.close()
    }

    @Test("The encrypted poster of an unencrypted file is decrypted into a copy, or dropped")
    func encryptedPoster() async throws {
        let poster = try Sealed(Data("small".utf8), at: "mxc://a/small")
        let thumbnail = try #require(EncryptedFile(poster.json)).uri
        let backend = try await start(Server(["small": poster.bytes]))
        var file = MediaReference(uri: "mxc://a/clear", name: "a.mp4", type: "video/mp4", thumbnailURI: thumbnail)
        #expect(file.hasKeys && !file.isEncrypted)
        let copy = try await backend.unencrypted(file)
        #expect(copy.uri == file.uri && !copy.hasKeys)
        #expect(copy.thumbnailURI.flatMap(MediaReference.digest) != nil)
        file.type = "image/png"
        #expect(try await backend.unencrypted(file).thumbnailURI == nil)
        await backend.close()
    }

    @Test("An incomplete description is no file, and never an unencrypted one")
    func malformed() throws {
        let file = try Sealed(Data("hello".utf8), at: "mxc://a/file").json
        #expect(EncryptedFile(file).map { EncryptedFile(uri: $0.uri) == $0 } == true)
        let others: [JSONValue] = [.null, 5, "", "v1", [:], ["sha256": "AAAA"], "https://a/b"]
        for changed in file.mutations(with: others) {
            // `ext` and `key_ops` are ignored when parsing: the specification allows only one value for each.
            let isCompared = ["ext", "key_ops"].allSatisfy { changed["key"]?[$0] == file["key"]?[$0] }
            guard changed != file, isCompared || changed["key"]?.object == nil else { continue }
            #expect(EncryptedFile(changed) == nil, "\(changed)")
            let content: JSONValue = [
                "msgtype": "m.file", "body": "name", "url": "mxc://a/clear", "file": changed,
            ]
            if changed != .null {
                #expect(Message.Content(json: content)?.attachments.isEmpty == true)
            }
        }
        for uri in ["", "mxc://a/b", "encrypted:", "encrypted:AAAA,mxc://a/b", "encrypted:,mxc://a/b", "encrypted:x"] {
            #expect(EncryptedFile(uri: uri) == nil)
        }
    }

    @Test("The key of a file is never sent")
    func notSent() async throws {
        let file = try Sealed(Data("hello".utf8), at: "mxc://a/file")
        let server = FakeHomeserver { _ in nil }
        let (backend, store) = try await server.start(in: folder)
        var batch = RoomBatch(id: RoomID("!room:example.org"), createdAt: Fixtures.date)
        batch.state = .unencrypted
        batch.members = [Member(id: MemberID("@me:example.org"), displayName: "Me", kind: .own)]
        _ = try await store.apply(SyncBatch(rooms: [batch]))
        let thumbnail = try #require(EncryptedFile(file.json)).uri
        let others = MediaReference(uri: "mxc://a/clear", name: "a.mp4", type: "video/mp4", thumbnailURI: thumbnail)
        for media in [try image(file), others] {
            let message = WrittenMessage(WrittenText("Look"), files: [media], origin: .forwarded)
            await #expect(throws: ChatError.notPermitted) {
                try await backend.send(message, as: TransactionID("t"), to: batch.id)
            }
        }
        #expect(server.requests.allSatisfy { $0.method == .get })
        await backend.close()
        await store.close()
    }
}
