import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import Ratchets
import Testing
import ToolSupport

@testable import MatrixCrypto

/// The proof that the recovery key opens the secret storage, which the server could make up.
@Suite(.enabled(if: EncryptionSetting.isOn)) struct StorageProofTests {
    private static let identity: Set<SecretName> = [.master, .selfSigning, .userSigning]

    /// A secret storage with the secrets of a confirmed device.
    private struct Fixture {
        var device: MachineFixture
        let secrets: [SecretName: KeyMaterial]
        let key: KeyMaterial
        let description: SecretStorageKey
        let entries: [SecretName: EncryptedSecret]

        init() async throws {
            device = try await MachineFixture()
            let staged = try await device.machine.stageIdentity()
            try await device.machine.commitIdentity()
            (secrets, key) = (staged.secrets, try KeyMaterial())
            description = try SecretStorageKey(describing: key)
            entries = try Self.entries(of: secrets, with: key)
            let publicKey = try BackupKey(staged.backupKey).publicKey
            try await device.machine.setBackupVersion(BackupVersion(version: "1", publicKey: publicKey))
        }

        static func entries(
            of secrets: [SecretName: KeyMaterial], with key: KeyMaterial
        ) throws -> [SecretName: EncryptedSecret] {
            var entries: [SecretName: EncryptedSecret] = [:]
            for (name, secret) in secrets { entries[name] = try EncryptedSecret(name, secret, with: key) }
            return entries
        }

        func note() async throws { try await device.machine.noteOpened(entries, of: description, with: key) }

        func proven() async throws -> Set<SecretName> {
            try await device.machine.provenSecrets(in: entries, of: description)
        }
    }

    @Test("What a key has opened here is proven, also after a restart, and before that nothing is.")
    func proof() async throws {
        var fixture = try await Fixture()
        #expect(try await fixture.proven().isEmpty)
        try await fixture.note()
        #expect(try await fixture.proven() == Set(SecretName.allCases))
        try await fixture.device.restart()
        #expect(try await fixture.proven() == Set(SecretName.allCases))
        // As the server returns it.
        let returned = try SecretStorageKey(id: fixture.description.id, content: fixture.description.content)
        #expect(try await fixture.device.machine.provenSecrets(in: fixture.entries, of: returned).count == 4)
    }

    @Test("A key that does not match its description proves nothing, and voids nothing.")
    func wrongKey() async throws {
        let fixture = try await Fixture()
        let (machine, wrong) = (fixture.device.machine, try KeyMaterial())
        let entries = try Fixture.entries(of: fixture.secrets, with: wrong)
        try await machine.noteOpened(entries, of: fixture.description, with: wrong)
        #expect(try await machine.provenSecrets(in: entries, of: fixture.description).isEmpty)
        try await fixture.note()
        try await machine.noteOpened(entries, of: fixture.description, with: wrong)
        #expect(try await fixture.proven().count == 4)
        // Entries for another key, beside one that is right.
        var mixed = fixture.entries
        mixed[.master] = entries[.master]
        try await machine.noteOpened(mixed, of: fixture.description, with: fixture.key)
        #expect(
            try await machine.provenSecrets(in: mixed, of: fixture.description)
                == Set(SecretName.allCases).subtracting([.master]))
    }

    @Test("An entry that has changed since is not proven.", arguments: SecretName.allCases)
    func changedEntry(_ name: SecretName) async throws {
        let fixture = try await Fixture()
        try await fixture.note()
        let machine = fixture.device.machine
        let others = Set(SecretName.allCases).subtracting([name])
        var entries = fixture.entries
        // The same secret, encrypted anew.
        entries[name] = try Fixture.entries(of: fixture.secrets, with: fixture.key)[name]
        #expect(try await machine.provenSecrets(in: entries, of: fixture.description) == others)
        entries[name] = nil
        #expect(try await machine.provenSecrets(in: entries, of: fixture.description) == others)
    }

    @Test("Another key ID or description voids the proof.")
    func changedDescription() async throws {
        let fixture = try await Fixture()
        try await fixture.note()
        let machine = fixture.device.machine
        let content = try #require(fixture.description.content.object)
        var changes: [SecretStorageKey] = [try SecretStorageKey(id: "other", content: .object(content))]
        let passphrase: JSONValue = ["algorithm": "m.pbkdf2", "salt": "s", "iterations": 500_000]
        // A number that canonical JSON does not have.
        let unwritable: JSONValue = ["algorithm": "m.pbkdf2", "salt": "s", "iterations": .integer(.max)]
        for change: [String: JSONValue] in [
            ["passphrase": passphrase], ["passphrase": unwritable], ["iv": .null, "mac": .null],
            ["mac": .string(Base64.encoded([UInt8](repeating: 0, count: 32)))],
        ] {
            let changed = content.merging(change) { $1 }
            changes.append(try SecretStorageKey(id: fixture.description.id, content: .object(changed)))
        }
        for change in changes {
            #expect(try await machine.provenSecrets(in: fixture.entries, of: change).isEmpty, "\(change)")
        }
    }

    @Test("The proof is of the current identity and backup.")
    func replacedSecrets() async throws {
        let fixture = try await Fixture()
        try await fixture.note()
        let machine = fixture.device.machine
        try await machine.setBackupVersion(nil)
        #expect(try await fixture.proven() == Self.identity)
        let other = try BackupKey(KeyMaterial()).publicKey
        try await machine.setBackupVersion(BackupVersion(version: "2", publicKey: other))
        #expect(try await fixture.proven() == Self.identity)
        _ = try await machine.stageIdentity()
        #expect(try await fixture.proven() == Self.identity)
        try await machine.commitIdentity()
        #expect(try await fixture.proven().isEmpty)
    }

    @Test("Another device with the same keys, or a damaged record, proves nothing.")
    func lostProof() async throws {
        let fixture = try await Fixture()
        try await fixture.note()
        let storage = fixture.device.storage
        let key = CryptoRecord.Key(.position, id: "openedStorage")
        let record = try #require(try await storage.cryptoRecord(key))
        await storage.set(record.value.prefix(10), for: key)
        #expect(try await fixture.proven().isEmpty)
        await storage.set(record.value, for: key)
        #expect(try await fixture.proven().count == 4)
        let next = try await CryptoMachine.begun(user: "@me:b", device: "NEXT", in: storage, key: fixture.device.key)
        #expect(try await next.provenSecrets(in: fixture.entries, of: fixture.description).isEmpty)
    }
}
