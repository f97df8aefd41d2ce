public import Foundation

/// End-to-end encryption of one account, as its user experiences it: identity, recovery, backup, devices, verification.
///
/// Every action throws ``EncryptionError``. It then has changed nothing, unless its documentation says otherwise.
public protocol EncryptionService: Sendable {
    /// The encryption state: once immediately, then after each change.
    func encryptionStatuses() -> AsyncStream<EncryptionStatus>

    // MARK: Identity and recovery

    /// Creates the identity of an account without one, with secret storage and a backup, and signs this device.
    ///
    /// Throws ``EncryptionError/identityExists`` if another device has created one meanwhile. After any other error,
    /// the server may have a part, and another call goes on with it.
    /// - Parameter password: The account's password, if the server requires it (``EncryptionError/passwordRequired``).
    /// - Returns: The recovery key, to be shown once. It counts as not saved until ``confirmRecoveryKey()``.
    func createIdentity(password: String?) async throws -> RecoveryKey
    /// Like ``createIdentity(password:)``, but replaces an existing identity: other users have to verify the new one,
    /// and keys that only the former backup contains are lost.
    func replaceIdentity(password: String?) async throws -> RecoveryKey
    /// Confirms this device with the secret storage, and restores the backup's keys in the background. If the backup
    /// fails, this throws nothing, and ``EncryptionStatus/backup`` tells. On a confirmed device, it gets the private keys
    /// that are missing there, and proves the recovery (``EncryptionStatus/isRecoveryProven``); it throws
    /// ``EncryptionError/incompleteRecovery`` if it can do neither.
    ///
    /// If the server cannot be reached in the end, the device is confirmed later.
    /// - Parameter secret: The recovery key or the passphrase, as typed.
    func recover(with secret: String) async throws
    /// Encrypts the secret storage with a new recovery key, or returns the one that is not saved yet. The former one
    /// stops working. After an error, the server may have the new one: ``EncryptionStatus/Recovery/unsaved``.
    func replaceRecoveryKey() async throws -> RecoveryKey
    /// Records that the user has saved the recovery key.
    func confirmRecoveryKey() async throws
    /// Starts a backup of the room keys, or deletes it from the server.
    func setBackupEnabled(_ isEnabled: Bool) async throws
    /// Exports the room keys to a file encrypted with a passphrase. Takes seconds.
    /// - Returns: The number of exported keys.
    func exportKeys(to file: URL, passphrase: String) async throws -> Int
    /// Imports the room keys of a key file that this or another program has written.
    func importKeys(from file: URL, passphrase: String) async throws -> ImportedKeyCount

    // MARK: Devices

    /// Returns the devices of the account, this one first, then the most recently seen.
    func devices() async throws -> [AccountDevice]
    func renameDevice(_ device: String, to name: String) async throws
    /// Signs out devices other than this one.
    func signOutDevices(_ devices: [String], password: String?) async throws

    // MARK: Other people

    /// A user's identity: once immediately, then after each change.
    func identities(of user: MemberID) -> AsyncStream<UserIdentity>
    /// Accepts a user's new identity without verifying it, so that messages are sent to their devices again. Throws
    /// ``EncryptionError/otherIdentity`` if it has changed once more.
    /// - Parameter key: The identity that the local user was asked about.
    func acceptIdentity(_ key: IdentityKey, of user: MemberID) async throws
    /// Withdraws the verification of a user. Has no effect on
    /// ``UserIdentity/changedAfterVerification(to:)``.
    func withdrawVerification(of user: MemberID) async throws
    /// The identities of a room's members that need the user's attention: once immediately, then after each change.
    func trust(of room: RoomID) -> AsyncStream<RoomTrust>

    // MARK: Verification

    /// The verifications in progress and those that have just ended, oldest first: once immediately, then after each
    /// change.
    func verifications() -> AsyncStream<[Verification]>
    /// Asks the user's devices to verify this one, or this one to verify them.
    /// - Parameter device: The device to ask; `nil` for all, of which the first to answer is used.
    /// - Returns: The ID of the verification.
    func verifyDevice(_ device: String?) async throws -> Verification.ID
    /// Asks a user to compare emoji, in the direct chat with them.
    func verify(_ user: MemberID) async throws -> Verification.ID
    /// Performs the user's action. Has no effect once the verification has ended.
    func perform(_ action: Verification.Action, in verification: Verification.ID) async throws
}

