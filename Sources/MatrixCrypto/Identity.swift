import ChatCore
import Foundation
import JSONReading
import Ratchets

/// A user's identity: the keys that confirm their devices, and the local user's decisions about them. It is never
/// removed once known; a server that omits it changes nothing.
struct Identity: Equatable, Sendable {
    private(set) var master: Ed25519Key
    /// The published master key object in canonical form, which signatures on the master key cover.
    private(set) var masterObject: Data
    /// Signed by the master key.
    private(set) var selfSigning: Ed25519Key?
    /// Signed by the master key; known only for the local user.
    private(set) var userSigning: Ed25519Key?
    /// The first master key seen, or the one accepted since.
    private(set) var pinned: Ed25519Key
    /// The verified master key; for the local user, the one that confirmed this device.
    private(set) var verified: Ed25519Key?
    /// The master key whose verification was withdrawn, or became void while another one was shown: it is not verified,
    /// and signatures on it are ignored.
    private(set) var withdrawn: Ed25519Key?
    /// Whether the local user has yet to sign the verified master key, for lack of the user-signing key.
    private(set) var isSignatureDue = false
    /// Whether the record was damaged, so that it is unknown what was pinned, verified and withdrawn. Until the local
    /// user decides again, the identity counts as changed after verification, and signatures on it are ignored.
    private(set) var isMemoryLost = false

    /// The identity of a user whose record cannot be decoded. Its keys are nobody's: the master key is replaced by that
    /// of the next response.
    static func unknown() throws(RatchetError) -> Identity {
        var identity = Identity(master: try SigningKey().publicKey, object: Data())
        identity.pinned = try SigningKey().publicKey
        identity.verified = identity.pinned
        identity.isMemoryLost = true
        return identity
    }

    /// Whether the user's keys have yet to be queried.
    var isUnknown: Bool { masterObject.isEmpty }

    private init(master: Ed25519Key, object: Data) {
        self.master = master
        masterObject = object
        pinned = master
    }

    /// In bytes; no genuine object is larger.
    private static let maxObject = 16_384

    /// Applies a `keys/query` response.
    /// - Parameters:
    ///   - known: The identity known before, which stays where the response has nothing valid.
    ///   - ownUserSigning: The local user's user-signing key, which verifies others, if this device is confirmed.
    /// - Returns: `nil` if the user has no identity.
    static func updated(
        _ known: Identity?, of user: ExactText, by answer: JSONValue, ownUser: ExactText, ownUserSigning: Ed25519Key?
    ) -> Identity? {
        func key(_ member: String) -> JSONValue? { answer[member]?.object?.member(user) }
        guard let value = key("master_keys"), let master = try? CrossSigningKey(value, of: user, for: .master),
            let bytes = try? SignedJSON.signedBytes(of: master.object), bytes.count <= maxObject
        else { return known }
        var identity = known ?? Identity(master: master.key, object: Data(bytes))
        if identity.master != master.key {
            identity.master = master.key
            identity.masterObject = Data(bytes)
            (identity.selfSigning, identity.userSigning) = (nil, nil)
            identity.isSignatureDue = false
        }
        func signed(_ member: String, _ usage: CrossSigningKey.Usage) -> Ed25519Key? {
            // An invalid key counts as a missing one.
            key(member).flatMap { try? CrossSigningKey($0, of: user, for: usage, signedBy: master.key).key }
        }
        identity.selfSigning = signed("self_signing_keys", .selfSigning) ?? identity.selfSigning
        if user == ownUser {
            identity.userSigning = signed("user_signing_keys", .userSigning) ?? identity.userSigning
        } else if let ownUserSigning, master.isSigned(by: ownUserSigning, of: ownUser) {
            identity.noteVerified()
            identity.isSignatureDue = false
        }
        return identity
    }

    /// Creates the identity that this device has generated for its user.
    init(
        own master: Ed25519Key, of user: ExactText, selfSigning: Ed25519Key, userSigning: Ed25519Key
    ) throws {
        let object = CrossSigningKey.object(master, of: user, for: .master)
        self.init(master: master, object: Data(try SignedJSON.signedBytes(of: object)))
        self.selfSigning = selfSigning
        self.userSigning = userSigning
        verified = master
    }

    /// All known keys.
    var keys: [Ed25519Key] { [master, selfSigning, userSigning].compactMap(\.self) }

    /// Whether the identity confirms a device.
    func confirms(_ device: DeviceKeys) -> Bool {
        guard let selfSigning, !device.isDisputed else { return false }
        return device.confirmedBy == selfSigning
    }

