import ChatCore
import ChatTestSupport
import Foundation
import JSONReading
import Ratchets
import Testing
import ToolSupport

@testable import MatrixBackend
@testable import MatrixCrypto

/// Recovery of keys that were lost with a device, over a real homeserver.
@Suite(.enabled(if: EncryptionSetting.isOn), .serialized, .timeLimit(.minutes(10))) struct RecoveryTests {
    private func backup(of user: MatrixUser) async throws -> KeyBackup {
        let machine = try #require(await user.backend.keys.machine)
        let sealed = user.backend.sealed
        let backup = KeyBackup(
            user: user.session.user, machine: machine, client: user.client, folder: user.folder.url,
            clock: ContinuousClock(), now: { Date() },
            hooks: KeyBackup.Hooks(
                sign: { $0 }, isTrusted: { _ in false }, didImport: { try await sealed.openImported($0) }))
        await user.backend.keys.attach(backup)
        return backup
    }

    private func reaches(_ backup: KeyBackup, _ state: EncryptionStatus.Backup) async {
        for await standing in backup.standings() where standing == KeyBackup.Standing(backup: state) { return }
    }

    private func storage(of user: MatrixUser) -> SecretStorage {
        SecretStorage(client: user.client, user: user.session.user)
    }

    /// Creates an encrypted room with messages.
    private func room(of ann: MatrixUser, saying texts: [String]) async throws -> RoomID {
        try await RoomKeyTests.untilPublished(ann)
        let room = try await ann.backend.createRoom(named: "Sealed")
        try await ann.waitForRoom(room)
        _ = try await ann.client.call(
            .put, ["client", "v3", "rooms", room.rawValue, "state", "m.room.encryption", ""],
            body: ["algorithm": "m.megolm.v1.aes-sha2"])
        try await ann.untilEncrypted(room)
        for text in texts { try await ann.say(text, in: room) }
        return room
    }

    /// Signs in on another device, which lacks the keys of earlier messages.
    private func elsewhere(_ ann: MatrixUser, _ room: RoomID, count: Int) async throws -> MatrixUser {
        let other = try await ann.elsewhere(sliding: true)
        let credential = KeyCredential(account: ann.session.user.rawValue, place: MemoryCredentialStore())
        try await RoomKeyTests.open(other, credential)
        try await other.waitForRoom(room)
        try await other.messages(in: room) { all in all.count { $0.kind == .sealed } == count }
        return other
    }

    @Test("A new device decrypts earlier messages after entering the recovery key.") func recovery()
        async throws
    {
        let (ann, _) = try await RoomKeyTests.person("ann", sliding: true, hasIdentity: false)
        let texts = ["One", "Zwei", "Größe"]
        let room = try await room(of: ann, saying: texts)
        let annBackup = try await backup(of: ann)
        await reaches(annBackup, .off)
        #expect(try await storage(of: ann).state() == nil)
        let secret = try KeyMaterial()
        let created = try await storage(of: ann).create([.backup: secret])
        try await annBackup.create(with: secret)
        try await annBackup.noteChoice(isEnabled: true)
        await reaches(annBackup, .on(remaining: 0))
        #expect(try await ann.client.keyBackup()?.count == 1)

        let other = try await elsewhere(ann, room, count: 3)
        let otherBackup = try await backup(of: other)
        await reaches(otherBackup, .untrusted)
        #expect(try await other.client.accountData("m.key_backup", of: ann.session.user) == ["enabled": true])
        await #expect(throws: EncryptionError.wrongRecoveryKey) {
            try await storage(of: other).open(with: RecoveryKeyCodec.text(of: KeyMaterial()).text)
        }
        let opened = try await storage(of: other).open(with: created.recoveryKey.text.typed)
        let key = try #require(opened.secrets[.backup])
        #expect(key.isEqual(to: secret))
        try await other.backend.keys.machine?.setBackupKey(key)
        try await otherBackup.restore()
        try await other.messages(in: room) { $0.map(\.text) == texts }
        await reaches(otherBackup, .on(remaining: 0))

        // The backup is deleted, and the restored device creates a new one.
        try await annBackup.delete()
        #expect(try await ann.client.keyBackup() == nil)
        await ann.close()
        await otherBackup.lookAgain()
        await reaches(otherBackup, .off)
        let next = try KeyMaterial()
        try await otherBackup.create(with: next)
        await reaches(otherBackup, .on(remaining: 0))
        let third = try await elsewhere(other, room, count: 3)
        let thirdBackup = try await backup(of: third)
        try await third.backend.keys.machine?.setBackupKey(next)
        try await thirdBackup.restore()
        try await third.messages(in: room) { $0.map(\.text) == texts }
        await third.close()
        await other.close()
    }

    @Test("Another recovery key replaces the former one on the server.") func replacedKey() async throws {
        let ann = try await MatrixUser.make("ann", sliding: true)
        let secrets = try Dictionary(uniqueKeysWithValues: SecretName.allCases.map { ($0, try KeyMaterial()) })
        let former = try await storage(of: ann).create(secrets)
        let next = try await storage(of: ann).create(secrets)
        #expect(next.isFormerKeyRemoved)
        await #expect(throws: EncryptionError.wrongRecoveryKey) {
            try await storage(of: ann).open(with: former.recoveryKey.text)
        }
        #expect(try await storage(of: ann).open(with: next.recoveryKey.text).secrets.count == 4)
        #expect(try await storage(of: ann).state()?.hasOtherKeys == false)
        await ann.close()
    }

    @Test("A device learns that another one has made a recovery key.", arguments: [true, false])
    func recoveryKeyOfAnotherDevice(sliding: Bool) async throws {
        let (ann, _) = try await RoomKeyTests.person("ann", sliding: sliding, hasIdentity: false)
        func recovery(_ expected: EncryptionStatus.Recovery) async {
            for await status in ann.backend.encryptionStatuses() where status.recovery == expected { return }
        }
        await recovery(.none)
        let secrets = try Dictionary(uniqueKeysWithValues: SecretName.allCases.map { ($0, try KeyMaterial()) })
        _ = try await storage(of: ann).create(secrets)
        await recovery(.ready)
        _ = try await ann.client.call(
            .put,
            ["client", "v3", "user", ann.session.user.rawValue, "account_data", SecretName.master.rawValue], body: [:])
        await recovery(.incomplete)
        await ann.close()
    }

    @Test("Devices are listed, renamed, and signed out with the account's password.") func devices() async throws {
        let ann = try await MatrixUser.make("ann", sliding: true)
        let other = try await ann.elsewhere(sliding: true)
        let (user, device) = (ann.session.user, other.session.device)
        try await ann.client.renameDevice(device, to: "Küche")
        let listed = try await ann.client.devices()
        #expect(Set(listed.map(\.id)) == [ann.session.device, device])
        #expect(listed.first { $0.id == device }?.name == "Küche")
        await #expect(throws: EncryptionError.passwordRequired) {
            try await ann.client.deleteDevices([device], of: user, password: nil)
        }
        await #expect(throws: EncryptionError.wrongPassword) {
            try await ann.client.deleteDevices([device], of: user, password: "other")
        }
        try await ann.client.deleteDevices([device], of: user, password: "password")
        #expect(try await ann.client.devices().map(\.id) == [ann.session.device])
        await other.close()
        await ann.close()
    }

    @Test(
        "Key files are imported by another client, and its files by us.",
        .enabled(if: !MatrixPeer.command.isEmpty, "no peer: build-aux/ratchets-peers --matrix installs it"))
    func keyFiles() async throws {
        let (ann, _) = try await RoomKeyTests.person("ann", sliding: true)
        let (room, peer) = try await RoomKeyTests.room(with: ann, sliding: true)
        let first = try await peer.say("Größe", in: room)
        try await peer.ask("rotate", .string(room.rawValue))
        let second = try await peer.say("Second", in: room)
        try await ann.messages(in: room) { $0.map(\.text) == ["Größe", "Second"] }
        let folder = TemporaryFolder()
        let (ours, theirs) = (folder.path("ours.txt"), folder.path("theirs.txt"))
        let machine = try #require(await ann.backend.keys.machine)
        // An ASCII passphrase, because matrix-nio encodes others differently from the specification, and few rounds,
        // because it is slow.
        let writer = try KeyFileWriter(ours, with: try await KeyFileSeal(passphrase: "password", rounds: 1_000))
        try writer.append(try await machine.exportedSessions(after: nil, limit: 10))
        #expect(try writer.finish() == 2)

        // Import our file on another device of the peer's user, who sent the messages.
        let elsewhere = try await MatrixPeer(peer.user, server: ann.server.url)
        #expect(try await elsewhere.read(first, in: room) == nil)
        await #expect(throws: MatrixPeer.Failure.self) {
            try await elsewhere.ask("import_keys", .string(ours.path), "Password")
        }
        try await elsewhere.ask("import_keys", .string(ours.path), "password")
        #expect(try await elsewhere.read(first, in: room)?["body"] == "Größe")
        #expect(try await elsewhere.read(second, in: room)?["body"] == "Second")

        // Import the peer's file on another device of ours.
        try await elsewhere.ask("export_keys", .string(theirs.path), "password")
        let other = try await self.elsewhere(ann, room, count: 2)
        await ann.close()
        let sealed = other.backend.sealed
        let transfer = KeyFileTransfer(machine: try #require(await other.backend.keys.machine)) {
            try await sealed.openImported($0)
        }
        await #expect(throws: EncryptionError.wrongPassphrase) {
            try await transfer.read(from: theirs, passphrase: "Password")
        }
        #expect(
            try await transfer.read(from: theirs, passphrase: "password") == ImportedKeyCount(total: 2, new: 2))
        try await other.messages(in: room) { $0.map(\.text) == ["Größe", "Second"] }
        await other.close()
    }
}

extension String {
    /// The recovery key as a user may type it, without its spaces.
    fileprivate var typed: String { "  " + replacing(" ", with: "") + "\n" }
}
