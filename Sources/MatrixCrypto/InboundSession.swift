public import ChatCore
import Foundation
public import JSONReading
public import Ratchets

/// A Megolm session that decrypts messages of a room, and its origin.
public struct InboundSession {
    /// How the session was received; a greater value proves more.
    public enum Source: Int, Codable, Comparable, Sendable {
        /// From a backup or a key file: nothing authenticates the owner it names.
        case imported = 0
        /// Through Olm, from the device that created it.
        case direct = 1

        public static func < (one: Source, other: Source) -> Bool { one.rawValue < other.rawValue }
    }

    /// Who created the session, as far as ``source`` proves.
    public struct Owner: Equatable, Sendable {
        public let user: String
        public let identityKey: [UInt8]
        public let signingKey: [UInt8]

        public init(user: ExactText, identityKey: Curve25519Key, signingKey: Ed25519Key) {
            self.user = user.text
            self.identityKey = identityKey.bytes
            self.signingKey = signingKey.bytes
        }
    }

    public enum Rejection: Error, Hashable, Sendable {
        case malformed
        case algorithm
        /// The key belongs to another session than the one named.
        case mismatch
        case key(RatchetError)
    }

    public let room: ExactText
    public let id: ExactText
    public internal(set) var owner: Owner
    public internal(set) var source: Source
    /// Whether users invited later may receive it (`shared_history`).
    public internal(set) var isSharedHistory: Bool
    public let session: InboundGroupSession
    /// The master key of the identity that confirmed the sending device when a message was last read with the session.
    var confirmedBy: Ed25519Key?
    /// The other users' devices that have sent this session as their own. Any member of the room can send another
    /// member's key, even before its owner does; the sender of an event tells whose claim counts for it.
    private(set) var rivals: [Claim] = []
    /// How many of them are in the session's own record, which is read for each message. The others have a record each
    /// (``withClaim(of:in:)``): no number of colluding members can keep out the one who has created the session.
    private static let maxRivalsInRecord = 4

    /// The owner according to a backup or a key file, if it is none of those who have sent the session.
    private var importedOwner: Owner?

    /// A device that has sent a session as its own, and what is known of it.
    struct Claim: Equatable, Sendable {
        let owner: Owner
        let isSharedHistory: Bool
        let confirmedBy: Ed25519Key?
    }

    public static let algorithm = "m.megolm.v1.aes-sha2"

    /// Creates a session from the content of an `m.room_key` that `owner` has sent through Olm.
    public init(roomKey content: JSONValue, from owner: Owner) throws(Rejection) {
        guard content["algorithm"]?.string == Self.algorithm else { throw .algorithm }
        guard let room = content["room_id"]?.exactText, let id = content["session_id"]?.exactText,
            let key = content["session_key"]?.string, !room.bytes.isEmpty, room.bytes.count <= 255
        else { throw .malformed }
        do throws(RatchetError) {
            session = try InboundGroupSession(sessionKey: Base64.decoded(key))
            guard ExactText(try session.id) == id else { throw .mismatch }
        } catch {
            throw error == .mismatch ? .mismatch : .key(error)
        }
        self.room = room
        self.id = id
        self.owner = owner
        source = .direct
        isSharedHistory = content["shared_history"]?.bool ?? false
    }

    /// A session that reads on from an earlier ratchet, with its own origin.
    /// - Parameter earlier: The same session, which begins earlier.
    private init(_ proven: InboundSession, readingFrom earlier: InboundGroupSession) {
        room = proven.room
        id = proven.id
        owner = proven.owner
        source = proven.source
        isSharedHistory = proven.isSharedHistory
        session = earlier
        confirmedBy = proven.confirmedBy
        rivals = proven.rivals
        importedOwner = proven.importedOwner
    }

    /// The users whose devices have sent it as their own.
    var owners: Set<ExactText> { Set(([owner] + rivals.map(\.owner)).map { ExactText($0.user) }) }

    /// The session for messages of this user: that of a device of theirs that has sent it as its own, or else the
    /// imported one, if another owner was named then. Otherwise as it is.
    func forMessages(of user: ExactText) -> InboundSession {
        var session = claimed(by: user)
        guard let importedOwner, ExactText(session.owner.user) != user else { return session }
        (session.owner, session.source, session.confirmedBy) = (importedOwner, .imported, nil)
        return session
    }

