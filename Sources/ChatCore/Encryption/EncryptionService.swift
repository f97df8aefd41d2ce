public import Foundation

/// End-to-end encryption of one account as its user meets it: identity, recovery, backup, devices, verification.
///
/// Every action throws ``EncryptionError`` and then has changed nothing that it does not say.
public protocol EncryptionService: Sendable {
    /// How encryption stands: once immediately, then after each change.
    func encryptionStatuses() -> AsyncStream<EncryptionStatus>

    // MARK: Identity and recovery

    /// Makes an identity, with secret storage and a backup, and signs this device. An identity that there is is replaced:
    /// everyone has to verify the new one, and what is in the former backup alone can no longer be read.
    /// - Parameter password: The account's, if the server has asked for it (``EncryptionError/passwordRequired``).
    /// - Returns: The recovery key, to be shown once. Until ``confirmRecoveryKey()`` it counts as not saved.
    func createIdentity(password: String?) async throws -> RecoveryKey
    /// Confirms this device by what the secret storage is encrypted with, and restores the keys of the backup in the
    /// background.
    /// - Parameter secret: The recovery key or the passphrase, as typed.
    func recover(with secret: String) async throws
    /// Encrypts the secret storage with another recovery key. The former one opens nothing any more.
    func replaceRecoveryKey() async throws -> RecoveryKey
    /// The user has saved the recovery key.
    func confirmRecoveryKey() async throws
    /// Begins a backup of the room keys, or deletes it from the server.
    func setBackupEnabled(_ isEnabled: Bool) async throws
    /// Writes the room keys to a file that a passphrase encrypts. Takes seconds.
    /// - Returns: How many keys were written.
    func exportKeys(to file: URL, passphrase: String) async throws -> Int
    /// Reads the room keys of such a file, of this or another program.
    func importKeys(from file: URL, passphrase: String) async throws -> ImportedKeyCount

    // MARK: Devices

    /// Returns the devices of the account, this one first, then the most recently seen.
    func devices() async throws -> [AccountDevice]
    func renameDevice(_ device: String, to name: String) async throws
    /// Signs devices out; this one is none of them.
    func signOutDevices(_ devices: [String], password: String?) async throws

    // MARK: Other people

    /// What is known of a user's identity: once immediately, then after each change.
    func identities(of user: MemberID) -> AsyncStream<UserIdentity>
    /// Takes the identity that a user has now for theirs, without verifying it: messages are sent to it again.
    func acceptIdentity(of user: MemberID) async throws
    /// Withdraws the verification of a user.
    func withdrawVerification(of user: MemberID) async throws
    /// What the user should know of the identities of a room's members: once immediately, then after each change.
    func trust(of room: RoomID) -> AsyncStream<RoomTrust>

    // MARK: Verification

    /// The verifications that are under way or have just ended, in the order in which they began: once immediately, then
    /// after each change.
    func verifications() -> AsyncStream<[Verification]>
    /// Asks own devices to verify this one, or this one to verify them.
    /// - Parameter device: One of them; `nil` for whichever answers first.
    /// - Returns: The ID of the verification.
    func verifyDevice(_ device: String?) async throws -> Verification.ID
    /// Asks a user to compare emoji, in the direct chat with them.
    func verify(_ user: MemberID) async throws -> Verification.ID
    /// What the user answers in a verification. One that has ended ignores it.
    func perform(_ action: Verification.Action, in verification: Verification.ID) async throws
}

/// How end-to-end encryption of an account stands.
public struct EncryptionStatus: Equatable, Sendable {
    /// The identity of the user, with which devices and people are confirmed.
    public enum Identity: Equatable, Sendable {
        /// Not known yet, or it cannot be found out now.
        case unknown
        /// The account has none.
        case none
        /// It has one that has not confirmed this device.
        case unconfirmed
        /// This device is confirmed.
        case confirmed
        /// This device was confirmed, by another identity than the account has now.
        case replaced
    }

    public enum Recovery: Equatable, Sendable {
        case unknown
        /// There is no secret storage.
        case none
        /// There is one that lacks some of the secrets, or whose key this device has not seen yet.
        case incomplete
        /// The user has not confirmed that the recovery key is saved. If setting up was interrupted, there may be none.
        case unsaved
        case ready
    }

    public enum Backup: Equatable, Sendable {
        case unknown
        case off
        /// - Parameter remaining: How many keys it does not have yet.
        case on(remaining: Int)
        /// It was made by somebody who is not confirmed: nothing is written to it.
        case untrusted
        /// It is written to, and the server refuses. The reason is technical.
        case failing(remaining: Int, reason: String)
    }

