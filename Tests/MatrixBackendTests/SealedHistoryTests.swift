import ChatCore
import ChatTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Synchronization
import Testing
import ToolSupport

@testable import ChatStore
@testable import MatrixBackend

/// Encrypted events that could not be decrypted when they were received: over restarts and failures, and in history.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct SealedHistoryTests {
    private let folder = TemporaryFolder()
    private let credentials = MemoryCredentialStore()
    private let devices = KnownDevices()
    private let room = EncryptedAccount.room

    private func start(
        answering: @escaping @Sendable (MatrixRequest) -> JSONValue? = { _ in nil }
    ) async throws -> EncryptedAccount {
        try await EncryptedAccount.start(in: folder, credentials, devices: devices, answering: answering)
    }

    // MARK: From start to start

    @Test("Messages sealed while the keys were not open are decrypted once they are")
    func keysWereNotOpen() async throws {
        var account = try await start()
        let ann = try await account.peer()
        try await account.sync([try ann.text("$0", "Lost")], toDevice: [try ann.key()])
        await account.close()
        account = try await EncryptedAccount.start(in: folder, nil, devices: devices)
        try await account.sync([try ann.text("$1", "Meanwhile"), try ann.edit("$2", of: "$1", to: "Edited meanwhile")])
        #expect(try await account.message("$1")?.seal == .keysUnavailable)
        await account.close()
        account = try await start()
        #expect(try await account.message("$1") { $0.kind == .text && $0.editedAt != nil }.text == "Edited meanwhile")
        await account.close()
    }

    @Test("A key that came to the backup while the program did not run is requested at the next start")
    func keyInBackup() async throws {
        let other = try await start()
        let ann = try await other.peer()
        let key = try ann.key()
        let event = try ann.text("$1", "Late")
        try await other.sync([event], toDevice: [key])
        let machine = try #require(await other.backend.keys.machine)
        let sessions = try await machine.exportedSessions(after: nil, limit: 10)
        let secret = try KeyMaterial()
        let backup = BackupServer()
        let version = backup.add(try BackupKey(secret))
        try backup.add(try #require(sessions.first), version, try BackupKey(secret))
        await other.close()

        let (home, place, clock) = (TemporaryFolder(), MemoryCredentialStore(), ManualClock())
        var account = try await EncryptedAccount.start(in: home, place, devices: devices)
        try await account.sync(EncryptedAccount.state)
        try await account.sync([event])
        #expect(try await account.message("$1")?.seal == .noKey)
        try await #require(await account.backend.keys.machine).setBackupKey(secret)
        await account.close()

        let time = Box(Fixtures.date)
        account = try await EncryptedAccount.start(
            in: home, place, devices: devices, clock: clock, answering: { backup.answer($0) }, now: { time.value })
        while try await account.message("$1")?.seal != nil {
            time.value += 61
            clock.advance(by: .seconds(61))
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try await account.message("$1")?.text == "Late")
        await account.close()
    }

    @Test("If the keys' changes cannot be stored, neither is the message; a repeated response is decrypted")
    func failingKeys() async throws {
        let account = try await EncryptedAccount.start(
            in: folder, credentials, devices: devices, clock: NonWaitingClock())
        let ann = try await account.peer()
        let key = try ann.key()
        let late = try ann.text("$1", "One")
        try await account.sync([late])
        let token = try await account.store.setting("matrix.sync.plain")
        let keys = try #require(await account.backend.keys.store)
        let second = try ann.text("$2", "Two")
        keys.beforeAccess.withLock { $0 = { throw ChatError.diskFull } }
        // One failure while the key is processed, and one while the message is decrypted.
        account.offer([second], toDevice: [key])
        account.offer([second])
        try await account.server.waitUntilConsumed()
        #expect(try await account.store.setting("matrix.sync.plain") == token)
        #expect(try await account.message("$2") == nil)
        keys.beforeAccess.withLock { $0 = {} }
        try await account.sync([second], toDevice: [key])
        #expect(try await account.messages.map(\.text) == ["One", "Two"])
        await account.close()
    }

    @Test("A key in a response that could not be stored is used with the next one, or after a restart")
    func failingStore() async throws {
        var account = try await EncryptedAccount.start(
            in: folder, credentials, devices: devices, clock: NonWaitingClock())
        let ann = try await account.peer()
        let keys = [try ann.key()]
        try await account.sync([try ann.text("$1", "One")])
        account.store.beforeAccess.withLock { $0 = { throw ChatError.diskFull } }
        account.offer(toDevice: keys)
        // The key is stored, while the history rejects every change.
        while try await account.backend.keys.known([sessionID(ann)]).isEmpty {
            try await Task.sleep(for: .milliseconds(5))
        }
        account.store.beforeAccess.withLock { $0 = {} }
        try await account.sync(toDevice: keys)
        #expect(try await account.message("$1")?.text == "One")

        try ann.rotate()
        let late = try ann.key()
        try await account.sync([try ann.text("$2", "Two")])
        account.store.beforeAccess.withLock { $0 = { throw ChatError.diskFull } }
        account.offer(toDevice: [late])
        while try await account.backend.keys.known([sessionID(ann)]).isEmpty {
            try await Task.sleep(for: .milliseconds(5))
        }
        account.store.beforeAccess.withLock { $0 = {} }
        await account.close()
        account = try await start()
        #expect(try await account.message("$2") { $0.kind == .text }.text == "Two")
        await account.close()
    }

    private func sessionID(_ peer: SealingPeer) throws -> SessionID {
        SessionID(room: ExactText(room.rawValue), session: ExactText(try peer.group.id))
    }

    // MARK: History

    @Test("Earlier history is decrypted with its keys")
    func history() async throws {
        let older = Box<[JSONValue]>([])
        let account = try await start { request in
            request.url.path.hasSuffix("/messages") ? ["chunk": .array(older.value)] : nil
        }
        let ann = try await account.peer()
        let key = try ann.key()
        older.value = [
            try ann.edit("$3", of: "$2", to: "Second edited"), try ann.text("$2", "Second"),
            try ann.text("$1", "First"),
        ]
        let newest = try ann.text("$9", "Newest")
        try await account.sync(
            toDevice: [key], ["timeline": ["limited": true, "prev_batch": "p", "events": [newest]]])
        _ = try await account.backend.messages(in: room, before: .max, limit: 50)
        #expect(try await account.messages.map(\.text) == ["First", "Second edited", "Newest"])
        await account.close()
    }

    /// Stores messages as if their events had not been stored.
    private func store(_ ids: [String], in account: EncryptedAccount) async throws {
        var batch = RoomBatch(id: room, createdAt: Fixtures.date)
        batch.events = ids.map { id in
            var message = NewMessage(
                id: MessageID(id), sender: MemberID("@ann:example.org"), content: Message.Content(sealed: .notFetched),
                sentAt: Fixtures.date)
            message.ciphertext = Ciphertext(of: MessageID(id), reason: .notFetched)
            message.isEncrypted = true
            return .message(message)
        }
        _ = try await account.store.apply(SyncBatch(rooms: [batch]))
    }

    @Test("Events that were not stored are there when an export begins to read, unless the server lacks them")
    func unfetchedBeforeReading() async throws {
        let events = Box<[String: JSONValue]>([:])
        let account = try await start { request in events.value[request.url.lastPathComponent] }
        let ann = try await account.peer()
        let key = try ann.key()
        events.value = ["$1": try ann.text("$1", "One"), "$2": try ann.text("$2", "Two")]
        try await account.sync(toDevice: [key])
        try await store(["$1", "$gone", "$2"], in: account)
        for _ in 1...2 {
            #expect(try await account.backend.fetchHistory(of: room) { _ in } == nil)
            #expect(try await account.messages.map(\.text) == ["One", "", "Two"])
        }
        #expect(account.server.paths.filter { $0.contains("/event/") }.count == 3, "each once")
        await account.close()
    }

    @Test("Events are requested again after the server has rejected all requests of the account")
    func unfetchedWhileBlocked() async throws {
        let events = Box<[String: JSONValue]>(["$1": ["errcode": "M_CONSENT_NOT_GIVEN", "status": 403]])
        let account = try await start { request in events.value[request.url.lastPathComponent] }
        let ann = try await account.peer()
        let key = try ann.key()
        let event = try ann.text("$1", "Once more")
        try await account.sync(toDevice: [key])
        try await store(["$1"], in: account)
        for await _ in account.backend.timeline(of: room, limit: 10) { break }
        while !account.server.paths.contains(where: { $0.contains("/event/") }) {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try await account.backend.fetchHistory(of: room) { _ in } == nil)
        #expect(try await account.message("$1")?.seal == .notFetched)
        events.value = ["$1": event]
        #expect(try await account.backend.fetchHistory(of: room) { _ in } == nil)
        #expect(try await account.message("$1")?.text == "Once more")
        await account.close()
    }

    @Test("Events that earlier versions did not store are requested when they are shown")
    func unfetched() async throws {
        let events = Box<[String: JSONValue]>([:])
        let account = try await start { request in events.value[request.url.lastPathComponent] }
        let ann = try await account.peer()
        let key = try ann.key()
        events.value = ["$1": try ann.text("$1", "Once more"), "$2": try ann.text("$2", "x")]
        try await account.sync(toDevice: [key])
        try ann.rotate()
        events.value["$3"] = try ann.text("$3", "Without a key")
        try await store(["$1", "$3", "$gone"], in: account)
        #expect(try await account.message("$1")?.seal == .notFetched)
        for await _ in account.backend.timeline(of: room, limit: 10) { break }
        _ = try await account.message("$1") { $0.text == "Once more" }
        _ = try await account.message("$3") { $0.seal == .beforeSignIn || $0.seal == .noKey }
        #expect(try await account.message("$gone")?.seal == .notFetched)
        let asked = account.server.paths.filter { $0.contains("/event/") }.count
        for await _ in account.backend.timeline(of: room, limit: 10) { break }
        try await account.sync([Events.text("$last", "x")])
        #expect(account.server.paths.filter { $0.contains("/event/") }.count == asked, "each once")
        await account.close()
    }
}

/// A mutable value in the server's responses.
private final class Box<Value: Sendable>: Sendable {
    private let stored: Mutex<Value>

    init(_ value: Value) { stored = Mutex(value) }

    var value: Value {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }
}
