import ChatCore
import ChatTestSupport
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing
import ToolSupport

@testable import ChatStore
@testable import MatrixBackend

/// An account whose stored keys are damaged in part.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct DamagedKeysTests {
    private static let user = EncryptedAccount.user
    private let folder = TemporaryFolder()
    private let credentials = MemoryCredentialStore()
    private let devices = KnownDevices()
    private let clock = ManualClock()

    private var keys: URL { folder.path("store") }
    private var file: URL { keys.appending(path: "keys.sqlite") }
    private var isMarked: Bool { FileManager.default.fileExists(atPath: keys.appending(path: "keys.suspect").path) }
    /// The number of damaged files that were copied aside.
    private var copies: Int {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: keys.path)
                .filter { $0.hasPrefix("keys.sqlite-damaged-") && !$0.hasSuffix("-wal") }.count
        }
    }

    // MARK: A damaged record

    private func account() async throws -> EncryptedAccount {
        try await EncryptedAccount.start(in: folder, credentials, devices: devices)
    }

    @Test("A damaged session seals its own messages alone, also after a restart, and encryption stays on.")
    func damagedSession() async throws {
        var account = try await account()
        let ann = try await account.peer()
        let damaged = CryptoRecord.Key(
            .inboundGroupSession, owner: ExactText(EncryptedAccount.room.rawValue), id: ExactText(try ann.group.id))
        var sealed = [try ann.key()]
        let lost = try (1...2).map { try ann.text("$lost\($0)", "Lost") }
        try ann.rotate()
        sealed.append(try ann.key())
        let read = try (1...2).map { try ann.text("$read\($0)", "Read") }
        try await account.sync(toDevice: sealed)
        let store = try #require(await account.backend.keys.store)
        let intact = try #require(try await store.cryptoRecord(damaged))
        var value = intact.value
        value[value.startIndex] ^= 1
        try await store.commit(CryptoChange(put: [CryptoRecord(damaged, value: value)]))
        for index in 0..<2 {
            try await account.sync([lost[index], read[index]])
            #expect(try await account.message("$lost\(index + 1)")?.seal == .damaged)
            #expect(try await account.message("$read\(index + 1)")?.text == "Read")
            #expect(account.backend.keys.condition == .on)
            await account.close()
            account = try await self.account()
        }
        let stored = try #require(await account.backend.keys.store)
        #expect(try await stored.cryptoRecord(damaged)?.value == value)
        // As if it had arrived anew right before the program ended.
        try await stored.commit(CryptoChange(put: [intact]))
        await account.close()
        account = try await self.account()
        for id in ["$lost1", "$lost2"] { _ = try await account.message(id) { $0.text == "Lost" } }
        await account.close()
    }

    // MARK: A damaged file

    private func encryption() throws -> AccountEncryption {
        let client = MatrixClient(
            server: try #require(URL(string: "https://example.org")), token: nil,
            transport: FakeHomeserver { _ in nil })
        return AccountEncryption(
            user: Self.user, client: client, folder: keys, clock: clock, now: { Fixtures.date })
    }

    private var credential: KeyCredential { KeyCredential(account: Self.user.rawValue, place: credentials) }

    /// Opens the keys as at a start, and closes them again.
    private func start(as device: String = "D") async throws -> EncryptionCondition {
        try FileManager.default.createDirectory(at: keys, withIntermediateDirectories: true)
        let encryption = try encryption()
        await encryption.open(device: device, credential: credential)
        let condition = encryption.condition
        await encryption.close()
        return condition
    }

    /// Adds records to the file, and closes it.
    /// - Returns: The number of the file's pages.
    @discardableResult
    private func add(_ kind: CryptoRecord.Kind, count: Int, size: Int) async throws -> Int {
        let store = try KeyStore(folder: keys, isNew: false)
        let records = (1...count).map { number in
            let value = Data(repeating: UInt8(ascii: "x"), count: size)
            return CryptoRecord(CryptoRecord.Key(kind, owner: "!r:b", id: ExactText("\(number)")), value: value)
        }
        try await store.commit(CryptoChange(put: records))
        try await store.close()
        return try Data(contentsOf: file).count / Self.pageSize
    }

    private static let pageSize = 4_096

    private func damage(page: Int) throws {
        var bytes = try Data(contentsOf: file)
        let offset = page * Self.pageSize
        bytes.replaceSubrange(
            offset..<offset + Self.pageSize, with: [UInt8](repeating: 0xA5, count: Self.pageSize))
        try bytes.write(to: file)
    }

    @Test(
        "Damage of a large file, found by the check beside its use or after an error, is repaired by the next start.",
        arguments: [false, true])
    func largeFile(isFoundByError: Bool) async throws {
        #expect(try await start() == .on)
        try damage(page: try await add(.withheldSession, count: 18, size: 1 << 20) / 2)
        let encryption = try encryption()
        await encryption.open(device: "D", credential: credential)
        #expect(encryption.condition == .on)
        if isFoundByError {
            let machine = try #require(await encryption.machine)
            try await encryption.end(for: ChatError.storage(reason: "failed on purpose"), of: machine)
            guard case .off(.damaged) = encryption.condition else { return #expect(Bool(false)) }
        } else {
            // Not beside the start, which it would slow down.
            await clock.waitForSleepers()
            #expect(!isMarked)
            clock.advance(by: .seconds(60))
            while !isMarked { try await Task.sleep(for: .milliseconds(5)) }
        }
        #expect(isMarked)
        await encryption.close()
        #expect(try copies == 0)
        #expect(try await start() == .on)
        #expect(try copies == 1)
        #expect(!isMarked)
        #expect(try await start() == .on)
        #expect(try copies == 1)
    }

    @Test("Damage that opening a large file meets is repaired at once.") func damageInOpening() async throws {
        #expect(try await start() == .on)
        // What opening reads, on a page of its own each.
        let pages = try await add(.unopenedMessage, count: 40, size: 3_000)
        try await add(.withheldSession, count: 18, size: 1 << 20)
        try damage(page: pages - 20)
        #expect(try await start() == .on)
        #expect(!isMarked)
        #expect(try copies == 1)
    }

    @Test("A sliding sync that comes as the file turns out to be damaged, and says nothing of keys, is missed.")
    func missedSync() async throws {
        #expect(try await start() == .on)
        try damage(page: try await add(.withheldSession, count: 18, size: 1 << 20) / 2)
        let encryption = try encryption()
        await encryption.open(device: "D", credential: credential)
        #expect(encryption.condition == .on)
        let store = try #require(await encryption.store)
        store.beforeAccess.withLock { $0 = { throw ChatError.storage(reason: "failed on purpose") } }
        try await encryption.take(SyncUpdate(token: "s"))
        guard case .off(.damaged) = encryption.condition else { return #expect(Bool(false)) }
        #expect(await encryption.hasUnnotedMiss)
        await encryption.close()
    }
    @Test("Intact keys stay where they are while the records beside them are unreadable.", arguments: ["D", "NEXT"])
    func unreadableLastingRecords(device: String) async throws {
        #expect(try await start() == .on)
        let lasting = keys.appending(path: "keys.lasting")
        try Data("[{".utf8).write(to: lasting)
        guard case .off(.storage) = try await start(as: device) else { return #expect(Bool(false)) }
        let names = try FileManager.default.contentsOfDirectory(atPath: keys.path)
        #expect(names.allSatisfy { !$0.hasPrefix("keys.sqlite-damaged-") && !$0.hasPrefix("keys.sqlite-earlier-") })
        try FileManager.default.removeItem(at: lasting)
        #expect(try await start(as: device) == .on)
        #expect(try copies == 0)
    }
    // MARK: An older file

    @Test("With an older copy of the file, no index of a session is used twice, and others read what is sent.")
    func olderFile() async throws {
        let server = RecordingHomeserver()
        let reader = try ReadingDevice("@bob:example.org", "BOB")
        try server.add(reader, named: "Bob")
        try devices.add(reader.device)
        let store = folder.path("store")
        var copy: KeyFiles?
        for number in 1...3 {
            let account = try await EncryptedAccount.start(
                in: folder, credentials, devices: devices, clock: NonWaitingClock()
            ) { server.answer($0) }
            try await account.sync(number == 1 ? EncryptedAccount.state : [])
            try await account.backend.send(
                Fixtures.outgoing("\(number)", transaction: "t\(number)"), to: account.room)
            await account.backend.sendingEnds(in: account.room)
            await account.close()
            if number == 1 { copy = try KeyFiles(in: store) }
            if number == 2 { try copy?.restore(in: store) }
        }
        for message in server.keyMessages { try reader.receive(message) }
        let contents = server.events.map { $0["content"] ?? .null }
        let read = try contents.map { try reader.read($0) }
        #expect(read.map { $0?.text } == ["1", "2", "3"])
        let used = zip(contents, read).map { "\($0["session_id"]?.string ?? "") \($1?.index ?? 0)" }
        #expect(Set(used).count == 3)
    }
}