/// The state of an account's end-to-end encryption.
public struct EncryptionStatus: Equatable, Sendable {
    /// The user's identity, which confirms devices and verifies users.
    public enum Identity: CaseIterable, Equatable, Sendable {
        /// Not known yet, or unavailable.
        case unknown
        /// The account has none.
        case none
        /// It exists but has not confirmed this device.
        case unconfirmed
        /// It has confirmed this device.
        case confirmed
        /// The identity that confirmed this device, or the first one seen by an unconfirmed device, was replaced.
        case replaced
    }

    public enum Recovery: CaseIterable, Equatable, Sendable {
        case unknown
        /// There is no secret storage.
        case none
        /// The secret storage lacks some secrets, or this device has never opened it.
        case incomplete
        /// The user has not confirmed that the recovery key is saved. After an interrupted setup, there may be no
        /// secret storage.
        case unsaved
        /// According to the server, the secret storage has everything: see ``EncryptionStatus/isRecoveryProven``.
        case ready
    }

    public enum Backup: Equatable, Sendable {
        case unknown
        case off
        /// - Parameter remaining: The number of keys still to upload.
        case on(remaining: Int)
        /// Created by an untrusted device. Nothing is uploaded to it.
        case untrusted
        /// The server rejects uploads. The reason is technical.
        case failing(remaining: Int, reason: String)
    }

    public var condition: EncryptionCondition
    public var identity: Identity
    public var recovery: Recovery
    public var backup: Backup
    /// Whether keys are being restored from the backup.
    public var isRestoring: Bool
    /// Whether this confirmed device lacks the private key of a trusted backup, and so cannot read it. The recovery key
    /// or another device has it.
    public var lacksBackupKey: Bool
    /// Whether this confirmed device lacks private keys of the identity. It may then be unable to confirm other devices,
    /// and the user's other devices may not learn whom it verifies. The recovery key or another device has the keys.
    public var lacksIdentityKeys: Bool
    /// The number of the account's other confirmed devices, each of which could confirm this one.
    public var otherConfirmedDevices: Int
    /// The account's other devices that have keys and are not confirmed.
    public var unconfirmedDevices: Set<String>
    /// Whether a passphrase opens the secret storage, too.
    public var hasPassphrase: Bool
    /// Whether this device has created the secret storage, or opened it with the recovery key or the passphrase, and
    /// the server still returns the same: the secrets of the current identity and, if the backup is on, its key.
    public var isRecoveryProven: Bool
    /// The Ed25519 key of this device, in base64.
    public var fingerprint: String?
    /// Whether the credential that encrypts the keys is only in memory, so that the device ends with the program.
    public var endsWithProgram: Bool

    public init(
        condition: EncryptionCondition = .none, identity: Identity = .unknown, recovery: Recovery = .unknown,
        backup: Backup = .unknown, isRestoring: Bool = false, lacksBackupKey: Bool = false,
        lacksIdentityKeys: Bool = false, otherConfirmedDevices: Int = 0, unconfirmedDevices: Set<String> = [],
        hasPassphrase: Bool = false, isRecoveryProven: Bool = false, fingerprint: String? = nil,
        endsWithProgram: Bool = false
    ) {
        self.condition = condition
        self.identity = identity
        self.recovery = recovery
        self.backup = backup
        self.isRestoring = isRestoring
        self.lacksBackupKey = lacksBackupKey
        self.lacksIdentityKeys = lacksIdentityKeys
        self.otherConfirmedDevices = otherConfirmedDevices
        self.unconfirmedDevices = unconfirmedDevices
        self.hasPassphrase = hasPassphrase
        self.isRecoveryProven = isRecoveryProven
        self.fingerprint = fingerprint
        self.endsWithProgram = endsWithProgram
    }
}

