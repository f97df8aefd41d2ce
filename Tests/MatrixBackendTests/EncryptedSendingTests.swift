import ChatCore
import ChatOutbox
import ChatTestSupport
import Composer
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Synchronization
import Testing
import ToolSupport

@testable import ChatStore
@testable import MatrixBackend

/// What a server learns about messages sent into an encrypted room: only who sends when, and how much.
@Suite(.enabled(if: EncryptionSetting.isOn), .serialized, .timeLimit(.minutes(10))) struct EncryptedSendingTests {
    private let folder = TemporaryFolder()
    private let credentials = MemoryCredentialStore()
    private let server = RecordingHomeserver()
    private static let marker = "GEHEIM"
    private var room: RoomID { EncryptedAccount.room }
    private static let clearState = EncryptedAccount.state.filter { $0["type"] != "m.room.encryption" }
    private static let encryption = Events.event(
        "$crypt", "m.room.encryption", ["algorithm": "m.megolm.v1.aes-sha2"], stateKey: "")

    private func start(withKeys: Bool = true) async throws -> EncryptedAccount {
        try await EncryptedAccount.start(
            in: folder, withKeys ? credentials : nil, clock: NonWaitingClock()
        ) { [server] in server.answer($0) }
    }

    /// An account in an encrypted room.
    private func sealed() async throws -> EncryptedAccount {
        let account = try await start()
        try await account.sync(EncryptedAccount.state)
        server.seal()
        return account
    }

    private func expectNothingInTheClear(_ comment: Comment? = nil) {
        for bytes in server.sealedBytes {
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(!text.contains(Self.marker), comment)
        }
    }

    private var types: [String] { server.events.compactMap { $0["type"]?.string } }

    @Test(
        "A message that the sync skipped can be edited, but not one that the server has made up in its place",
        arguments: ["none", "clear", "other"])
    func editOfASkippedMessage(forgery: String) async throws {
        let account = try await EncryptedAccount.start(
            in: folder, credentials, clock: NonWaitingClock()
        ) { [server] request in
            guard request.url.path.contains("/event/") else { return server.answer(request) }
            let id = request.url.lastPathComponent
            let forged = Events.event(
                id, "m.room.message", ["msgtype": "m.file", "body": "a.txt", "url": "mxc://example.org/other"],
                by: EncryptedAccount.user.rawValue)
            switch forgery {
            case "clear": return forged
            case "other": return server.events.first { $0["event_id"]?.string != id }
            default: return server.events.first { $0["event_id"]?.string == id }
            }
        }
        try await account.sync(EncryptedAccount.state)
        server.seal()
        try await account.backend.send(Fixtures.outgoing("\(Self.marker) 0", transaction: "t0"), to: room)
        let echo = try await account.backend.send(
            Fixtures.outgoing("\(Self.marker) 1", transaction: "t1"), to: room)
        await account.backend.sendingEnds(in: room)
        try await account.backend.edit(echo.id, in: room, to: WrittenText("\(Self.marker) 2"))
        if forgery == "none" {
            await account.backend.sendingEnds(in: room)
        } else {
            await account.backend.displayed(in: room) { $0.contains { $0.pendingChange?.isRejected == true } }
        }
        #expect(types == Array(repeating: "m.room.encrypted", count: forgery == "none" ? 3 : 2))
        expectNothingInTheClear()
        await account.close()
    }

    @Test("While the own identity is replaced, an edit of a message that the sync skipped is held back, not given up")
    func editWhileTheIdentityIsReplaced() async throws {
        let own = ExactText(EncryptedAccount.user.rawValue)
        func list(_ identity: TestIdentity, devices: [String: JSONValue] = [:]) throws -> JSONValue {
            var members = try TestIdentity.answer([identity], to: own)
            members["device_keys"] = .object([own.text: .object(devices)])
            return .object(members)
        }
        let (first, second) = (try TestIdentity(own), try TestIdentity(own, number: 1))
        let listed = Mutex(try list(first))
        let original = Mutex<JSONValue?>(nil)
        let account = try await EncryptedAccount.start(in: folder, credentials, clock: NonWaitingClock()) {
            [server] request in
            if request.url.path.hasSuffix("/keys/query") { return listed.withLock(\.self) }
            if request.url.path.hasSuffix("/keys/signatures/upload") { return [:] }
            return request.url.path.contains("/event/") ? original.withLock(\.self) : server.answer(request)
        }
        let other = try await account.unknownPeer(own.text)
        let machine = try #require(await account.backend.keys.machine)
        #expect(try await !machine.adopt(first.secrets).isEmpty)
        var device = other.device
        device.isConfirmed = false
        let signed = JSONValue.object(try second.confirming(device.json().object ?? [:]))
        let replaced = try list(second, devices: [device.device.text: signed])
        listed.withLock { $0 = replaced }
        var sync = CryptoSync(kind: .plain)
        sync.changed = [own]
        _ = try await machine.received(sync, at: Fixtures.date)
        _ = await account.backend.keys.makeAllRequests()
        try await account.sync(toDevice: [other.key()])
        let message = try other.text("$1", "\(Self.marker) 1")
        original.withLock { $0 = message }
        server.seal()
        let (outbox, text) = (account.backend.outbox, WrittenText("\(Self.marker) 2"))
        try await outbox.edit(.message(MessageID("$1")), in: room, to: text, transaction: TransactionID("e"))
        for await items in outbox.items(in: room) {
            guard case .failed(let reason)? = items.first?.state else { continue }
            #expect(reason == DeliveryReason.ownIdentityReplaced.rawValue)
            break
        }
        #expect(types.isEmpty)
        #expect(try await !machine.adopt(second.secrets).isEmpty)
        try await outbox.retry(in: room) { RoomSealer.isHeld(reason: $0) }
        await account.backend.sendingEnds(in: room)
        #expect(types == ["m.room.encrypted"])
        expectNothingInTheClear()
        await account.close()
    }

    @Test("Texts, captions, edits, files and file names are encrypted; reactions and redactions are not")
    func kinds() async throws {
        let account = try await sealed()
        let backend = account.backend
        let data = Data(String(repeating: Self.marker, count: 1000).utf8)
        let file = try await backend.storeMedia(
            .data(data), named: "\(Self.marker).txt", type: "x/\(Self.marker)", progress: { _ in })
        try await backend.send(Fixtures.outgoing("\(Self.marker) 1", transaction: "t1"), to: room)
        let withFile = WrittenMessage("\(Self.marker) 2", files: [file])
        try await backend.send(withFile, as: TransactionID("t2"), to: room)
        await backend.sendingEnds(in: room)
        try await account.sync(server.events)
        let messages = try await account.messages
        #expect(messages.map(\.text) == ["\(Self.marker) 1", "\(Self.marker) 2"])
        #expect(messages.last?.attachments.first?.name == "\(Self.marker).txt")
        #expect(messages.allSatisfy { $0.seal == nil && $0.transactionID != nil })
        let first = try #require(messages.first?.id)
        try await backend.edit(first, in: room, to: WrittenText("\(Self.marker) 3"))
        try await backend.react("👍", isAdded: true, to: first, in: room)
        try await backend.delete(try #require(messages.last?.id), in: room)
        await backend.sendingEnds(in: room)
        try await account.sync(server.events)
        #expect(try await account.messages.first?.text == "\(Self.marker) 3")
        #expect(types == ["m.room.encrypted", "m.room.encrypted", "m.room.encrypted", "m.reaction"])
        expectNothingInTheClear()
        let redactions = account.server.requests.filter { $0.url.path.contains("/redact/") }
        #expect(redactions.map(\.json) == [[:]])
        await account.close()
    }

    @Test("Without keys nothing is sent; queued messages are sent once there are keys")
    func withoutKeys() async throws {
        var account = try await start(withKeys: false)
        try await account.sync(EncryptedAccount.state)
        server.seal()
        try await account.backend.send(Fixtures.outgoing(Self.marker, transaction: "t"), to: room)
        try await account.sync([Events.text("$later", "x")])
        #expect(server.events.isEmpty)
        await account.close()
        expectNothingInTheClear()
        account = try await start()
        try await account.sync([])
        await account.backend.sendingEnds(in: room)
        #expect(types == ["m.room.encrypted"])
        expectNothingInTheClear()
        await account.close()
    }

    @Test("A room stays encrypted after leaving it, after other state events, and after losing the history")
    func neverForgotten() async throws {
        var account = try await sealed()
        let id = room.rawValue
        let leave: JSONValue = ["timeline": ["events": [Events.member(EncryptedAccount.user.rawValue, "Me", "leave")]]]
        account.server.sync(["next_batch": "l", "rooms": ["leave": [id: leave]]])
        try await account.server.waitUntilConsumed()
        #expect(try await account.store.encryptedRooms().isEmpty)
        // When the user rejoins, the server does not report the encryption.
        try await account.sync(Self.clearState)
        try await account.backend.send(Fixtures.outgoing("\(Self.marker) 1", transaction: "t1"), to: room)
        await account.backend.sendingEnds(in: room)
        let redacted = Events.event("$crypt2", "m.room.encryption", [:], stateKey: "")
        let other = Events.event("$crypt3", "m.room.encryption", ["algorithm": "m.none"], stateKey: "")
        try await account.sync([redacted, other])
        try await account.backend.send(Fixtures.outgoing("\(Self.marker) 2", transaction: "t2"), to: room)
        await account.backend.sendingEnds(in: room)
        #expect(types == ["m.room.encrypted", "m.room.encrypted"])
        expectNothingInTheClear()
        await account.close()
        account = try await start()
        let isKnown = try await account.backend.keys.isEncrypted(room)
        #expect(isKnown)
        await account.close()
    }

    /// Goes offline once the server has an event whose response is lost. No later attempt reaches the server.
    private func loseResponse(_ account: EncryptedAccount, of send: () async throws -> Void) async throws {
        let (outbox, known) = (account.backend.outbox, server.events.count)
        server.fail(Array(repeating: .lost, count: 1_000_000) + [.unanswered])
        try await send()
        while server.events.count == known { try await Task.sleep(for: .milliseconds(5)) }
        await outbox.setOnline(false)
        for await items in outbox.items(in: room) where !items.contains(where: { $0.state == .sending }) { break }
    }

    @Test(
        "A message that an earlier attempt has sent unencrypted is not sent again, also if the clock is set back",
        arguments: [0, 1800.0])
    func sentBefore(setBack seconds: TimeInterval) async throws {
        let time = Mutex(Fixtures.date)
        let account = try await EncryptedAccount.start(
            in: folder, credentials, clock: NonWaitingClock(), answering: { [server] in server.answer($0) },
            now: { time.withLock { $0 } })
        try await account.sync(Self.clearState)
        let outbox = account.backend.outbox
        try await loseResponse(account) {
            try await account.backend.send(Fixtures.outgoing("clear", transaction: "t"), to: room)
        }
        time.withLock { $0 -= seconds }
        try await account.sync([Self.encryption])
        server.seal()
        server.fail([])
        await outbox.setOnline(true)
        await account.backend.sendingEnds(in: room)
        #expect(types == ["m.room.message"])
        await account.close()
    }

    @Test("An edit that an earlier attempt has sent unencrypted is not sent again")
    func editedBefore() async throws {
        let account = try await start()
        try await account.sync(Self.clearState)
        let outbox = account.backend.outbox
        try await account.backend.send(Fixtures.outgoing("clear", transaction: "t"), to: room)
        await account.backend.sendingEnds(in: room)
        try await account.sync(server.events)
        let id = try #require(try await account.messages.last?.id)
        try await loseResponse(account) {
            try await account.backend.edit(id, in: room, to: WrittenText("edited"))
        }
        try await account.sync([Self.encryption])
        server.seal()
        server.fail([])
        await outbox.setOnline(true)
        await account.backend.sendingEnds(in: room)
        #expect(types == ["m.room.message", "m.room.message"])
        #expect(try await account.messages.last?.text == "edited")
        await account.close()
    }

    @Test("A message that was sent unencrypted is not sent again if the next attempt finds the room encrypted")
    func sentBeforeEncryptionIsFound() async throws {
        let isEncrypted = Mutex(false)
        let account = try await EncryptedAccount.start(in: folder, credentials, clock: NonWaitingClock()) {
            [server] request in
            guard request.method == .get, request.url.path.contains("m.room.encryption") else {
                return server.answer(request)
            }
            return isEncrypted.withLock { $0 } ? ["algorithm": "m.megolm.v1.aes-sha2"] : nil
        }
        try await account.sync(Self.clearState)
        let outbox = account.backend.outbox
        try await loseResponse(account) {
            try await account.backend.send(Fixtures.outgoing("clear", transaction: "t"), to: room)
        }
        try await account.store.updateRoomState(of: room) { $0.encryption = .unknown }
        isEncrypted.withLock { $0 = true }
        server.fail([])
        await outbox.setOnline(true)
        await account.backend.sendingEnds(in: room)
        #expect(types == ["m.room.message"])
        await account.close()
    }

    @Test("Nothing is encrypted until the sync has caught up: the known members may include users who have left")
    func beforeCatchingUp() async throws {
        let account = try await sealed()
        // From here on, the members are known and the room has a key.
        try await account.backend.send(Fixtures.outgoing("\(Self.marker) 1", transaction: "t1"), to: room)
        await account.backend.sendingEnds(in: room)
        let status = SyncStatus()
        let sealer = RoomSealer(
            keys: account.backend.keys, client: account.backend.client, ownUserID: EncryptedAccount.user,
            syncStatus: status)
        let text: JSONValue = ["msgtype": "m.text", "body": "x"]
        await #expect(throws: DeliveryError.unreachable) {
            try await sealer.sealed("m.room.message", text, in: room)
        }
        status.hasCaughtUp = true
        let content = try await sealer.sealed("m.room.message", text, in: room)
        #expect(content["ciphertext"]?.string != nil)
        await account.close()
    }

    @Test("A member removed here gets no keys of later messages, even before a sync confirms the removal")
    func removed() async throws {
        let account = try await sealed()
        try await account.backend.send(Fixtures.outgoing("\(Self.marker) 1", transaction: "t1"), to: room)
        await account.backend.sendingEnds(in: room)
        try await account.backend.removeMember(MemberID("@ann:example.org"), from: room)
        try await account.backend.send(Fixtures.outgoing("\(Self.marker) 2", transaction: "t2"), to: room)
        await account.backend.sendingEnds(in: room)
        let sessions = server.events.compactMap { $0["content"]?["session_id"]?.string }
        #expect(sessions.count == 2 && Set(sessions).count == 2)
        await account.close()
    }

    @Test("After syncs without the keys, the members are requested again")
    func missedSync() async throws {
        var account = try await sealed()
        try await account.backend.send(Fixtures.outgoing("\(Self.marker) 1", transaction: "t1"), to: room)
        await account.backend.sendingEnds(in: room)
        await account.close()
        account = try await start(withKeys: false)
        try await account.sync([Events.member("@ann:example.org", "Ann", "leave")])
        await account.close()
        account = try await start()
        try await account.sync([])
        try await account.backend.send(Fixtures.outgoing("\(Self.marker) 2", transaction: "t2"), to: room)
        await account.backend.sendingEnds(in: room)
        #expect(account.server.paths.contains { $0.hasSuffix("/members") })
        expectNothingInTheClear()
        await account.close()
    }

    @Test("While the record of encrypted rooms cannot be read, nothing is sent into any room")
    func unreadableRecord() async throws {
        let account = try await start()
        try await account.sync(Self.clearState)
        server.seal()
        let store = try #require(await account.backend.keys.store)
        store.beforeAccess.withLock { $0 = { throw ChatError.storage(reason: "failed on purpose") } }
        // Sending may fail for the same reason.
        _ = try? await account.backend.send(Fixtures.outgoing(Self.marker, transaction: "t"), to: room)
        await #expect(throws: ChatError.self) { try await account.backend.isEncrypted(room) }
        await #expect(throws: ChatError.self) { try await account.backend.encryption.way(into: room) }
        #expect(server.events.isEmpty)
        store.beforeAccess.withLock { $0 = {} }
        await account.close()
        expectNothingInTheClear()
    }

    @Test("A link in an encrypted room is not sent to the server, even if only the record contains the room")
    func linkPreview() async throws {
        let account = try await start()
        try await account.sync(Self.clearState)
        try await account.backend.keys.noteEncrypted([(ExactText(room.rawValue), .null)])
        #expect(try await account.backend.linkPreview(of: "https://\(Self.marker).example", in: room) == nil)
        server.seal()
        expectNothingInTheClear()
        #expect(!account.server.paths.contains { $0.contains("preview") })
        await account.close()
    }

    @Test("If storing keys fails at any step, nothing is sent unencrypted or twice, and the message is sent")
    func failingKeyStore() async throws {
        for number in 1...14 {
            let tests = EncryptedSendingTests()
            let account = try await tests.sealed()
            let store = try #require(await account.backend.keys.store)
            let count = Mutex(0)
            store.beforeAccess.withLock { access in
                access = {
                    let reached = count.withLock { count in
                        count += 1
                        return count
                    }
                    if reached == number { throw ChatError.storage(reason: "failed on purpose") }
                }
            }
            // If queueing is the access that fails, the message remains a draft and is sent again.
            let message = Fixtures.outgoing("\(Self.marker) \(number)", transaction: "t")
            do {
                try await account.backend.send(message, to: room)
            } catch {
                try await account.backend.send(message, to: room)
            }
            await account.backend.sendingEnds(in: room)
            #expect(tests.types == ["m.room.encrypted"], "access \(number)")
            tests.expectNothingInTheClear("access \(number)")
            store.beforeAccess.withLock { $0 = {} }
            try await account.sync(tests.server.events)
            #expect(try await account.messages.map(\.text) == ["\(Self.marker) \(number)"])
            await account.close()
        }
    }
}