    /// The same session as that of a device of this user, if one has sent it as its own; otherwise as it is.
    func claimed(by user: ExactText) -> InboundSession {
        guard ExactText(owner.user) != user,
            let index = rivals.firstIndex(where: { ExactText($0.owner.user) == user })
        else { return self }
        var session = self
        session.rivals[index] = claim
        (session.owner, session.isSharedHistory) = (rivals[index].owner, rivals[index].isSharedHistory)
        session.confirmedBy = rivals[index].confirmedBy
        return session
    }

    /// Adds the owner of this session, which another user's device has sent before, to those of the known one.
    /// - Returns: `nil` if nothing is added.
    private func joined(to known: InboundSession) throws(RatchetError) -> InboundSession? {
        guard !known.owners.contains(ExactText(owner.user)) else { return nil }
        var joined: InboundSession
        switch try session.compare(to: known.session) {
        case .unconnected: return nil
        case .same, .beginsLater: joined = known
        case .beginsEarlier: joined = InboundSession(known, readingFrom: session)
        }
        joined.rivals.append(claim)
        return joined
    }

    private var claim: Claim {
        Claim(owner: owner, isSharedHistory: isSharedHistory, confirmedBy: confirmedBy)
    }

    /// The same session with its owner's claim among those of another copy of it, if that copy lacks the owner's user.
    func joinedClaim(to other: InboundSession) -> InboundSession {
        var joined = other
        if !joined.owners.contains(ExactText(owner.user)) { joined.rivals.append(claim) }
        return joined
    }

    /// Extends a known session, whose senders may not have created it, by this imported one: by an earlier beginning, or
    /// by the owner that the import names.
    private func imported(into known: InboundSession) throws(RatchetError) -> InboundSession? {
        let senders = [known.owner] + known.rivals.map(\.owner)
        let isNamed = senders.contains { $0.identityKey == owner.identityKey } || known.importedOwner != nil
        var extended: InboundSession
        switch try session.compare(to: known.session) {
        case .unconnected: return nil
        case .same, .beginsLater:
            guard !isNamed else { return nil }
            extended = known
        case .beginsEarlier: extended = InboundSession(known, readingFrom: session)
        }
        if !isNamed { extended.importedOwner = owner }
        return extended
    }

    /// What is stored in place of `known`, which has the same ID, now that this session has arrived: the earlier
    /// beginning of the two with the better proven origin, or this one alone if the known one turns out to be forged.
    /// `nil` if `known` stays, as for a forged session.
    public func merged(with known: InboundSession) throws(RatchetError) -> InboundSession? {
        guard room == known.room, id == known.id else { return nil }
        // The same user's claim, if there are several.
        let known = source == .direct && known.source == .direct ? known.claimed(by: ExactText(owner.user)) : known
        if source == .direct, known.source == .direct, owner != known.owner { return try joined(to: known) }
        if source == .imported, known.source == .direct { return try imported(into: known) }
        // Another member can send the key as their own. If that replaced an imported session of another device, the
        // messages of that device could no longer be read.
        let isOwners = source == known.source || owner.identityKey == known.owner.identityKey
        switch try session.compare(to: known.session) {
        // Only its creator can sign a key under this ID, which no import is: the imported one is forged.
        case .unconnected: return source > known.source ? self : nil
        case .same: return source > known.source && isOwners ? self : nil
        case .beginsEarlier:
            // A ratchet cannot be turned back: only a genuine one advances to the known one, whoever sends it.
            guard isOwners else { return InboundSession(known, readingFrom: session) }
            var merged = self
            merged.confirmedBy = confirmedBy ?? known.confirmedBy
            merged.rivals = known.rivals
            merged.importedOwner = known.importedOwner
            return merged
        case .beginsLater:
            guard source > known.source, isOwners else { return nil }
            return InboundSession(self, readingFrom: known.session)
        }
    }
}

extension InboundSession.Owner: Codable {
    private enum CodingKeys: CodingKey { case user, identityKey, signingKey }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        user = try values.decode(String.self, forKey: .user)
        identityKey = try values.decode(StoredBytes.self, forKey: .identityKey).bytes
        signingKey = try values.decode(StoredBytes.self, forKey: .signingKey).bytes
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(user, forKey: .user)
        try values.encode(StoredBytes(identityKey), forKey: .identityKey)
        try values.encode(StoredBytes(signingKey), forKey: .signingKey)
    }
}

extension InboundSession {
    private struct Stored: Codable {
        let owner: Owner
        let source: Source
        let isSharedHistory: Bool
        let pickle: Data
        var confirmedBy: StoredBytes?
        /// Absent in records of earlier versions.
        var rivals: [StoredClaim]?
        var importedOwner: Owner?
    }