    /// Whether the current master key is the verified one.
    var isVerified: Bool { verified == master && withdrawn != master }
    /// Whether another master key was verified, and the current one has not been accepted since.
    var hasChangedAfterVerification: Bool { verified.map { $0 != master } ?? false }
    var hasChanged: Bool { pinned != master }
    /// Whether the local user has another identity than the one that this device went by: the one that confirmed it or,
    /// before that, the first one seen. Only confirmation ends this, as the server could have made the new one up.
    var isOwnReplaced: Bool { hasChangedAfterVerification || (verified == nil && hasChanged) }

    /// Marks the master key as verified: the user has compared it, or has signed it on another device.
    mutating func noteVerified() {
        guard withdrawn != master, !isMemoryLost else { return }
        (verified, pinned) = (master, master)
    }

    mutating func verify() {
        (withdrawn, isMemoryLost) = (nil, false)
        noteVerified()
    }

    mutating func accept() {
        // Its verification may have been withdrawn before: only another comparison proves it.
        if isMemoryLost { withdrawn = master }
        isMemoryLost = false
        pinned = master
        verified = nil
        isSignatureDue = false
    }

    mutating func withdraw() {
        withdrawn = master
        verified = nil
        isSignatureDue = false
    }

    mutating func oweSignature() { isSignatureDue = true }
    mutating func noteSigned() { isSignatureDue = false }

    /// Drops verification and withdrawal, which depended on the local user's former identity. A change after the
    /// verification remains one: otherwise, by replacing the local user's identity, the server would end the hold on
    /// messages to an identity that nobody has accepted.
    mutating func voidVerification() {
        if hasChangedAfterVerification {
            withdrawn = verified
        } else {
            (verified, withdrawn) = (nil, nil)
        }
        isSignatureDue = false
    }
}

extension Identity {
    private struct Stored: Codable {
        let master: StoredBytes
        let masterObject: Data
        let selfSigning: StoredBytes?
        let userSigning: StoredBytes?
        let pinned: StoredBytes
        let verified: StoredBytes?
        let withdrawn: StoredBytes?
        /// Absent in records of earlier versions.
        let isSignatureDue: Bool?
        let isMemoryLost: Bool?
    }

    private static let id: ExactText = "keys"
    static func key(_ user: ExactText) -> CryptoRecord.Key { CryptoRecord.Key(.identity, owner: user, id: id) }

    func record(of user: ExactText) throws -> CryptoRecord {
        func bytes(_ key: Ed25519Key) -> StoredBytes { StoredBytes(key.bytes) }
        let stored = Stored(
            master: bytes(master), masterObject: masterObject, selfSigning: selfSigning.map(bytes),
            userSigning: userSigning.map(bytes), pinned: bytes(pinned), verified: verified.map(bytes),
            withdrawn: withdrawn.map(bytes), isSignatureDue: isSignatureDue ? true : nil,
            isMemoryLost: isMemoryLost ? true : nil)
        return CryptoRecord(Self.key(user), value: try JSONEncoder().encode(stored))
    }

    /// An unreadable record is an error: the user must not count as having no identity (``unknown()``).
    init(record: CryptoRecord) throws {
        let stored = try JSONDecoder().decode(Stored.self, from: record.value)
        func key(_ stored: StoredBytes?) throws -> Ed25519Key? { try stored.map { try Ed25519Key(bytes: $0.bytes) } }
        self.init(master: try Ed25519Key(bytes: stored.master.bytes), object: stored.masterObject)
        pinned = try Ed25519Key(bytes: stored.pinned.bytes)
        selfSigning = try key(stored.selfSigning)
        userSigning = try key(stored.userSigning)
        verified = try key(stored.verified)
        withdrawn = try key(stored.withdrawn)
        isSignatureDue = stored.isSignatureDue ?? false
        isMemoryLost = stored.isMemoryLost ?? false
    }

    private static func orUnknown(_ record: CryptoRecord) throws -> Identity {
        if let identity = try? Identity(record: record) { return identity }
        return try unknown()
    }

    /// - Returns: `nil` if none is known; ``unknown()`` if the record is damaged.
    static func stored(_ user: ExactText, in storage: any CryptoStorage) async throws -> Identity? {
        try await storage.cryptoRecord(key(user)).map { try orUnknown($0) }
    }

    /// The known identities of these users; ``unknown()`` for damaged records.
    static func stored(
        _ users: some Sequence<ExactText>, in storage: any CryptoStorage
    ) async throws -> [ExactText: Identity] {
        try await storage.cryptoRecords(.identity, owners: Set(users)).compactMapValues { try stored(in: $0) }
    }

    /// The identity among records of one user.
    static func stored(in records: [CryptoRecord]) throws -> Identity? {
        // Other records have the same kind.
        try records.first { $0.key.kind == .identity && $0.key.id == id }.map { try orUnknown($0) }
    }
}
