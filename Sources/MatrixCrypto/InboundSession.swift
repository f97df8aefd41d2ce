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
    public struct Owner: Codable, Equatable, Sendable {
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
    public let owner: Owner
    public let source: Source
    /// Whether users invited later may receive it (`shared_history`).
    public let isSharedHistory: Bool
    public let session: InboundGroupSession
    /// The master key of the identity that confirmed the sending device when a message was last read with the session.
    var confirmedBy: Ed25519Key?

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
    }

    /// What is stored in place of `known`, which has the same ID, now that this session has arrived: the earlier
    /// beginning of the two with the better proven origin. `nil` if `known` stays, as for a forged session.
    public func merged(with known: InboundSession) throws(RatchetError) -> InboundSession? {
        guard room == known.room, id == known.id else { return nil }
        if source == .direct, known.source == .direct, owner != known.owner { return nil }
        switch try session.compare(to: known.session) {
        case .unconnected: return nil
        case .same: return source > known.source ? self : nil
        case .beginsEarlier:
            // A ratchet cannot be turned back: only a genuine one advances to the known one, whoever sends it.
            guard source >= known.source else { return InboundSession(known, readingFrom: session) }
            var merged = self
            merged.confirmedBy = confirmedBy ?? known.confirmedBy
            return merged
        case .beginsLater:
            // Another member can send the key on as their own, which must not make earlier messages unreadable.
            guard source > known.source, owner.identityKey == known.owner.identityKey else { return nil }
            return InboundSession(self, readingFrom: known.session)
        }
    }
}

extension InboundSession {
    private struct Stored: Codable {
        let owner: Owner
        let source: Source
        let isSharedHistory: Bool
        let pickle: Data
        var confirmedBy: [UInt8]?
    }

    public var key: CryptoRecord.Key { CryptoRecord.Key(.inboundGroupSession, owner: room, id: id) }

    public func record(key material: KeyMaterial) throws -> CryptoRecord {
        let stored = Stored(
            owner: owner, source: source, isSharedHistory: isSharedHistory,
            pickle: Data(try session.pickle(key: material)), confirmedBy: confirmedBy?.bytes)
        return CryptoRecord(key, value: try JSONEncoder().encode(stored))
    }

    /// An unreadable record is an error: the session must not count as missing.
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
        confirmedBy = try stored.confirmedBy.map { try Ed25519Key(bytes: $0) }
    }
}
