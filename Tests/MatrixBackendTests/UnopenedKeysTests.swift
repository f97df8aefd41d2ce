import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing
import ToolSupport

@testable import MatrixBackend

/// Room keys that arrive while the device's keys cannot be opened.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct UnopenedKeysTests {
    private let folder = TemporaryFolder()
    private let credentials = MemoryCredentialStore()
    private let devices = KnownDevices()
    private static let user = MemberID("@me:example.org")

    private var keys: URL { folder.path("store") }

    /// The stored to-device messages that could not be decrypted.
    private func kept() async throws -> [CryptoRecord] {
        let store = try KeyStore(folder: keys, isNew: false)
        let records = try await store.cryptoRecords(.unopenedMessage, owner: nil)
        try await store.close()
        return records
    }

    private func published() async throws -> SealingPeer {
        let account = try await EncryptedAccount.start(in: folder, credentials, devices: devices)
        let peer = try await account.peer()
        await account.close()
        return peer
    }

    @Test("With a plain sync, keys that arrive while the keyring is locked decrypt their messages later")
    func plain() async throws {
        let peer = try await published()
        var account = try await EncryptedAccount.start(in: folder, nil, devices: devices)
        try await account.sync(toDevice: [peer.key()])
        try await account.sync([peer.text("$1", "Hello")])
        #expect(try await account.message("$1")?.seal != nil)
        // By now, the server has deleted the key.
        await account.close()
        #expect(try await kept().count == 2)
        account = try await EncryptedAccount.start(in: folder, credentials, devices: devices)
        let opened = try await account.message("$1") { $0.seal == nil }
        #expect(opened.text == "Hello")
        await account.close()
        #expect(try await kept().isEmpty)
    }

    @Test("A key that meets a damaged record is stored, as are the messages that follow it")
    func damagedUnderWay() async throws {
        let peer = try await published()
        var account = try await EncryptedAccount.start(in: folder, credentials, devices: devices)
        try await account.sync()
        let key = try peer.key()
        // Nothing writes the account meanwhile.
        _ = await account.backend.keys.makeAllRequests()
        let other = try KeyStore(folder: keys, isNew: false)
        let intact = try #require(try await other.cryptoRecord(CryptoRecord.Key(.account, id: "keys")))
        try await other.commit(CryptoChange(put: [CryptoRecord(intact.key, value: Data("damaged".utf8))]))
        // A change that fails has the machine read its records again.
        let machine = try #require(await account.backend.keys.machine)
        await #expect(throws: CryptoMachine.VerificationFailure.noDevice) {
            try await machine.verifyDevice(nil, at: Fixtures.date)
        }
        try await account.sync([peer.text("$1", "One")], toDevice: [key])
        try peer.rotate()
        let next = try peer.key()
        try await account.sync([peer.text("$2", "Two")], toDevice: [next])
        #expect(account.backend.keys.condition.problem != nil)
        await account.close()
        try await other.commit(CryptoChange(put: [intact]))
        try await other.close()
        account = try await EncryptedAccount.start(in: folder, credentials, devices: devices)
        for (id, text) in [("$1", "One"), ("$2", "Two")] {
            #expect(try await account.message(id) { $0.seal == nil }.text == text)
        }
        await account.close()
    }

    private func encryption(_ server: FakeHomeserver) throws -> AccountEncryption {
        let client = MatrixClient(
            server: try #require(URL(string: "https://example.org")), token: nil, transport: server)
        return AccountEncryption(
            user: Self.user, client: client, folder: keys, clock: ManualClock(), now: { Fixtures.date })
    }

    private func open(_ encryption: AccountEncryption) async throws {
        await encryption.open(
            device: "D", credential: KeyCredential(account: Self.user.rawValue, place: credentials))
        #expect(encryption.condition == .on)
    }

    @Test("Messages from before the keys were opened are decrypted before later ones")
    func order() async throws {
        let peer = try await published()
        let encryption = try encryption(FakeHomeserver { _ in nil })
        var sync = CryptoSync(kind: .plain)
        sync.events = [try peer.key()]
        try await encryption.take(sync)
        try await open(encryption)
        // Simulates a key that arrives while the account's keys are being opened.
        try await UnopenedMessages.keep(sync.events, in: try #require(await encryption.store))
        let first = try peer.group.id
        try peer.rotate()
        sync.events = [try peer.key()]
        try await encryption.take(sync)
        let room = ExactText(EncryptedAccount.room.rawValue)
        let sessions = try [first, peer.group.id].map { SessionID(room: room, session: ExactText($0)) }
        #expect(try await encryption.known(Set(sessions)) == Set(sessions))
        #expect(await encryption.arrivedSessions == Set(sessions))
        await encryption.close()
    }

    @Test("With a sliding sync the server retains them: nothing is stored here, and the position stays")
    func sliding() async throws {
        let peer = try await published()
        let encryption = try encryption(FakeHomeserver { _ in nil })
        #expect(try await encryption.position() == nil)
        // The response to a request made while the keys were open.
        var sync = CryptoSync(kind: .sliding)
        (sync.events, sync.position) = ([try peer.key()], "9")
        try await encryption.take(sync)
        try await open(encryption)
        #expect(try await encryption.position() == AccountEncryption.Position(since: nil))
        try await encryption.take(sync)
        #expect(try await encryption.position() == AccountEncryption.Position(since: "9"))
        await encryption.close()
        #expect(try await kept().isEmpty)
    }

    @Test("If the file cannot be written, the sync fails, so that the server retains them")
    func unwritable() async throws {
        let peer = try await published()
        let encryption = try encryption(FakeHomeserver { _ in nil })
        var sync = CryptoSync(kind: .plain)
        sync.events = [try peer.key()]
        let file = keys.appending(path: "keys.sqlite"), aside = folder.path("aside")
        try FileManager.default.createDirectory(at: aside, withIntermediateDirectories: false)
        // Including the write-ahead log, if there is one.
        let names = try FileManager.default.contentsOfDirectory(atPath: keys.path).filter {
            $0.hasPrefix("keys.sqlite")
        }
        for name in names {
            try FileManager.default.moveItem(at: keys.appending(path: name), to: aside.appending(path: name))
        }
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        await #expect(throws: (any Error).self) { try await encryption.take(sync) }
        try FileManager.default.removeItem(at: file)
        // Without the file, the keys that could decrypt the message are lost, so the sync continues.
        try await encryption.take(sync)
        for name in names {
            try FileManager.default.moveItem(at: aside.appending(path: name), to: keys.appending(path: name))
        }
        try await encryption.take(sync)
        #expect(try await #require(await encryption.store).cryptoRecords(.unopenedMessage, owner: nil).count == 2)
        await encryption.close()
    }

    @Test("A damaged file is repaired to store them")
    func damagedFile() async throws {
        let peer = try await published()
        // Closing the last connection removes the write-ahead log, which could repair the file.
        #expect(try await kept().isEmpty)
        let file = keys.appending(path: "keys.sqlite")
        var bytes = try Data(contentsOf: file)
        bytes.replaceSubrange(0..<100, with: Data(repeating: 0x55, count: 100))
        try bytes.write(to: file)
        let encryption = try encryption(FakeHomeserver { _ in nil })
        var sync = CryptoSync(kind: .plain)
        sync.events = [try peer.key()]
        try await encryption.take(sync)
        try await open(encryption)
        #expect(await encryption.arrivedSessions.count == 1)
        await encryption.close()
        let copies = try FileManager.default.contentsOfDirectory(atPath: keys.path)
            .filter { $0.hasPrefix("keys.sqlite-damaged-") && !$0.hasSuffix("-wal") }
        #expect(copies.count == 1)
    }

    @Test("An account that never had keys stores nothing")
    func noKeys() async throws {
        try FileManager.default.createDirectory(at: keys, withIntermediateDirectories: true)
        let encryption = try encryption(FakeHomeserver { _ in nil })
        var sync = CryptoSync(kind: .plain)
        sync.events = [["type": "m.room.encrypted", "sender": "@a:b", "content": [:]]]
        try await encryption.take(sync)
        #expect(!KeyStore.exists(in: keys))
        await encryption.close()
    }
}