    public var condition: EncryptionCondition
    public var identity: Identity
    public var recovery: Recovery
    public var backup: Backup
    /// Whether keys of the backup are being restored.
    public var isRestoring: Bool
    /// How many other devices of the account are confirmed, and could confirm this one.
    public var otherConfirmedDevices: Int
    /// Whether the secret storage can be opened by a passphrase as well.
    public var hasPassphrase: Bool
    /// The Ed25519 key of this device, in base64.
    public var fingerprint: String?
    /// Whether what encrypts the keys is in memory only: the device ends with the program.
    public var endsWithProgram: Bool

    public init(
        condition: EncryptionCondition = .none, identity: Identity = .unknown, recovery: Recovery = .unknown,
        backup: Backup = .unknown, isRestoring: Bool = false, otherConfirmedDevices: Int = 0,
        hasPassphrase: Bool = false, fingerprint: String? = nil, endsWithProgram: Bool = false
    ) {
        self.condition = condition
        self.identity = identity
        self.recovery = recovery
        self.backup = backup
        self.isRestoring = isRestoring
        self.otherConfirmedDevices = otherConfirmedDevices
        self.hasPassphrase = hasPassphrase
        self.fingerprint = fingerprint
        self.endsWithProgram = endsWithProgram
    }
}

/// What opens the secret storage, as the user keeps it. Printed by nobody.
public struct RecoveryKey: Equatable, Sendable, CustomStringConvertible, CustomReflectable {
    /// In groups of four characters.
    public let text: String

    public init(_ text: String) { self.text = text }

    public var description: String { "RecoveryKey" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

public struct ImportedKeyCount: Equatable, Sendable {
    public var total: Int
    /// Those that were not known, or read more than what was.
    public var new: Int

    public init(total: Int, new: Int) {
        self.total = total
        self.new = new
    }
}

/// A device of the account, as the server and the keys have it.
public struct AccountDevice: Identifiable, Equatable, Sendable {
    public enum Trust: Equatable, Sendable {
        case confirmed
        case unconfirmed
        /// It has no keys: it reads and writes encrypted rooms not at all.
        case withoutEncryption
        /// Not known, as the account has no identity or its keys cannot be read.
        case unknown
    }

    public let id: String
    /// Empty if it was not named.
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

/// What is known of the identity of another user.
public enum UserIdentity: Equatable, Sendable {
    /// Not known yet, or it cannot be found out now.
    case unknown
    /// They have none: their devices get no keys of rooms.
    case none
    /// The one that they had when it was first seen.
    case unverified
    /// Another than was first seen. Nothing was verified, so nothing is held.
    case changed
    case verified
    /// Another than was verified: nothing is sent to them until it is accepted or verified.
    case changedAfterVerification
}

/// What the user should know of the identities of an encrypted room's members.
public struct RoomTrust: Equatable, Sendable {
    /// Members with another identity than was first seen, which nobody has verified or accepted since.
    public var changed: [MemberID]
    /// Those of them who had been verified: nothing is sent into the room until each is verified or accepted.
    public var holding: [MemberID]
    /// Members without an identity: their devices get no keys, so they read nothing that is sent.
    public var withoutIdentity: [MemberID]

    public init(changed: [MemberID] = [], holding: [MemberID] = [], withoutIdentity: [MemberID] = []) {
        self.changed = changed
        self.holding = holding
        self.withoutIdentity = withoutIdentity
    }
}

public enum EncryptionError: Error, Equatable, Sendable {
    /// The server wants the account's password for it. Ask for it, and call again.
    case passwordRequired
    case wrongPassword
    /// The server wants something else than a password, such as a web page.
    case confirmationUnsupported
    /// It opens nothing here.
    case wrongRecoveryKey
    /// It is no recovery key: one of its characters is wrong.
    case malformedRecoveryKey
    /// There is no secret storage to open.
    case noRecovery
    /// The secret storage has not what was wanted, or that is of another identity.
    case incompleteRecovery
    /// The device is not confirmed, and has to be for this.
    case unconfirmedDevice
    case wrongPassphrase
    /// The file is no key file, or a damaged one.
    case damagedFile
    /// The file could not be read or written. The reason is technical.
    case file(reason: String)
    case unreachable
    case rejected(reason: String)
    /// Encryption does not work on this device.
    case unavailable(EncryptionCondition.Problem?)
    /// The user has no identity to verify.
    case noIdentity
    /// There is no confirmed device that could be asked, or none of that name.
    case noDevice
    /// There is no direct chat with them, so there is no place for it.
    case noRoom
    /// The keys could not be stored. The reason is technical.
    case storage(reason: String)
}
