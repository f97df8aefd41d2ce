import ChatCore
import ChatOutbox
import ChatTestSupport
import Composer
import Foundation
import JSONReading
import Testing
import ToolSupport

@testable import ChatStore
@testable import MatrixBackend

/// An account in a program built without encryption.
@Suite(.enabled(if: !EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct AccountWithoutLibraryTests {
    private let folder = TemporaryFolder()
    private let server = RecordingHomeserver()
    private static let made = RoomID("!made:example.org")
    private static let ann = "@ann:example.org"
    private static let marker = "GEHEIM"
    private static let clearState = EncryptedAccount.state.filter { $0["type"] != "m.room.encryption" }
    private var room: RoomID { EncryptedAccount.room }

    private func start() async throws -> EncryptedAccount {
        let account = try await EncryptedAccount.start(in: folder, nil, clock: NonWaitingClock()) { [server] request in
            let path = request.url.path
            if path.hasSuffix("/createRoom") { return ["room_id": .string(Self.made.rawValue)] }
            return path.hasSuffix("/m.direct") ? [:] : server.answer(request)
        }
        let backend = account.backend
        await backend.openKeys(of: "D", from: MemoryCredentialStore())
        #expect(backend.keys.condition == .off(.notBuilt))
        return account
    }

    private func creations(_ account: EncryptedAccount) -> [JSONValue] {
        account.server.requests.filter { $0.url.path.hasSuffix("/createRoom") }.compactMap(\.json)
    }

    @Test("A message that waits for an encrypted room fails with the reason; nothing else can be queued, or is sent")
    func sending() async throws {
        let account = try await start()
        let backend = account.backend
        try await account.sync(Self.clearState)
        // Only the server knows yet that the room is encrypted.
        try await account.store.updateRoomState(of: room) { $0.encryption = .unknown }
        server.encrypt()
        server.seal()
        try await backend.send(Fixtures.outgoing(Self.marker, transaction: "t1"), to: room)
        for await items in backend.outbox.items(in: room) {
            guard case .failed(let reason)? = items.first?.state else { continue }
            #expect(reason == DeliveryReason.notBuilt.rawValue)
            #expect(items.first?.failure == .encryptionUnavailable)
            break
        }
        #expect(try await backend.isEncrypted(room))
        await #expect(throws: ChatError.notPermitted) {
            try await backend.send(Fixtures.outgoing(Self.marker, transaction: "t2"), to: room)
        }
        await #expect(throws: ChatError.notPermitted) {
            try await backend.edit(MessageID("$1"), in: room, to: WrittenText(Self.marker))
        }
        #expect(!account.server.paths.contains { $0.contains("/send/") })
        #expect(!server.sealedBytes.contains { String(decoding: $0, as: UTF8.self).contains(Self.marker) })
        await account.close()
    }

    @Test("A direct chat is created unencrypted although the user wants them encrypted")
    func directChat() async throws {
        let account = try await start()
        let backend = account.backend
        backend.privacy.current = Privacy(encryptsDirectChats: true)
        let created = try await backend.openDirect(with: Self.ann)
        #expect(created == Self.made)
        #expect(creations(account).last?["is_direct"] == true && creations(account).last?["initial_state"] == nil)
        #expect(try await !backend.isEncrypted(Self.made))
        await account.close()
    }

    @Test("No room is created that has to be encrypted, and none gets encrypted; others are created")
    func rooms() async throws {
        let account = try await start()
        let backend = account.backend
        await #expect(throws: ChatError.encryptionUnavailable) {
            try await backend.createRoom(RoomRequest(name: "Garden"))
        }
        await #expect(throws: ChatError.encryptionUnavailable) { try await backend.enableEncryption(in: room) }
        #expect(creations(account).isEmpty && !server.isEncrypted)
        let created = try await backend.createRoom(RoomRequest(name: "Clear", isEncrypted: false))
        #expect(created == Self.made && creations(account).last?["initial_state"] == nil)
        await account.close()
    }

    @Test("Messages that another program could not read while its keyring was locked do not ask for it here")
    func lockedBefore() async throws {
        var account = try await EncryptedAccount.start(in: folder, nil)
        try await account.sync(EncryptedAccount.state)
        let event = Events.event(
            "$1", "m.room.encrypted",
            ["algorithm": "m.megolm.v1.aes-sha2", "session_id": "s", "ciphertext": "AAAA"])
        var message = NewMessage(
            id: MessageID("$1"), sender: MemberID(Self.ann), content: Message.Content(sealed: .keysLocked),
            sentAt: Fixtures.date)
        message.isEncrypted = true
        message.ciphertext = Ciphertext(
            of: message.id, reason: .keysLocked, session: "s",
            data: String(decoding: try event.encoded(), as: UTF8.self))
        let batch = RoomBatch(id: room, createdAt: Fixtures.date, events: [.message(message)])
        _ = try await account.store.apply(SyncBatch(rooms: [batch]))
        await account.close()
        account = try await EncryptedAccount.start(in: folder, nil)
        _ = try await account.message("$1") { $0.seal == .notBuilt }
        await account.close()
    }

    @Test("While the keyring is locked, it is known that this program has no encryption, which no keyring brings")
    func lockedKeyring() async throws {
        let list = try await ChatStore.open(in: folder.path("list"))
        try await list.saveAccount(
            Account(
                id: EncryptedAccount.user.rawValue, kind: MatrixAccounts.kind, server: "https://example.org",
                device: "D", name: "Me"))
        let accounts = MatrixAccounts(
            list: list, folders: AccountFolders(root: folder.path("accounts")),
            keyring: FakeCredentialStore(failure: .locked), transport: FakeTransport(200), deviceName: "Test",
            clock: ManualClock())
        try await accounts.start()
        for await states in accounts.accountStates() where states.first?.condition == .locked(.locked) {
            #expect(states.first?.encryption == .off(.notBuilt))
            break
        }
        await accounts.close()
        await list.close()
    }
}
