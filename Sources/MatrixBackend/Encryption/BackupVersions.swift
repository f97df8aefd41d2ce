import ChatCore
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets

/// The versions of the backup on the server: finds the current one and whether it is trusted, creates and deletes them.
///
/// ``KeyBackup`` owns it, and calls it in its isolation.
final class BackupVersions {
    /// The server's current backup.
    struct Found: Equatable, Sendable {
        let version: String
        let publicKey: Curve25519Key?
        let isTrusted: Bool
        let count: Int?
    }

    private enum Look {
        case needed
        case none
        case found(Found)
    }

    private let user: MemberID
    private let machine: CryptoMachine
    private let client: MatrixClient
    private let hooks: KeyBackup.Hooks
    private let feed: ValueFeed<KeyBackup.Standing>
    /// Serializes looks, creations and deletions: a response from before a creation would report the backup as missing.
    private let changing = SerialGate()
    private var look = Look.needed {
        didSet { lookCount += 1 }
    }
    /// Counts the changes of ``look``.
    private var lookCount = 0

    init(
        user: MemberID, machine: CryptoMachine, client: MatrixClient, hooks: KeyBackup.Hooks,
        feed: ValueFeed<KeyBackup.Standing>
    ) {
        self.user = user
        self.machine = machine
        self.client = client
        self.hooks = hooks
        self.feed = feed
    }

    // MARK: Finding

    /// Makes the next use request the server's backup again.
    func outdate() { look = .needed }

    /// Whether a backup is still the one that was found last.
    func isCurrent(_ found: Found) -> Bool {
        guard case .found(let current) = look else { return false }
        return current == found
    }

    /// Returns the server's backup, requested once.
    func current() async throws -> Found? {
        try await changing.run { try await foundAlone() }
    }

    private func foundAlone() async throws -> Found? {
        var found: Found?
        // Uploads wait for a version that is trusted.
        var target: BackupVersion?
        var isKeyMissing = false
        var count: Int
        repeat {
            switch look {
            case .none:
                // Work that began before the deletion may have published its progress since.
                feed.publish { ($0.backup, $0.restore) = (.off, nil) }
                return nil
            case .found(let found):
                // The user's identity may have been replaced since.
                guard try await isVoid(found) else { return found }
            case .needed: break
            }
            count = lookCount
            found = try await request()
            (target, isKeyMissing) = (nil, false)
            if let found, found.isTrusted, let key = found.publicKey {
                target = BackupVersion(version: found.version, publicKey: key)
                isKeyMissing = try await machine.backupKey(for: key) == nil
            }
            try await machine.setBackupVersion(target)
            // Another device has replaced the backup: this one still has the key of the former backup.
            if let target { try await machine.requestBackupKey(for: target.publicKey, as: .replaced) }
            // Trust may have changed meanwhile.
        } while count != lookCount
        look = found.map { .found($0) } ?? .none
        feed.publish { $0.isKeyMissing = isKeyMissing }
        if found == nil {
            // Another device may have deleted the backup while it was being restored.
            feed.publish { ($0.backup, $0.restore) = (.off, nil) }
        } else if target == nil {
            feed.publish { $0.backup = .untrusted }
        }
        return found
    }

    /// Whether a backup that was trusted belongs to a former identity.
    private func isVoid(_ found: Found) async throws -> Bool {
        guard found.isTrusted, let key = found.publicKey else { return false }
        return try await machine.isVoidBackup(key)
    }

    /// That of the backup found last.
    var version: String? {
        guard case .found(let found) = look else { return nil }
        return found.version
    }

    private func request() async throws -> Found? {
        guard let listed = try await client.keyBackup() else { return nil }
        var isTrusted = false
        if let key = listed.publicKey {
            isTrusted = try await machine.backupKey(for: key) != nil
            // This device's signature on a backup of a former identity proves nothing of the current one.
            if !isTrusted, try await !machine.isVoidBackup(key) {
                isTrusted = try await hooks.isTrusted(listed.authData)
            }
        }
        return Found(
            version: listed.version, publicKey: listed.publicKey, isTrusted: isTrusted, count: listed.count)
    }

