import ChatCore
import ChatOutbox
import ChatStore
import ChatTestSupport
import Composer
import Foundation
import JSONReading
import Ratchets
import Synchronization
import Testing

@testable import MatrixBackend

/// What is being sent unencrypted ends when its room becomes encrypted.
@Suite(.timeLimit(.minutes(10))) struct ClearAttemptsTests {
    private static let room = RoomID("!room:example.org")
    private static let own = MemberID("@me:example.org")
    private let folder = TemporaryFolder()
    private let attempts = ClearAttempts()

    /// Something that happens once.
    private struct Signal: Sendable {
        private let stream: AsyncStream<Void>
        private let continuation: AsyncStream<Void>.Continuation

        init() { (stream, continuation) = AsyncStream.makeStream(of: Void.self) }

        func happen() { continuation.finish() }
        func wait() async { for await _ in stream {} }
    }

    /// Begins an attempt that ends only if it is canceled, and returns once it runs.
    private func endless(_ kind: ClearAttempts.Kind) async -> Task<Void, any Error> {
        let begun = Signal()
        let task = Task { [attempts] in
            try await attempts.run(kind, in: Self.room) {
                begun.happen()
                try await Task.sleep(for: .seconds(3600))
            }
        }
        await begun.wait()
        return task
    }

    @Test("A sync that reports encryption cancels uploads of the room, not events")
    func sync() async throws {
        let upload = await endless(.upload)
        let event = await endless(.event)
        attempts.cancelUploads(in: RoomID("!other:example.org"))
        attempts.cancelUploads(in: Self.room)
        await #expect(throws: DeliveryError.unreachable) { try await upload.value }
        event.cancel()
        await #expect(throws: CancellationError.self) { try await event.value }
    }

    @Test("Before a room is encrypted here, its events have ended")
    func events() async throws {
        let (begun, answered) = (Signal(), Signal())
        let event = Task { [attempts] in
            try await attempts.run(.event, in: Self.room) {
                begun.happen()
                await answered.wait()
                return 5
            }
        }
        await begun.wait()
        let clock = ManualClock()
        let ending = Task { [attempts] in await attempts.end(in: Self.room, clock: clock) }
        answered.happen()
        await ending.value
        #expect(try await event.value == 5)
    }

    @Test("An event without an answer is canceled after a while")
    func timeout() async throws {
        let event = await endless(.event)
        await attempts.end(in: Self.room, clock: NonWaitingClock())
        await #expect(throws: DeliveryError.unreachable) { try await event.value }
    }

    private struct Fixture {
        let backend: MatrixOutboxBackend
        let keys: AccountEncryption
        let status: SyncStatus
        let media: MatrixMedia
        let store: ChatStore
    }

    private func start(_ transport: FakeTransport, _ encryption: RoomState.Encryption = .off) async throws -> Fixture {
        let store = try await ChatStore.open(in: folder.path("store"))
        var batch = RoomBatch(id: Self.room, createdAt: Fixtures.date)
        var state = RoomState()
        state.encryption = encryption
        batch.state = state
        _ = try await store.apply(SyncBatch(rooms: [batch]))
        let keys = AccountEncryption(
            user: Self.own, client: transport.client, folder: store.folder, clock: ManualClock(),
            now: { Fixtures.date })
        let media = MatrixMedia(client: transport.client, store: store, now: { Fixtures.date })
        let status = SyncStatus()
        let backend = MatrixOutboxBackend(
            client: transport.client, store: store, context: .untranslated(of: Self.own), syncStatus: status,
            keys: keys, media: media, gate: SerialGate()
        ) { _, _ in }
        return Fixture(backend: backend, keys: keys, status: status, media: media, store: store)
    }

    private func request(_ file: MediaReference) -> OutboxRequest {
        OutboxRequest(
            id: TransactionID("t"), room: Self.room, action: .send(WrittenMessage("x", files: [file])),
            queuedAt: Fixtures.date)
    }

    @Test(
        "An upload ends when a sync reports encryption, and before the room is encrypted here",
        arguments: [true, false])
    func upload(isBySync: Bool) async throws {
        let (begun, ended) = (Signal(), Signal())
        let transport = FakeTransport(
            pause: { request in
                guard request.url.path.hasSuffix("/upload") else { return }
                begun.happen()
                defer { ended.happen() }
                try await Task.sleep(for: .seconds(3600))
            },
            { _ in MatrixResponse(status: 404, body: Data(#"{"errcode":"M_NOT_FOUND"}"#.utf8)) })
        let fixture = try await start(transport)
        fixture.status.hasCaughtUp = true
        let file = try await fixture.media.store(
            .data(Data("a file".utf8)), named: "a.txt", type: "text/plain", progress: { _ in })
        let upload = Task { [request = request(file)] in
            try await fixture.backend.upload(file, of: request, progress: { _ in })
        }
        await begun.wait()
        if isBySync {
            try await fixture.keys.noteEncrypted([(ExactText(Self.room.rawValue), .null)])
            await ended.wait()
        } else {
            // The upload would never end by itself.
            try await fixture.keys.encrypting(Self.room) { await ended.wait() }
        }
        await #expect(throws: DeliveryError.unreachable) { try await upload.value }
        await fixture.store.close()
    }

    @Test("While the room is being encrypted, no upload begins")
    func noUpload() async throws {
        let transport = FakeTransport(404, #"{"errcode":"M_NOT_FOUND"}"#)
        let fixture = try await start(transport)
        fixture.status.hasCaughtUp = true
        let file = try await fixture.media.store(
            .data(Data("a file".utf8)), named: "a.txt", type: "text/plain", progress: { _ in })
        let request = request(file)
        try await fixture.keys.encrypting(Self.room) {
            await #expect(throws: DeliveryError.unreachable) {
                try await fixture.backend.upload(file, of: request, progress: { _ in })
            }
        }
        #expect(transport.requests.isEmpty)
        await fixture.store.close()
    }

    @Test(
        "The room is checked once more right before an upload and an event: nothing is sent if it is encrypted now",
        arguments: [true, false])
    func checkedAgain(isUpload: Bool) async throws {
        let asked = Mutex(0)
        let transport = FakeTransport.responding { request in
            guard request.url.path.contains("m.room.encryption") else {
                return ["event_id": "$1", "content_uri": "mxc://a/1"]
            }
            let count = asked.withLock { count in
                count += 1
                return count
            }
            return count == 1 ? nil : ["algorithm": "m.megolm.v1.aes-sha2"]
        }
        // The sync has not caught up, so the server is asked each time.
        let fixture = try await start(transport)
        let file = try await fixture.media.store(
            .data(Data("a file".utf8)), named: "a.txt", type: "text/plain", progress: { _ in })
        let message = request(MediaReference(uri: "mxc://a/b", name: "b", type: "a/b"))
        await #expect(throws: DeliveryError.unreachable) {
            if isUpload {
                _ = try await fixture.backend.upload(file, of: message, progress: { _ in })
            } else {
                _ = try await fixture.backend.deliver(message)
            }
        }
        let questions = asked.withLock { $0 }
        #expect(questions == 2)
        #expect(transport.requests.allSatisfy { $0.method == .get })
        await fixture.store.close()
    }

    @Test("Files are not encrypted and uploaded before the message can be", arguments: [false, true])
    func noUploadWithoutKeys(hasCaughtUp: Bool) async throws {
        let transport = FakeTransport(404, #"{"errcode":"M_NOT_FOUND"}"#)
        let fixture = try await start(transport, .on)
        fixture.status.hasCaughtUp = hasCaughtUp
        // Without the library no other attempt can succeed, which the user has to learn.
        let isNever = hasCaughtUp && RatchetLibrary.version == nil
        let expected: DeliveryError = isNever ? DeliveryReason.notBuilt.error : .unreachable
        let uploaded = MediaReference(uri: "mxc://a/b", name: "b", type: "a/b")
        await #expect(throws: expected) { _ = try await fixture.backend.deliver(request(uploaded)) }
        let file = try await fixture.media.store(
            .data(Data("a file".utf8)), named: "a.txt", type: "text/plain", progress: { _ in })
        await #expect(throws: expected) {
            _ = try await fixture.backend.upload(file, of: request(file), progress: { _ in })
        }
        #expect(transport.requests.isEmpty)
        await fixture.store.close()
    }
}
