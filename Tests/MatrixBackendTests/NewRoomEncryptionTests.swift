import ChatCore
import ChatOutbox
import ChatTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Synchronization
import Testing
import ToolSupport

@testable import ChatStore
@testable import MatrixBackend

/// Rooms encrypted from their first event on, and rooms whose encryption is turned on later.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct NewRoomEncryptionTests {
    private let folder = TemporaryFolder()
    private let credentials = MemoryCredentialStore()
    private static let made = RoomID("!made:example.org")
    private static let ann = "@ann:example.org"
    private static let setting: JSONValue = [
        ["type": "m.room.encryption", "state_key": "", "content": ["algorithm": "m.megolm.v1.aes-sha2"]]
    ]
    private static let clearState = EncryptedAccount.state.filter { $0["type"] != "m.room.encryption" }
    private var room: RoomID { EncryptedAccount.room }

    private func start(
        withKeys: Bool = true, privacy: Privacy = Privacy(),
        answering: @escaping @Sendable (MatrixRequest) -> JSONValue? = { _ in nil }
    ) async throws -> EncryptedAccount {
        let account = try await EncryptedAccount.start(in: folder, withKeys ? credentials : nil) { request in
            if let answer = answering(request) { return answer }
            let path = request.url.path
            if path.hasSuffix("/createRoom") { return ["room_id": .string(Self.made.rawValue)] }
            return path.hasSuffix("/m.direct") ? [:] : nil
        }
        account.backend.privacy.current = privacy
        return account
    }

    private func creations(_ account: EncryptedAccount) -> [JSONValue] {
        account.server.requests.filter { $0.url.path.hasSuffix("/createRoom") }.compactMap(\.json)
    }

    @Test("Private rooms and direct chats are encrypted, which is recorded before anything can be sent")
    func created() async throws {
        let account = try await start()
        let backend = account.backend
        #expect(try await backend.createRoom(RoomRequest(name: "Garden")) == Self.made)
        #expect(creations(account).last?["initial_state"] == Self.setting)
        #expect(try await backend.keys.encryptedRoom(Self.made)?.isSupported == true)
        #expect(try await backend.isEncrypted(Self.made))
        #expect(try await backend.encryption.way(into: Self.made) == .sealed)
        try await backend.createRoom(named: "Garden")
        #expect(creations(account).last?["initial_state"] == Self.setting)
        _ = try await backend.openDirect(with: Self.ann)
        #expect(creations(account).last?["is_direct"] == true)
        #expect(creations(account).last?["initial_state"] == Self.setting)
        for request in [RoomRequest(name: "Open", address: "open"), RoomRequest(name: "Clear", isEncrypted: false)] {
            _ = try await backend.createRoom(request)
            #expect(creations(account).last?["initial_state"] == nil)
        }
        backend.privacy.current = Privacy(encryptsDirectChats: false)
        _ = try await backend.openDirect(with: Self.ann)
        #expect(creations(account).last?["is_direct"] == true && creations(account).last?["initial_state"] == nil)
        await account.close()
    }

    @Test("Without keys, no room is created that must be encrypted")
    func withoutKeys() async throws {
        let account = try await start(withKeys: false)
        let backend = account.backend
        await #expect(throws: ChatError.encryptionUnavailable) {
            try await backend.createRoom(RoomRequest(name: "Garden"))
        }
        await #expect(throws: ChatError.encryptionUnavailable) { try await backend.openDirect(with: Self.ann) }
        await #expect(throws: ChatError.encryptionUnavailable) { try await backend.enableEncryption(in: room) }
        #expect(creations(account).isEmpty)
        try await backend.createRoom(named: "Clear")
        #expect(creations(account).last?["initial_state"] == nil)
        backend.privacy.current = Privacy(encryptsDirectChats: false)
        _ = try await backend.openDirect(with: Self.ann)
        #expect(creations(account).count == 2 && creations(account).last?["initial_state"] == nil)
        await account.close()
    }

    @Test("With lost keys, no unencrypted direct chat is created", arguments: [false, true])
    func lostKeys(isCredential: Bool) async throws {
        try await start().close()
        if !isCredential {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("store").path)
            for name in names where name.hasPrefix("keys.sqlite") {
                try FileManager.default.removeItem(atPath: folder.path("store/\(name)").path)
            }
        }
        let account = try await start(withKeys: false)
        await account.backend.openKeys(
            of: "D",
            credential: KeyCredential(
                account: EncryptedAccount.user.rawValue, place: isCredential ? MemoryCredentialStore() : credentials))
        #expect(account.backend.keys.condition == .off(isCredential ? .credentialLost : .missing))
        await #expect(throws: ChatError.encryptionUnavailable) {
            try await account.backend.openDirect(with: Self.ann)
        }
        #expect(creations(account).isEmpty)
        await account.close()
    }

    @Test("A room whose encryption could not be recorded is not added")
    func fullDisk() async throws {
        let account = try await start()
        let keys = try #require(await account.backend.keys.store)
        keys.beforeAccess.withLock { $0 = { throw ChatError.diskFull } }
        await #expect(throws: ChatError.diskFull) {
            try await account.backend.createRoom(RoomRequest(name: "Garden"))
        }
        await #expect(throws: ChatError.diskFull) { try await account.backend.openDirect(with: Self.ann) }
        #expect(try await !account.store.hasRoom(Self.made))
        keys.beforeAccess.withLock { $0 = {} }
        await account.close()
    }

    @Test("A private account follows the general setting for encrypting direct chats")
    func privateAccount() {
        let preference = PrivacyPreference(Privacy(encryptsDirectChats: false))
        preference.privateAccounts = ["@a:b"]
        #expect(
            preference.current(of: MemberID("@a:b"))
                == Privacy(
                    sharesReadReceipts: false, sharesTyping: false, encryptsDirectChats: false))
        preference.current = Privacy()
        #expect(preference.current(of: MemberID("@a:b")).encryptsDirectChats)
    }

    @Test("What an invitation says is not recorded; once joined, the server is asked before anything is sent")
    func invitation() async throws {
        let answer = Mutex<JSONValue>(["errcode": "M_UNKNOWN", "status": 502])
        let account = try await start { request in
            if request.url.path.contains("/join/") { return ["room_id": .string(Self.made.rawValue)] }
            return request.url.path.contains("/state/m.room.encryption") ? answer.withLock { $0 } : nil
        }
        let backend = account.backend
        let state: JSONValue = [
            [
                "type": "m.room.encryption", "state_key": "", "sender": .string(Self.ann),
                "content": ["algorithm": "m.none"],
            ],
            [
                "type": "m.room.member", "state_key": .string(EncryptedAccount.user.rawValue),
                "sender": .string(Self.ann), "content": ["membership": "invite"],
            ],
        ]
        let invited: JSONValue = .object([Self.made.rawValue: ["invite_state": ["events": state]]])
        account.server.sync(["next_batch": "invited", "rooms": ["invite": invited]])
        try await account.server.waitUntilConsumed()
        #expect(try await account.store.invitations().map(\.isEncrypted) == [true])
        #expect(try await backend.keys.encryptedRoom(Self.made) == nil)
        // No sync brings the room's state.
        try await backend.accept(Self.made)
        await #expect(throws: (any Error).self) { try await backend.encryption.way(into: Self.made) }
        answer.withLock { $0 = ["algorithm": "m.megolm.v1.aes-sha2"] }
        #expect(try await backend.encryption.way(into: Self.made) == .sealed)
        #expect(try await backend.keys.encryptedRoom(Self.made)?.isSupported == true)
        await account.close()
    }

    // MARK: Turning it on

    private func turnsOn(_ request: MatrixRequest) -> Bool {
        request.method == .put && request.url.path.contains("/state/m.room.encryption")
    }

    @Test("Turning on encryption is recorded and published, and cannot be undone by the server")
    func turnedOn() async throws {
        let account = try await start { [self] in turnsOn($0) ? ["event_id": "$on"] : nil }
        let backend = account.backend
        try await account.sync(Self.clearState)
        var timeline = backend.timeline(of: room, limit: 10).makeAsyncIterator()
        _ = await timeline.next()
        #expect(try await backend.encryption.way(into: room) == .clear)
        try await backend.enableEncryption(in: room)
        let sent = try #require(account.server.requests.first(where: turnsOn)?.json)
        #expect(sent == ["algorithm": "m.megolm.v1.aes-sha2"])
        #expect(try await backend.isEncrypted(room))
        #expect(try await backend.encryption.way(into: room) == .sealed)
        while let update = await timeline.next() { if case .encrypted = update { break } }
        try await account.store.updateRoomState(of: room) { $0.encryption = .off }
        #expect(try await backend.encryption.way(into: room) == .sealed)
        await account.close()
    }

    @Test("If the server rejects it, the room stays unencrypted")
    func denied() async throws {
        let account = try await start { [self] request in
            if turnsOn(request) { return ["errcode": "M_FORBIDDEN", "status": 403] }
            return request.url.path.contains("/state/m.room.encryption")
                ? ["errcode": "M_NOT_FOUND", "status": 404] : nil
        }
        try await account.sync(Self.clearState)
        await #expect(throws: ChatError.notPermitted) { try await account.backend.enableEncryption(in: room) }
        #expect(try await account.backend.keys.encryptedRoom(room) == nil)
        // After the failure, the server's state is requested.
        #expect(try await account.backend.encryption.way(into: room) == .clear)
        #expect(account.server.requests.contains { $0.method == .get && $0.url.path.contains("/m.room.encryption") })
        await account.close()
    }

    @Test("Nothing is sent while it is being turned on; after a lost response, the server is asked first")
    func underWay() async throws {
        let isOn = Mutex(false)
        let account = try await start { [self] request in
            if turnsOn(request) {
                isOn.withLock { $0 = true }
                return ["errcode": "M_UNKNOWN", "status": 502]
            }
            guard request.url.path.contains("/state/m.room.encryption"), isOn.withLock({ $0 }) else { return nil }
            return ["algorithm": "m.megolm.v1.aes-sha2"]
        }
        let backend = account.backend
        try await account.sync(Self.clearState)
        try await backend.keys.encrypting(room) {
            await #expect(throws: DeliveryError.unreachable) { try await backend.encryption.way(into: room) }
            await #expect(throws: ChatError.busy) { try await backend.enableEncryption(in: room) }
        }
        #expect(try await backend.encryption.way(into: room) == .clear)
        await #expect(throws: (any Error).self) { try await backend.enableEncryption(in: room) }
        #expect(try await backend.encryption.way(into: room) == .sealed)
        #expect(try await backend.keys.encryptedRoom(room) != nil)
        await account.close()
    }

    @Test("A sync that has read the state of the room before it is turned on does not make it certainly off again")
    func stateReadBefore() async throws {
        let account = try await start { [self] request in
            turnsOn(request) ? ["errcode": "M_UNKNOWN", "status": 502] : nil
        }
        let (backend, store, room) = (account.backend, account.store, account.room)
        try await account.sync(Self.clearState)
        let enabling = try await backend.writer.serialized {
            var batch = RoomBatch(id: room, createdAt: Fixtures.date)
            batch.state = try await store.roomState(of: room)
            #expect(batch.state?.encryption == .off)
            let enabling = Task { try await backend.enableEncryption(in: room) }
            while await !backend.keys.roomsBeingEncrypted.contains(room) {
                try await Task.sleep(for: .milliseconds(5))
            }
            _ = try await store.apply(SyncBatch(rooms: [batch]))
            return enabling
        }
        await #expect(throws: ChatError.unreachable) { try await enabling.value }
        #expect(try await store.roomState(of: room).encryption == .unknown)
        await account.close()
    }

    @Test("If it begins to be turned on while the server is asked, the answer proves nothing")
    @MainActor func beginsMeanwhile() async throws {
        let (room, gate) = (EncryptedAccount.room, Gate())
        let store = try await ChatStore.open(in: folder.path("store"))
        var batch = RoomBatch(id: room, createdAt: Fixtures.date)
        batch.state = RoomState()
        _ = try await store.apply(SyncBatch(rooms: [batch]))
        // The server has no such state.
        let transport = FakeTransport.responding(pause: { _ in await gate.pass() }) { _ in nil }
        let keys = AccountEncryption(
            user: EncryptedAccount.user, client: transport.client, folder: store.folder, clock: ManualClock(),
            now: { Fixtures.date })
        let encryption = RoomEncryption(
            client: transport.client, store: store, keys: keys, syncStatus: SyncStatus(), gate: SerialGate())
        let asking = Task { try await encryption.way(into: room) }
        await eventually { gate.waiting == 1 }
        try await keys.encrypting(room) {}
        gate.open()
        await #expect(throws: DeliveryError.unreachable) { try await asking.value }
        #expect(try await store.roomState(of: room).encryption == .unknown)
        #expect(try await encryption.way(into: room) == .clear)
        #expect(transport.requests.count == 2)
        await keys.close()
        await store.close()
    }

    @Test("A sync that has read the state of the room before an answer proves nothing does not make it certainly off")
    func answerProvesNothing() async throws {
        let account = try await start()
        let (room, backend, store, server) = (account.room, account.backend, account.store, account.server)
        try await account.sync(Self.clearState)
        // Its sync has not caught up, so it asks the server.
        let encryption = RoomEncryption(
            client: backend.client, store: store, keys: backend.keys, syncStatus: SyncStatus(),
            gate: backend.writer.gate)
        let question = "/state/m.room.encryption"
        server.hold(question)
        let asking = Task { try await encryption.way(into: room) }
        while !server.paths.contains(where: { $0.contains(question) }) { try await Task.sleep(for: .milliseconds(5)) }
        try await backend.keys.encrypting(room) {}
        let reads = Mutex(0)
        try await backend.writer.serialized {
            var batch = RoomBatch(id: room, createdAt: Fixtures.date)
            batch.state = try await store.roomState(of: room)
            #expect(batch.state?.encryption == .off)
            store.beforeAccess.withLock { $0 = { reads.withLock { $0 += 1 } } }
            server.hold(nil)
            // The answer is here: the state is read once more.
            while reads.withLock({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(5)) }
            _ = try await store.apply(SyncBatch(rooms: [batch]))
        }
        await #expect(throws: DeliveryError.unreachable) { try await asking.value }
        #expect(try await store.roomState(of: room).encryption == .unknown)
        await account.close()
    }

    @Test(
        "If a sync reports encryption while the server is asked, the answer that it has none does not count",
        arguments: [true, false])
    func reportedMeanwhile(isRecorded: Bool) async throws {
        let account = try await start()
        let (room, backend, server) = (account.room, account.backend, account.server)
        try await account.sync(Self.clearState)
        // Its sync has not caught up, so it asks the server.
        let encryption = RoomEncryption(
            client: backend.client, store: account.store, keys: backend.keys, syncStatus: SyncStatus(),
            gate: backend.writer.gate)
        let previews = LinkPreviews(client: backend.client, store: account.store, encryption: encryption)
        let question = "/state/m.room.encryption"
        server.hold(question)
        let way = Task { try await encryption.way(into: room) }
        let preview = Task { try await previews.preview(of: "https://a.example", in: room) }
        while server.paths.count(where: { $0.contains(question) }) < 2 { try await Task.sleep(for: .milliseconds(5)) }
        // A sync does the one before the other; without a file for keys, only the other.
        if isRecorded {
            try await backend.keys.noteEncrypted([(ExactText(room.rawValue), .null)])
        } else {
            try await account.store.updateRoomState(of: room) { $0.encryption = .on }
        }
        server.hold(nil)
        #expect(try await way.value == .sealed)
        #expect(try await preview.value == nil)
        #expect(!server.paths.contains { $0.contains("preview") })
        await account.close()
    }

    // MARK: Sizes and files

    @Test("The length limit of encrypted messages is known while typing, without disk access")
    func counter() async throws {
        let account = try await start()
        let backend = account.backend
        try await account.sync(Self.clearState)
        let message = WrittenMessage(String(repeating: "x", count: 50_000))
        #expect(try await !backend.isEncrypted(room))
        #expect(backend.excess(of: message, isEdit: false, in: room) < 0)
        try await account.sync([
            Events.event("$crypt", "m.room.encryption", ["algorithm": "m.megolm.v1.aes-sha2"], stateKey: "")
        ])
        let keys = try #require(await backend.keys.store)
        keys.beforeAccess.withLock { $0 = { throw ChatError.diskFull } }
        let excess = backend.excess(of: message, isEdit: false, in: room)
        keys.beforeAccess.withLock { $0 = {} }
        #expect(excess > 5_000 && excess < 8_000)
        await #expect(throws: ChatError.messageTooLong) {
            try await backend.send(message, as: TransactionID("t"), to: room)
        }
        let fitting = WrittenMessage(String(repeating: "x", count: 50_000 - excess))
        #expect(backend.excess(of: fitting, isEdit: false, in: room) <= 0)
        await account.close()
        // After a restart, the limit is known once the room's window has called `isEncrypted`.
        let later = try await start()
        #expect(try await later.backend.isEncrypted(room))
        #expect(later.backend.excess(of: message, isEdit: false, in: room) == excess)
        await later.close()
    }
}