    /// Returns the backup's private key, or `nil` if this device does not have it.
    func key(of found: Found) async throws -> BackupKey? {
        guard let publicKey = found.publicKey else { return nil }
        return try await machine.backupKey(for: publicKey).map { try BackupKey($0) }
    }

    // MARK: Creating and deleting

    /// Creates a backup, to which all keys are to be uploaded.
    /// - Parameter key: The backup's private key. It must be in the secret storage already, so that this device never
    ///   has the only copy.
    /// - Returns: `false` if the backup found last has this key.
    func create(with key: KeyMaterial) async throws -> Bool {
        try await changing.run { try await createAlone(key) }
    }

    private func createAlone(_ key: KeyMaterial) async throws -> Bool {
        let publicKey = try BackupKey(key).publicKey
        if case .found(let found) = look, found.isTrusted, found.publicKey == publicKey { return false }
        try await machine.prepareBackupKey(key)
        let authData = try await hooks.sign(["public_key": .string("\(publicKey)")])
        let version = try await client.createKeyBackup(authData)
        guard try await machine.backupKey(for: publicKey) != nil else { throw EncryptionError.incompleteRecovery }
        try await machine.setBackupVersion(BackupVersion(version: version, publicKey: publicKey))
        look = .found(Found(version: version, publicKey: publicKey, isTrusted: true, count: 0))
        let remaining = try await machine.remainingInBackup()
        feed.publish { ($0.backup, $0.isKeyMissing) = (.on(remaining: remaining), false) }
        return true
    }

    /// Creates the backup that was prepared with the identity, if that was interrupted or has failed, unless the user has
    /// turned backups off.
    /// - Returns: `false` if there is nothing to create.
    func createPrepared() async throws -> Bool {
        try await changing.run { try await createPreparedAlone() }
    }

    /// A deletion waits until the choice is noted as well, so that it has the last word.
    private func createPreparedAlone() async throws -> Bool {
        guard let key = try await preparedKey(),
            try await client.accountData(KeyBackup.choice, of: user)?["enabled"] != false
        else { return false }
        _ = try await createAlone(key)
        try await client.setAccountData(KeyBackup.choice, ["enabled": true], of: user)
        return true
    }

    /// The key of the backup that was prepared with the identity, if its creation was interrupted or has failed.
    private func preparedKey() async throws -> KeyMaterial? {
        guard let key = try await machine.preparedBackupKey(), try await machine.ownIdentity() == .confirmed,
            try await isBackupKeyStored()
        else { return nil }
        return key
    }

    /// Whether the secret storage contains this backup's key. After an interrupted reset, it contains that of the
    /// former backup until the user makes the recovery key that the banner asks for.
    private func isBackupKeyStored() async throws -> Bool {
        do {
            return try await SecretStorage(client: client, user: user).state()?.secrets[.backup] != nil
        } catch EncryptionError.incompleteRecovery {
            return false
        }
    }

    /// Deletes the backup and all earlier ones from the server.
    func delete() async throws {
        try await changing.run { try await deleteAlone() }
    }

    private func deleteAlone() async throws {
        // Deleting a version makes the one before it current.
        for _ in 0..<20 {
            guard let listed = try await client.keyBackup() else { break }
            try await client.deleteKeyBackup(listed.version)
        }
        let count = lookCount
        guard try await client.keyBackup() == nil else {
            throw MatrixError.malformed(reason: "backups that cannot be deleted")
        }
        try await machine.setRestoringBackup(nil)
        try await machine.setBackupVersion(nil)
        try await machine.retireBackupKey()
        // Another device may have created a backup meanwhile.
        if count == lookCount { look = .none }
        feed.publish { $0 = KeyBackup.Standing(backup: .off) }
    }
}