/// The recovery key of the secret storage. Its descriptions never reveal it.
public struct RecoveryKey: Equatable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The key in groups of four characters.
    public let text: String

    public init(_ text: String) { self.text = text }

    public var description: String { "RecoveryKey" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

public struct ImportedKeyCount: Equatable, Sendable {
    public var total: Int
    /// Keys that this device did not have, or only from a later message on.
    public var new: Int
    /// Entries of the file that could not be read; not part of the total.
    public var rejected: Int

    public init(total: Int, new: Int, rejected: Int = 0) {
        self.total = total
        self.new = new
        self.rejected = rejected
    }
}

/// A device of the account, according to the server and to its keys.
public struct AccountDevice: Identifiable, Equatable, Sendable {
    public enum Trust: Equatable, Sendable {
        case confirmed
        case unconfirmed
        /// It has no keys, so it can neither read nor write encrypted messages.
        case withoutEncryption
        /// Not known yet, or this device's keys cannot be read.
        case unknown
        /// Not to be told on this device, which the account's identity has not confirmed.
        case unproven
    }

    public let id: String
    /// Empty if unnamed.
    public var name: String
    public var lastSeen: Date?
    public var isThis: Bool
    public var trust: Trust

    public init(id: String, name: String, lastSeen: Date? = nil, isThis: Bool = false, trust: Trust) {
        self.id = id
        self.name = name
        self.lastSeen = lastSeen
        self.isThis = isThis
        self.trust = trust
    }
}

/// The identity of another user.
public enum UserIdentity: Equatable, Sendable {
    /// Not known yet, or unavailable.
    case unknown
    /// They have none, so their devices get no room keys.
    case none
    /// Unchanged since it was first seen.
    case unverified
    /// Changed since it was first seen. As it was never verified, messages are still sent.
    case changed(to: IdentityKey)
    case verified
    /// Changed since it was verified. Nothing is sent until the new one is accepted or verified.
    case changedAfterVerification(to: IdentityKey)

    /// The identity that the local user has to decide about; `nil` if it has not changed.
    public var newKey: IdentityKey? {
        switch self {
        case .changed(let key), .changedAfterVerification(let key): key
        case .unknown, .none, .unverified, .verified: nil
        }
    }
}

/// The public key that an identity consists of, by which it is told from others.
public struct IdentityKey: Hashable, Sendable {
    /// In base64.
    public let text: String

    public init(_ text: String) { self.text = text }
}

/// The identities of an encrypted room's members that need the user's attention.
public struct RoomTrust: Equatable, Sendable {
    /// Members whose identity has changed since it was first seen and was not verified or accepted since.
    public var changed: [MemberID]
    /// Those of them who had been verified: nothing is sent into the room until each is verified or accepted.
    public var holding: [MemberID]
    /// Members without an identity. Their devices get no keys, so they cannot read new messages.
    public var withoutIdentity: [MemberID]
    /// Whether the local user's identity was replaced: nothing is sent until the new one has confirmed this device.
    public var isOwnReplaced: Bool

    /// Whether nothing is sent into the room.
    public var holdsMessages: Bool { !holding.isEmpty || isOwnReplaced }

    public init(
        changed: [MemberID] = [], holding: [MemberID] = [], withoutIdentity: [MemberID] = [],
        isOwnReplaced: Bool = false
    ) {
        self.changed = changed
        self.holding = holding
        self.withoutIdentity = withoutIdentity
        self.isOwnReplaced = isOwnReplaced
    }
}

public enum EncryptionError: Error, Equatable, Sendable {
    /// The server requires the account's password. Ask for it and call again.
    case passwordRequired
    case wrongPassword
    /// The server requires a confirmation other than a password, such as on a web page.
    case confirmationUnsupported
    /// The recovery key or passphrase does not match.
    case wrongRecoveryKey
    /// A recovery key with a wrong checksum: it was mistyped.
    case malformedRecoveryKey
    /// There is no secret storage.
    case noRecovery
    /// The secret storage lacks the required secret, or has that of another identity.
    case incompleteRecovery
    /// Requires a confirmed device, and this one is not.
    case unconfirmedDevice
    /// This device lacks private keys that would be lost. The recovery key or another device has them.
    case missingSecrets
    case wrongPassphrase
    /// The file is not a key file, or is damaged.
    case damagedFile
    /// The file could not be read or written. The reason is technical.
    case file(reason: String)
    case unreachable
    case rejected(reason: String)
    /// Encryption does not work on this device.
    case unavailable(EncryptionCondition.Problem?)
    /// The user has no identity to verify.
    case noIdentity
    /// The user has another identity than the one that was to be accepted.
    case otherIdentity
    /// The account has an identity already.
    case identityExists
    /// There is no confirmed device to ask, or none with that ID.
    case noDevice
    /// There is no direct chat with the user to verify in.
    case noRoom
    /// The keys could not be stored. The reason is technical.
    case storage(reason: String)
}