    private struct StoredClaim: Codable {
        let owner: Owner
        let isSharedHistory: Bool
        var confirmedBy: StoredBytes?

        init(_ claim: Claim) {
            (owner, isSharedHistory) = (claim.owner, claim.isSharedHistory)
            confirmedBy = (claim.confirmedBy?.bytes).map { StoredBytes($0) }
        }

        var claim: Claim {
            get throws {
                Claim(
                    owner: owner, isSharedHistory: isSharedHistory,
                    confirmedBy: try confirmedBy.map { try Ed25519Key(bytes: $0.bytes) })
            }
        }
    }

    public var key: CryptoRecord.Key { CryptoRecord.Key(.inboundGroupSession, owner: room, id: id) }

    private func claimKey(_ user: ExactText) -> CryptoRecord.Key {
        // Session IDs are base64, so the separator ends them.
        CryptoRecord.Key(.sessionClaim, owner: room, id: ExactText(bytes: id.bytes + [0] + user.bytes))
    }

    /// Loads the claim of a user, unless it is among ``rivals``.
    /// - Returns: The session as it is if there is no such claim; `nil` if its record is damaged.
    /// - Throws: If the storage fails.
    func withClaim(of user: ExactText, in storage: any CryptoStorage) async throws -> InboundSession? {
        guard rivals.count >= Self.maxRivalsInRecord, !owners.contains(user),
            let record = try await storage.cryptoRecord(claimKey(user))
        else { return self }
        guard let stored = try? JSONDecoder().decode(StoredClaim.self, from: record.value),
            ExactText(stored.owner.user) == user, let claim = try? stored.claim
        else { return nil }
        var session = self
        session.rivals.append(claim)
        return session
    }

    /// The session's record, and those of the claims that are not in it.
    func records(key material: KeyMaterial) throws -> [CryptoRecord] {
        let claims = try rivals.dropFirst(Self.maxRivalsInRecord).map { claim in
            CryptoRecord(
                claimKey(ExactText(claim.owner.user)), value: try JSONEncoder().encode(StoredClaim(claim)))
        }
        return [try record(key: material)] + claims
    }

    /// The session's own record. Claims that do not fit into it are omitted.
    public func record(key material: KeyMaterial) throws -> CryptoRecord {
        let stored = Stored(
            owner: owner, source: source, isSharedHistory: isSharedHistory,
            pickle: Data(try session.pickle(key: material)), confirmedBy: (confirmedBy?.bytes).map { StoredBytes($0) },
            rivals: rivals.isEmpty ? nil : rivals.prefix(Self.maxRivalsInRecord).map { StoredClaim($0) },
            importedOwner: importedOwner)
        return CryptoRecord(key, value: try JSONEncoder().encode(stored))
    }

    /// An unreadable record is an error: the session must not count as missing (``Lookup/damaged``).
    public init(record: CryptoRecord, key: KeyMaterial) throws {
        let stored = try JSONDecoder().decode(Stored.self, from: record.value)
        session = try InboundGroupSession(pickle: Array(stored.pickle), key: key)
        guard record.key.kind == .inboundGroupSession, ExactText(try session.id) == record.key.id else {
            throw Rejection.mismatch
        }
        room = record.key.owner
        id = record.key.id
        owner = stored.owner
        source = stored.source
        isSharedHistory = stored.isSharedHistory
        confirmedBy = try stored.confirmedBy.map { try Ed25519Key(bytes: $0.bytes) }
        importedOwner = stored.importedOwner
        rivals = try (stored.rivals ?? []).map { try $0.claim }
    }
}

extension InboundSession {
    /// What is stored of a session.
    enum Lookup {
        case missing
        /// The record cannot be decoded. This concerns only what is encrypted with the session; a key that arrives for
        /// it replaces the record.
        case damaged
        case found(InboundSession)

        /// - Parameter key: Must be the one that has decrypted the device's own keys: a wrong key looks like damage.
        init(_ record: CryptoRecord, key: KeyMaterial) {
            self = (try? InboundSession(record: record, key: key)).map(Lookup.found) ?? .damaged
        }
    }

    /// - Throws: If the storage fails.
    static func stored(
        _ id: SessionID, in storage: any CryptoStorage, key: KeyMaterial
    ) async throws -> Lookup {
        let record = CryptoRecord.Key(.inboundGroupSession, owner: id.room, id: id.session)
        return try await storage.cryptoRecord(record).map { Lookup($0, key: key) } ?? .missing
    }
}
