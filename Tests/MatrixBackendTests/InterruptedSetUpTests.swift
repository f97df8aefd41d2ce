import ChatCore
import ChatTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing
import ToolSupport

@testable import MatrixBackend

/// A setup that was interrupted between the creation of the identity and that of the backup.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct InterruptedSetUpTests {
    /// Performs the device's requests like a server that has the identity.
    private func publish(_ identity: JSONValue, of machine: CryptoMachine) async throws {
        let (user, device) = (machine.user.text, machine.device.text)
        var keys: [String: JSONValue] = [:]
        var sync = CryptoSync(kind: .sliding)
        sync.keyCounts = ["signed_curve25519": 0]
        _ = try await machine.received(sync, at: Fixtures.date)
        for _ in 0..<10 {
            guard let request = try await machine.nextRequest(at: Fixtures.date) else { return }
            var answer: JSONValue = [:]
            switch request.action {
            case .upload(let body):
                keys[device] = try JSONValue(parsing: Data(body))["device_keys"] ?? keys[device]
                answer = ["one_time_key_counts": ["signed_curve25519": 50]]
            case .uploadSignatures(let body):
                keys[device] = try JSONValue(parsing: body)[user]?[device] ?? keys[device]
                try await machine.outdateOwnDevices()
            case .query:
                var members = ["device_keys": JSONValue.object([user: .object(keys)])]
                for name in ["master_key", "self_signing_key", "user_signing_key"] {
                    members["\(name)s"] = .object([user: try #require(identity[name])])
                }
                answer = .object(members)
            case .claim, .send, .sendAll: Issue.record("Nobody else is there.")
            }
            try await machine.answered(request, with: answer, at: Fixtures.date)
        }
        Issue.record("The device asks without an end.")
    }

    /// A device whose process was killed right after the creation of the identity.
    private func interrupted(
        _ server: BackupServer, storesKey: Bool = true
    ) async throws -> (device: BackedUpDevice, key: KeyMaterial) {
        let device = try await BackedUpDevice(server)
        try await device.addSessions(3)
        let staged = try await device.machine.stageIdentity()
        if storesKey {
            _ = try await SecretStorage(client: server.client, user: BackedUpDevice.user).create(staged.secrets)
        }
        // The response to the upload was lost.
        try await publish(staged.upload, of: device.machine)
        #expect(try await device.machine.isRecoveryKeyUnsaved())
        #expect(try await device.machine.preparedBackupKey()?.isEqual(to: staged.backupKey) == true)
        #expect(try await device.machine.ownIdentity() == .confirmed)
        return (device, staged.backupKey)
    }

    @Test("The backup that was prepared with the identity is created at the next start.") func interruptedCreation()
        async throws
    {
        let server = BackupServer()
        let (device, key) = try await interrupted(server)
        // The server still has a backup of a former identity, whose key this device lacks.
        server.add(try BackupKey(KeyMaterial()))
        server.fail(BackupServer.Failure(method: .post, path: "version"))
        await device.backup.wake()
        while !server.requests.contains(where: { $0.method == .post }) { try await Task.sleep(for: .milliseconds(5)) }
        while server.versions.count < 2 {
            device.pass(5)
            try await Task.sleep(for: .milliseconds(5))
        }
        await device.isComplete()
        #expect(server.count("2") == 3)
        #expect(try await device.machine.storedSecrets()[.backup]?.isEqual(to: key) == true)
        #expect(try await device.machine.preparedBackupKey() == nil)
        while server.accountData["m.key_backup"] != ["enabled": true] { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test("No backup is created if the recovery key does not open it, or if the user has turned backups off.")
    func unwantedCreation() async throws {
        for isStored in [true, false] {
            let server = BackupServer()
            let (device, _) = try await interrupted(server, storesKey: isStored)
            if isStored { try await device.backup.noteChoice(isEnabled: false) }
            let decisive = isStored ? "/m.key_backup" : "/m.secret_storage.default_key"
            // The second request shows that the response to the first was processed completely.
            for count in 1...2 {
                await device.backup.wake()
                while server.requests.count(where: { $0.method == .get && $0.url.path.hasSuffix(decisive) }) < count {
                    try await Task.sleep(for: .milliseconds(5))
                }
            }
            #expect(server.versions.isEmpty)
            // The prepared key remains available for when a recovery key is created.
            #expect(try await device.machine.preparedBackupKey() != nil)
            await device.backup.stop()
        }
    }

    @Test("A backup that the user turns off while the prepared one is being created stays off.")
    func turnedOffMeanwhile() async throws {
        let server = BackupServer()
        let (device, _) = try await interrupted(server)
        let missing: JSONValue = ["status": 404, "errcode": "M_NOT_FOUND"]
        server.fail(
            BackupServer.Failure(method: .get, path: "/m.key_backup", answer: missing, delay: .milliseconds(300)))
        await device.backup.wake()
        func requests(_ method: MatrixRequest.Method) -> Int {
            server.requests.count { $0.method == method && $0.url.path.hasSuffix("/m.key_backup") }
        }
        while requests(.get) == 0 { try await Task.sleep(for: .milliseconds(5)) }
        try await device.backup.delete()
        try await device.backup.noteChoice(isEnabled: false)
        // The creation notes that the backup is on.
        while requests(.put) < 2 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(server.accountData["m.key_backup"] == ["enabled": false])
        #expect(server.versions.isEmpty)
        #expect(try await device.machine.preparedBackupKey() == nil)
        await device.reaches { $0.backup == .off }
        await device.backup.stop()
    }

    // MARK: Resets

    private func start(
        _ server: IdentityServer, in folder: TemporaryFolder, _ credentials: MemoryCredentialStore
    ) async throws -> EncryptedAccount {
        try await EncryptedAccount.start(in: folder, credentials) { server.answer($0) }
    }

    /// The public key of the backup that a recovery key opens.
    private func backupKey(of key: RecoveryKey, _ server: IdentityServer) async throws -> String {
        let secrets = try await server.storage.open(with: key.text).secrets
        #expect(secrets.count == SecretName.allCases.count)
        return "\(try BackupKey(try #require(secrets[.backup])).publicKey)"
    }

    @Test("If a reset ends before the new backup is made, no key goes to the former one, and it is made later.")
    func resetWithoutBackup() async throws {
        let (server, folder, credentials) = (IdentityServer(), TemporaryFolder(), MemoryCredentialStore())
        let first = try await start(server, in: folder, credentials)
        _ = try await first.backend.createIdentity(password: nil)
        try await first.backend.confirmRecoveryKey()
        let former = try #require(server.backupKey)
        server.failBackups(true)
        let key = try await first.backend.replaceIdentity(password: nil)
        #expect(server.backupKey == former)
        await first.close()
        server.failBackups(false)
        let account = try await start(server, in: folder, credentials)
        for await status in account.backend.encryptionStatuses() where status.backup == .on(remaining: 0) { break }
        let expected = try await backupKey(of: key, server)
        #expect(server.backupKey == expected && expected != former)
        await account.close()
    }

    @Test("If a reset ends before its secrets are stored, the next recovery key opens everything, also the new backup.")
    func resetWithoutStorage() async throws {
        let (server, folder, credentials) = (IdentityServer(), TemporaryFolder(), MemoryCredentialStore())
        let first = try await start(server, in: folder, credentials)
        let former = try await first.backend.createIdentity(password: nil)
        try await first.backend.confirmRecoveryKey()
        server.lose(write: 0, isPerformed: true, endsConnection: true)
        await #expect(throws: EncryptionError.self) { try await first.backend.replaceIdentity(password: nil) }
        #expect(server.hasLost)
        await first.close()
        server.reconnect()
        let account = try await start(server, in: folder, credentials)
        let machine = try #require(await account.backend.keys.machine)
        // The sync would report the change.
        try await machine.outdateOwnDevices()
        #expect(await account.backend.keys.makeAllRequests())
        for await status in account.backend.encryptionStatuses() where status.recovery == .unsaved { break }
        let key = try await account.backend.replaceRecoveryKey()
        #expect(key != former)
        let expected = try await backupKey(of: key, server)
        while server.backupKey != expected { try await Task.sleep(for: .milliseconds(5)) }
        #expect(try await machine.ownIdentity() == .confirmed)
        await account.close()
    }
}
