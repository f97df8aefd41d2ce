import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Synchronization
import Testing
import ToolSupport

@testable import MatrixBackend

/// Messages whose keys are in the backup.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct BackedUpMessageTests {
    private let server = BackupServer()
    private let key: BackupKey
    private let secret: KeyMaterial
    private let folder = TemporaryFolder()
    private let clock = ManualClock()
    private let version: String

    init() throws {
        secret = try KeyMaterial()
        key = try BackupKey(secret)
        version = server.add(key)
    }

    /// Attaches a backup that the account reads and writes, with the time of the manual clock.
    private func attach(to account: EncryptedAccount) async throws -> KeyBackup {
        let machine = try #require(await account.backend.keys.machine)
        try await machine.setBackupKey(secret)
        let sealed = account.backend.sealed
        let clock = clock
        let backup = KeyBackup(
            user: EncryptedAccount.user, machine: machine, client: server.client, folder: folder.url, clock: clock,
            now: { Fixtures.date + TimeInterval(clock.now.offset.components.seconds) },
            hooks: KeyBackup.Hooks(
                sign: { $0 }, isTrusted: { _ in false }, didImport: { try await sealed.openImported($0) }))
        await account.backend.keys.attach(backup)
        return backup
    }

    private func isComplete(_ backup: KeyBackup) async {
        for await standing in backup.standings() where standing == KeyBackup.Standing(backup: .on(remaining: 0)) {
            return
        }
    }

    private func add(_ ann: SealingPeer) throws {
        let session = try InboundGroupSession(sessionKey: ann.group.sessionKey)
        try server.add(
            BackedUpDevice.exported(session, in: EncryptedAccount.room.rawValue, by: OlmAccount().identityKey),
            version, key)
    }

    @Test("A message whose key is missing is opened with the backup's, in its place.") func lateKey() async throws {
        let account = try await EncryptedAccount.start(in: folder, MemoryCredentialStore())
        let ann = try await account.peer()
        let backup = try await attach(to: account)
        await isComplete(backup)
        try add(ann)
        try await account.sync([ann.text("$1", "From the backup"), Events.text("$2", "After it")])
        let sealed = try await account.message("$1") { $0.seal == .noKey }
        await clock.waitForSleepers()
        clock.advance(by: .seconds(61))
        let read = try await account.message("$1") { $0.text == "From the backup" }
        #expect(read.position == sealed.position && read.seal == nil)
        await account.close()
    }

    @Test("A message from before the first that its key reads is opened with the backup's.") func earlierKey()
        async throws
    {
        let account = try await EncryptedAccount.start(in: folder, MemoryCredentialStore())
        let ann = try await account.peer()
        let backup = try await attach(to: account)
        await isComplete(backup)
        let whole = try InboundGroupSession(sessionKey: ann.group.sessionKey)
        try await account.sync([ann.text("$1", "Before the key")], toDevice: [ann.key()])
        _ = try await account.message("$1") { $0.seal == .beforeKey }
        while server.count(version) == 0 { try await Task.sleep(for: .milliseconds(5)) }
        await isComplete(backup)
        try server.add(
            BackedUpDevice.exported(whole, in: EncryptedAccount.room.rawValue, by: OlmAccount().identityKey),
            version, key)
        while try await account.message("$1")?.text != "Before the key" {
            clock.advance(by: .seconds(61))
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try await account.message("$1")?.trust == nil)
        await account.close()
    }

    @Test("A message whose stored key is damaged is opened with the backup's.") func damagedKey() async throws {
        let account = try await EncryptedAccount.start(in: folder, MemoryCredentialStore())
        let ann = try await account.peer()
        let backup = try await attach(to: account)
        await isComplete(backup)
        try await account.sync(toDevice: [ann.key()])
        while server.count(version) == 0 { try await Task.sleep(for: .milliseconds(5)) }
        await isComplete(backup)
        let key = CryptoRecord.Key(
            .inboundGroupSession, owner: ExactText(EncryptedAccount.room.rawValue), id: ExactText(try ann.group.id))
        let keys = try #require(await account.backend.keys.store)
        try await keys.commit(CryptoChange(put: [CryptoRecord(key, value: Data("damaged".utf8))]))
        try await account.sync([ann.text("$1", "From the backup")])
        _ = try await account.message("$1") { $0.seal == .damaged }
        while try await account.message("$1")?.text != "From the backup" {
            clock.advance(by: .seconds(61))
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try await account.message("$1")?.trust == .unproven)
        await account.close()
    }

    @Test("Received keys are uploaded to the backup, and restored keys decrypt all messages.") func restore()
        async throws
    {
        let account = try await EncryptedAccount.start(in: folder, MemoryCredentialStore())
        let ann = try await account.peer()
        let backup = try await attach(to: account)
        await isComplete(backup)
        try await account.sync([ann.text("$1", "Direct")], toDevice: [ann.key()])
        while server.count(version) == 0 { try await Task.sleep(for: .milliseconds(5)) }
        await isComplete(backup)
        var sealed: [JSONValue] = []
        for number in 2..<6 {
            try ann.rotate()
            try add(ann)
            sealed.append(try ann.text("$\(number)", "Restored \(number)"))
        }
        try await account.sync(sealed)
        _ = try await account.message("$5") { $0.seal == .noKey }
        try await backup.restore()
        for number in 2..<6 {
            _ = try await account.message("$\(number)") { $0.text == "Restored \(number)" }
        }
        await isComplete(backup)
        #expect(server.uploads.count == 1)
        await account.close()
        #expect(!FileManager.default.fileExists(atPath: folder.path("backup.part").path))
    }
}
