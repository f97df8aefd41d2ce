import ChatCore
import ChatOutbox
import ChatStore
import ChatTestSupport
import Composer
import Foundation
import JSONReading
import Synchronization
import Testing
import ToolSupport

@testable import MatrixBackend

/// A room becomes encrypted while a message with files is being sent into it.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct LateEncryptionTests {
    private static let marker = "GEHEIM"
    private static let clearState = EncryptedAccount.state.filter { $0["type"] != "m.room.encryption" }
    private let folder = TemporaryFolder()
    private let server = RecordingHomeserver()
    private let status = SyncStatus()
    private var room: RoomID { EncryptedAccount.room }

    /// An account in a room that is not encrypted yet.
    /// - Parameter work: Done before each response.
    private func start(
        before work: @escaping @Sendable (RecordingHomeserver, MatrixRequest) -> Void = { _, _ in }
    ) async throws -> EncryptedAccount {
        let account = try await EncryptedAccount.start(
            in: folder, MemoryCredentialStore(), clock: NonWaitingClock()
        ) { [server] request in
            work(server, request)
            return server.answer(request)
        }
        try await account.sync(Self.clearState)
        status.hasCaughtUp = true
        return account
    }

    /// What the account's outbox sends with, called by the test instead.
    private func outbox(_ account: EncryptedAccount) -> MatrixOutboxBackend {
        MatrixOutboxBackend(
            client: account.backend.client, store: account.store, context: .untranslated(of: EncryptedAccount.user),
            syncStatus: status, keys: account.backend.keys, media: account.backend.media,
            gate: account.backend.writer.gate
        ) { _, _ in }
    }

    private func request(_ files: [MediaReference]) -> OutboxRequest {
        OutboxRequest(
            id: TransactionID("t"), room: room, action: .send(WrittenMessage(WrittenText(), files: files)),
            queuedAt: Fixtures.date)
    }

    private func file(_ text: String, _ type: String, of account: EncryptedAccount) async throws -> MediaReference {
        try await account.backend.storeMedia(
            .data(Data("\(Self.marker) \(text)".utf8)), named: "\(Self.marker) \(text)", type: type,
            progress: { _ in })
    }

    /// A file that is on the server unencrypted.
    private func uploaded(
        _ text: String, _ type: String, by outbox: MatrixOutboxBackend, of account: EncryptedAccount
    ) async throws -> MediaReference {
        var file = try await file(text, type, of: account)
        file.uri = try await outbox.upload(file, of: request([file]), progress: { _ in })
        #expect(file.uri.hasPrefix("mxc://"))
        return file
    }

    /// Another member encrypts the room, and a sync reports it.
    private func encrypt(_ account: EncryptedAccount) async throws {
        server.encrypt()
        try await account.sync([RecordingHomeserver.encryption])
        server.seal()
    }

    /// The events that are no state.
    private var types: [String] { server.events.filter { $0["state_key"] == nil }.compactMap { $0["type"]?.string } }

    /// The file of the newest message on the server, as this device decrypts it.
    private func sentFile(_ account: EncryptedAccount) async throws -> MediaReference {
        try await account.sync(server.events)
        let message = try #require(try await account.messages.last)
        #expect(message.seal == nil)
        return try #require(message.attachments.first)
    }

    private func expectNothingInTheClear() {
        for bytes in server.sealedBytes { #expect(!String(decoding: bytes, as: UTF8.self).contains(Self.marker)) }
    }

    @Test("A file that was uploaded unencrypted is encrypted and uploaded again, and its unencrypted poster is dropped")
    func uploadedBefore() async throws {
        let account = try await start()
        let outbox = outbox(account)
        var video = try await uploaded("video", "video/mp4", by: outbox, of: account)
        let poster = try await uploaded("poster", "image/jpeg", by: outbox, of: account)
        video.thumbnailURI = poster.uri
        let request = request([video])
        try await encrypt(account)
        #expect(try await outbox.deliver(request) != nil)
        #expect(types == ["m.room.encrypted"])
        let sent = try await sentFile(account)
        #expect(sent.name == video.name && sent.thumbnailURI == nil)
        let encrypted = try #require(EncryptedFile(uri: sent.uri))
        #expect(![video.uri, poster.uri].contains(encrypted.address))
        expectNothingInTheClear()
        await account.close()
    }

    @Test("A poster that was uploaded right before the room was found encrypted is encrypted and uploaded again")
    func posterUploadedBefore() async throws {
        let account = try await start { server, request in
            if case .file(_, type: "image/jpeg") = request.body { server.encrypt() }
        }
        let outbox = outbox(account)
        var video = try await uploaded("video", "video/mp4", by: outbox, of: account)
        video.thumbnailURI = try await file("poster", "image/jpeg", of: account).uri
        let request = request([video])
        // So that the server is asked whether the room is encrypted.
        status.hasCaughtUp = false
        await #expect(throws: DeliveryError.unreachable) { _ = try await outbox.deliver(request) }
        #expect(types.isEmpty && server.isEncrypted)
        status.hasCaughtUp = true
        server.seal()
        #expect(try await outbox.deliver(request) != nil)
        #expect(types == ["m.room.encrypted"])
        let sent = try await sentFile(account)
        let encrypted = try #require(EncryptedFile(uri: sent.uri))
        let poster = try #require(sent.thumbnailURI.flatMap { EncryptedFile(uri: $0) })
        #expect(encrypted.key != poster.key && encrypted.address != poster.address)
        expectNothingInTheClear()
        await account.close()
    }

    @Test(
        "A file that a former device sent unencrypted is recognized; one that it encrypted anew may be the one",
        arguments: [false, true])
    func sentByAFormerDevice(isSealed: Bool) async throws {
        let history = Mutex<[JSONValue]>([])
        let account = try await EncryptedAccount.start(
            in: folder, MemoryCredentialStore(), clock: NonWaitingClock()
        ) { [server] request in
            guard request.url.path.hasSuffix("/messages") else { return server.answer(request) }
            return ["chunk": .array(history.withLock { $0 })]
        }
        try await account.sync(Self.clearState)
        status.hasCaughtUp = true
        let outbox = outbox(account)
        let request = request([try await uploaded("file", "text/plain", by: outbox, of: account)])
        guard case .send(let message) = request.action else { return #expect(Bool(false)) }
        try await encrypt(account)
        var sent = ("m.room.message", EventContentBuilder(ownUserID: EncryptedAccount.user).contents(of: message)[0])
        if isSealed {
            let other = OutboxRequest(
                id: TransactionID("other"), room: room, action: request.action, queuedAt: request.queuedAt)
            _ = try await outbox.deliver(other)
            sent = ("m.room.encrypted", try #require(server.events.last?["content"]))
        }
        let former = FormerAttempts(store: account.store)
        try await former.note("OLD", at: Fixtures.date)
        try await account.store.commit(OutboxChange(put: [request]))
        try await former.note("NEW", at: Fixtures.date)
        let event = Events.event(
            "$former", sent.0, sent.1, by: EncryptedAccount.user.rawValue,
            at: Int64(request.queuedAt.timeIntervalSince1970 * 1000))
        history.withLock { $0 = [event] }
        let (known, files) = (types.count, uploads(account))
        if isSealed {
            await #expect(throws: DeliveryReason.mayBeSent.error) { _ = try await outbox.deliver(request) }
        } else {
            #expect(try await outbox.deliver(request) == MessageID("$former"))
        }
        #expect(types.count == known && uploads(account) == files)
        if isSealed {
            // The user has tried again.
            #expect(try await outbox.deliver(request) != nil)
            #expect(types == ["m.room.encrypted", "m.room.encrypted"])
        }
        expectNothingInTheClear()
        await account.close()
    }

    @Test("Before all that a message has to wait for, neither its file nor its poster is uploaded again")
    func uploadsAfterRequests() async throws {
        let account = try await start()
        let outbox = outbox(account)
        var video = try await uploaded("video", "video/mp4", by: outbox, of: account)
        video.thumbnailURI = try await file("poster", "image/jpeg", of: account).uri
        let request = request([video])
        try await encrypt(account)
        let before = uploads(account)
        account.server.hold("/members")
        let attempt = Task { try await outbox.deliver(request) }
        try await account.server.receives("/members")
        #expect(uploads(account) == before)
        account.server.hold(nil)
        #expect(try await attempt.value != nil)
        #expect(uploads(account) == before + 2 && types == ["m.room.encrypted"])
        expectNothingInTheClear()
        await account.close()
    }

    private func uploads(_ account: EncryptedAccount) -> Int {
        account.server.paths.count { $0.contains("/media/") && $0.hasSuffix("/upload") }
    }

    @Test("Once the room is encrypted, the files that follow in a message are not sent unencrypted")
    func betweenFiles() async throws {
        let account = try await start()
        let outbox = outbox(account)
        var files: [MediaReference] = []
        for name in ["one", "two"] { files.append(try await uploaded(name, "text/plain", by: outbox, of: account)) }
        let request = request(files)
        account.server.hold("/send/")
        let attempt = Task { try await outbox.deliver(request) }
        try await account.server.receives("/send/m.room.message/t")
        try await account.backend.keys.noteEncrypted([(ExactText(room.rawValue), .null)])
        server.encrypt()
        account.server.hold(nil)
        await #expect(throws: DeliveryError.unreachable) { _ = try await attempt.value }
        #expect(types == ["m.room.message"])
        let first = server.events.first { $0["type"] == "m.room.message" }?["event_id"]?.string
        server.seal()
        #expect(try await outbox.deliver(request)?.rawValue == first)
        #expect(types == ["m.room.message", "m.room.encrypted"])
        expectNothingInTheClear()
        await account.close()
    }
}
