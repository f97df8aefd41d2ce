import ChatCore
import Foundation
import JSONReading
import Ratchets

/// What is known of the identity of a user: the keys that their devices are confirmed with, and what this user has made of
/// them. Once known it is never forgotten; a server that does not name it any more changes nothing.
struct Identity: Equatable, Sendable {
    private(set) var master: Ed25519Key
    /// What the master key's signatures are over: what its owner has published, in canonical form.
    private(set) var masterObject: Data
    /// Signed by the master key.
    private(set) var selfSigning: Ed25519Key?
    /// Signed by the master key; only one's own is known.
    private(set) var userSigning: Ed25519Key?
    /// The master key that was first seen, or accepted since.
    private(set) var pinned: Ed25519Key
    /// The master key that was verified, and the own user-signing key that says so; for the own user, the one that this
    /// device was confirmed with.
    private(set) var verified: Ed25519Key?
    /// The master key whose verification was withdrawn: signatures on it count no more.
    private(set) var withdrawn: Ed25519Key?

    private init(master: Ed25519Key, object: Data) {
        self.master = master
        masterObject = object
        pinned = master
    }

    /// Longer ones are nobody's.
    private static let maxObject = 16_384

    /// Takes what an answer of the server says.
    /// - Parameters:
    ///   - known: What was known before: it stands where the answer says nothing, or nothing that holds.
    ///   - ownUserSigning: The key that verifies others, if this device is confirmed.
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
        }
        func signed(_ member: String, _ usage: CrossSigningKey.Usage) -> Ed25519Key? {
            // One that does not hold is none.
            key(member).flatMap { try? CrossSigningKey($0, of: user, for: usage, signedBy: master.key).key }
        }
        identity.selfSigning = signed("self_signing_keys", .selfSigning) ?? identity.selfSigning
        if user == ownUser {
            identity.userSigning = signed("user_signing_keys", .userSigning) ?? identity.userSigning
        } else if let ownUserSigning, master.isSigned(by: ownUserSigning, of: ownUser) {
            identity.noteVerified()
        }
        return identity
    }

    /// The identity that this device has made for its user.
    init(
        own master: Ed25519Key, of user: ExactText, selfSigning: Ed25519Key, userSigning: Ed25519Key
    ) throws {
        let object = CrossSigningKey.object(master, of: user, for: .master)
        self.init(master: master, object: Data(try SignedJSON.signedBytes(of: object)))
        self.selfSigning = selfSigning
        self.userSigning = userSigning
        verified = master
    }

    /// All that there are.
    var keys: [Ed25519Key] { [master, selfSigning, userSigning].compactMap(\.self) }

    /// Whether it has confirmed a device.
    func confirms(_ device: DeviceKeys) -> Bool {
        guard let selfSigning, !device.isDisputed else { return false }
        return device.confirmedBy == selfSigning
    }

    /// Whether the master key that there is now is the one that was verified.
    var isVerified: Bool { verified == master }
    /// Whether another one was verified, and this one not accepted since.
    var hasChangedAfterVerification: Bool { verified.map { $0 != master } ?? false }
    var hasChanged: Bool { pinned != master }

    /// The master key was compared, or signed by the user on another device.
    mutating func noteVerified() {
        guard withdrawn != master else { return }
        (verified, pinned) = (master, master)
    }

    mutating func verify() {
        withdrawn = nil
        noteVerified()
    }

    mutating func accept() {
        pinned = master
        verified = nil
    }

    mutating func withdraw() {
        withdrawn = master
        verified = nil
    }

    /// All that was verified is void: with the own identity that it was signed by.
    mutating func voidVerification() {
        (verified, withdrawn) = (nil, nil)
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
    }

    private static let id: ExactText = "keys"
    static func key(_ user: ExactText) -> CryptoRecord.Key { CryptoRecord.Key(.identity, owner: user, id: id) }

    func record(of user: ExactText) throws -> CryptoRecord {
        func bytes(_ key: Ed25519Key) -> StoredBytes { StoredBytes(key.bytes) }
        let stored = Stored(
            master: bytes(master), masterObject: masterObject, selfSigning: selfSigning.map(bytes),
            userSigning: userSigning.map(bytes), pinned: bytes(pinned), verified: verified.map(bytes),
            withdrawn: withdrawn.map(bytes))
        return CryptoRecord(Self.key(user), value: try JSONEncoder().encode(stored))
    }

    /// A record that cannot be read is an error, not a user without an identity.
    init(record: CryptoRecord) throws {
        let stored = try JSONDecoder().decode(Stored.self, from: record.value)
        func key(_ stored: StoredBytes?) throws -> Ed25519Key? { try stored.map { try Ed25519Key(bytes: $0.bytes) } }
        self.init(master: try Ed25519Key(bytes: stored.master.bytes), object: stored.masterObject)
        pinned = try Ed25519Key(bytes: stored.pinned.bytes)
        selfSigning = try key(stored.selfSigning)
        userSigning = try key(stored.userSigning)
        verified = try key(stored.verified)
        withdrawn = try key(stored.withdrawn)
    }

    /// - Returns: `nil` if none is known.
    static func stored(_ user: ExactText, in storage: any CryptoStorage) async throws -> Identity? {
        try await storage.cryptoRecord(key(user)).map { try Identity(record: $0) }
    }

    /// The identities of many users, without those of whom none is known.
    static func stored(
        _ users: some Sequence<ExactText>, in storage: any CryptoStorage
    ) async throws -> [ExactText: Identity] {
        let records = try await storage.cryptoRecords(.identity, owners: Set(users))
        return try records.compactMapValues { records in
            // There are other records of the kind.
            try records.first { $0.key.id == id }.map { try Identity(record: $0) }
        }
    }
}
