public import Foundation

/// Stores the state of end-to-end encryption, which no server can send again.
///
/// The storage does not interpret the records; callers encrypt confidential ones beforehand.
public protocol CryptoStorage: Sendable {
    /// Returns all records of a kind, or those of one owner.
    /// - Throws: If they cannot be read, so that a failure is never taken for an empty result.
    func cryptoRecords(_ kind: CryptoRecord.Kind, owner: ExactText?) async throws -> [CryptoRecord]
    /// Returns all records of one owner that are of these kinds, in one read.
    func cryptoRecords(_ kinds: [CryptoRecord.Kind], owner: ExactText) async throws -> [CryptoRecord]
    /// Returns the records of a kind of several owners, in one read. Owners without records are omitted.
    /// - Parameter limit: The number of records per owner, the first in the order of their keys; `nil` for all.
    func cryptoRecords(
        _ kind: CryptoRecord.Kind, owners: Set<ExactText>, limit: Int?
    ) async throws -> [ExactText: [CryptoRecord]]
    /// Returns a page of records in the order of their keys, for kinds that may not fit into memory.
    func cryptoRecords(
        _ kind: CryptoRecord.Kind, after key: CryptoRecord.Key?, limit: Int
    ) async throws -> [CryptoRecord]
    /// Returns the number of records of a kind.
    func cryptoRecordCount(_ kind: CryptoRecord.Kind) async throws -> Int
    /// Returns one record.
    func cryptoRecord(_ key: CryptoRecord.Key) async throws -> CryptoRecord?
    /// Returns the events that contained messages of sessions. Messages that were never decrypted are omitted.
    func events(readFrom messages: Set<GroupMessage>) async throws -> [GroupMessage: ExactText]
    /// The number of commits so far. Values read after a call stay current while later calls return the same number.
    func changeCount() async -> UInt64
    /// Applies a change atomically. It is durable once this returns.
    func commit(_ change: CryptoChange) async throws
}

extension CryptoStorage {
    public func cryptoRecords(_ kinds: [CryptoRecord.Kind], owner: ExactText) async throws -> [CryptoRecord] {
        var records: [CryptoRecord] = []
        for kind in kinds { records += try await cryptoRecords(kind, owner: owner) }
        return records
    }

    public func cryptoRecords(
        _ kind: CryptoRecord.Kind, owners: Set<ExactText>
    ) async throws -> [ExactText: [CryptoRecord]] {
        try await cryptoRecords(kind, owners: owners, limit: nil)
    }

    /// Returns the event that contained a message of a session, or `nil` if the message was never decrypted.
    public func event(readFrom message: GroupMessage) async throws -> ExactText? {
        try await events(readFrom: [message])[message]
    }
}

/// A stored value, such as a session, a device or a request.
public struct CryptoRecord: Hashable, Sendable {
    /// The raw values are stored: never change or reuse one.
    public enum Kind: Int, CaseIterable, Sendable {
        case account = 1
        /// Owner: the other device, by its user and identity key: a byte 1, the user ID, a byte 0, and the key in base64
        /// without padding, which is 43 bytes. Identifier: the session. In earlier versions the owner was the key alone,
        /// which devices of several users can claim.
        case olmSession = 2
        /// Owner: the room.
        case inboundGroupSession = 3
        case outboundGroupSession = 4
        /// Owner: the user.
        case device = 5
        case identity = 6
        case trackedUser = 7
        /// Requests to the server, in the order of their identifiers.
        case outgoingRequest = 8
        /// Why a session's key was not shared. Owner: the room.
        case withheldSession = 9
        /// Private cross-signing keys and the backup's private key.
        case privateKey = 10
        case backup = 11
        /// The encryption setting of a room. Never removed.
        case encryptedRoom = 12
        /// Hashes of a device's last messages, to detect repeated ones. Owner: as of ``olmSession``.
        case readMessage = 13
        /// Sync tokens up to which to-device messages are stored, and notes of this device.
        case position = 14
        /// Who can read a room's new messages. Owner: the room; identifier: the user.
        case roomMember = 15
        /// What applies to a room's members as a whole. Owner: the room.
        case roomAudience = 16
        /// Marks a session that is not in the backup. Owner: the room.
        case waitingForBackup = 17
        /// To-device messages that arrived while the keys were unavailable, unchanged.
        case unopenedMessage = 21
        /// The order in which the records of ``withheldSession`` arrived.
        case withheldOrder = 22
        /// Marks a session whose device was not confirmed when its key arrived. Owner: the user.
        case unconfirmedSession = 23
        /// Marks records of ``olmSession`` and ``readMessage`` whose identity key is no listed device's of their user.
        /// Owner: the user; identifier: the key in base64.
        case unlistedPeer = 24
        /// Copies of damaged records that were replaced, which nothing reads. Owner: one byte with the raw value of the
        /// kind, and the owner; identifier: the identifier, a byte 0, and eight bytes of the value's hash.
        case damaged = 25
        /// A user's claim to have created a session, beyond those in its record. Owner: the room; identifier: the
        /// session, a byte 0, and the user.
        case sessionClaim = 26
        /// A user whose records of ``unconfirmedSession`` are to be compared with their device list. Owner: the user;
        /// value: the identifier of the last one that was.
        case pendingConfirmation = 27
    }

    public struct Key: Hashable, Sendable {
        public let kind: Kind
        public let owner: ExactText
        public let id: ExactText

        public init(_ kind: Kind, owner: ExactText = "", id: ExactText = "") {
            self.kind = kind
            self.owner = owner
            self.id = id
        }
    }

    public let key: Key
    public let value: Data

    public init(_ key: Key, value: Data) {
        self.key = key
        self.value = value
    }
}

/// The index of a message in a Megolm session. At most one event may contain it.
public struct GroupMessage: Hashable, Sendable {
    public let session: ExactText
    public let index: UInt32

    public init(session: ExactText, index: UInt32) {
        self.session = session
        self.index = index
    }
}

/// An atomic change.
public struct CryptoChange: Equatable, Sendable {
    /// Records to insert or replace.
    public var put: [CryptoRecord]
    public var removed: Set<CryptoRecord.Key>
    /// Decrypted messages with the events that contained them. If one is already stored with another event, the whole
    /// change fails.
    public var read: [GroupMessage: ExactText]

    public init(
        put: [CryptoRecord] = [], removed: Set<CryptoRecord.Key> = [], read: [GroupMessage: ExactText] = [:]
    ) {
        self.put = put
        self.removed = removed
        self.read = read
    }

    public var isEmpty: Bool { put.isEmpty && removed.isEmpty && read.isEmpty }
}
