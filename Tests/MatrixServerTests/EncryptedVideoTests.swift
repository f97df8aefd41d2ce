import ChatCore
import ChatTestSupport
import Foundation
import Synchronization
import Testing
import ToolSupport

@testable import MatrixBackend

/// A video in an encrypted room, from one account to another, over a real homeserver.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct EncryptedVideoTests {
    /// The addresses that an account has requested.
    private final class RequestLog: Sendable {
        private let asked = Mutex<[String]>([])

        var addresses: [String] { asked.withLock { $0 } }
        func note(_ address: String) { asked.withLock { $0.append(address) } }
        func count(of part: String) -> Int { addresses.count { $0.contains(part) } }
    }

    private struct WatchedTransport: MatrixTransport {
        let transport: CurlTransport
        let log: RequestLog

        func send(_ request: MatrixRequest) async throws -> MatrixResponse {
            log.note(request.url.absoluteString)
            return try await transport.send(request)
        }
    }

    private func person(_ name: String, sliding: Bool) async throws -> (user: MatrixUser, log: RequestLog) {
        let (user, credential) = try await RoomKeyTests.person(name, sliding: sliding)
        try await RoomKeyTests.untilPublished(user)
        let log = RequestLog()
        let watched = try await user.restarted(with: credential) { WatchedTransport(transport: $0, log: log) }
        #expect(watched.backend.keys.condition == .on)
        return (watched, log)
    }

    /// What the server has of a file.
    private func stored(_ file: EncryptedFile, _ user: MatrixUser) async throws -> Data {
        let target = user.folder.path(UUID().uuidString)
        try await user.client.download(file.address, to: target)
        return try Data(contentsOf: target)
    }

    @Test(
        "A video and its poster are decrypted with keys of their own, and the server is asked for no thumbnail",
        arguments: [true, false])
    func videoWithPoster(_ sliding: Bool) async throws {
        let (ann, annLog) = try await person("ann", sliding: sliding)
        let (bob, bobLog) = try await person("bob", sliding: sliding)
        let room = try await ann.backend.createRoom(RoomRequest(name: "Sealed", isEncrypted: true))
        try await ann.waitForRoom(room)
        try await ann.untilEncrypted(room)
        try await ann.backend.invite(bob.session.user.rawValue, to: room)
        _ = try await bob.backend.join(room.rawValue)
        try await ann.untilJoined(bob.session.user, in: room)
        try await bob.waitForRoom(room)

        let (clip, still) = (try Data(contentsOf: SampleVideos.webM), Data(SampleImages.jpeg))
        var video = try await ann.backend.storeMedia(
            .file(SampleVideos.webM), named: "harvest.webm", type: "video/webm", progress: { _ in })
        video.thumbnailURI = try await ann.backend.storeMedia(
            .data(still), named: "poster.jpg", type: "image/jpeg", progress: { _ in }
        ).uri
        (video.width, video.height, video.duration) = (160, 90, 3008)
        try await ann.backend.send(
            WrittenMessage("", kind: .video, files: [video]), as: TransactionID("film"), to: room)

        let message = try #require(try await bob.messages(in: room) { $0.last?.attachments.count == 1 }.last)
        let received = try #require(message.attachments.first)
        #expect(message.kind == .video && received.name == "harvest.webm" && received.duration == 3008)
        let file = try #require(EncryptedFile(uri: received.uri))
        let address = try #require(received.thumbnailURI)
        let poster = try #require(EncryptedFile(uri: address))
        #expect(file.key != poster.key && file.counter != poster.counter && file.address != poster.address)
        // As a row asks for it.
        let picture = MediaReference(uri: address, name: received.name, type: "image/*")
        #expect(try Data(contentsOf: await bob.backend.thumbnail(of: picture, fitting: 320, by: 180)) == still)
        #expect(await bob.backend.cachedContent(of: received) == nil)
        #expect(try Data(contentsOf: await bob.backend.content(of: received)) == clip)
        for (part, clear) in [(file, clip), (poster, still)] {
            let bytes = try await stored(part, bob)
            #expect(bytes.count == clear.count && bytes != clear)
        }
        let own = try #require(try await ann.syncedMessage(TransactionID("film"), in: room).attachments.first)
        #expect(own.uri == received.uri && own.thumbnailURI == address)
        #expect(annLog.count(of: "/media/v3/upload") >= 2 && bobLog.count(of: "/media/download/") == 2)
        for log in [annLog, bobLog] { #expect(log.count(of: "/thumbnail/") == 0 && log.count(of: "harvest") == 0) }
        await ann.close()
        await bob.close()
    }
}
