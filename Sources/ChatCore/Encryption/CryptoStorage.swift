public import Foundation

/// Stores what end-to-end encryption cannot do without: nobody can send any of it again.
///
/// It knows nothing of what it stores: whoever calls encrypts what is confidential before it comes here.
public protocol CryptoStorage: Sendable {
    /// Returns the records of a kind: all, or those of one owner. Throws if they cannot be read: a failure is never an
    /// empty result.
    func cryptoRecords(_ kind: CryptoRecord.Kind, owner: ExactText?) async throws -> [CryptoRecord]
    /// Returns the records of a kind of several owners, in one read. Owners without records are left out.
    func cryptoRecords(
        _ kind: CryptoRecord.Kind, owners: Set<ExactText>
    ) async throws -> [ExactText: [CryptoRecord]]
    /// Returns the records of a kind behind a key, in the order of their keys: of kinds with more than fit into memory.
    func cryptoRecords(
        _ kind: CryptoRecord.Kind, after key: CryptoRecord.Key?, limit: Int
    ) async throws -> [CryptoRecord]
    /// Returns how many records of a kind there are.
    func cryptoRecordCount(_ kind: CryptoRecord.Kind) async throws -> Int
    /// Returns one record.
    func cryptoRecord(_ key: CryptoRecord.Key) async throws -> CryptoRecord?
    /// Returns the events that messages of sessions were read from, without those that were not read.
    func events(readFrom messages: Set<GroupMessage>) async throws -> [GroupMessage: ExactText]
    /// The number of changes so far. What was read after a call is current as long as later calls return the same number.
    func changeCount() async -> UInt64
    /// Applies all of a change or nothing. It is on the disk once this returns.
    func commit(_ change: CryptoChange) async throws
}

extension CryptoStorage {
    /// Returns the event that a message of a session was read from, or `nil` if none was.
    public func event(readFrom message: GroupMessage) async throws -> ExactText? {
        try await events(readFrom: [message])[message]
    }
}

/// One thing that is stored: a session, a device, a request.
public struct CryptoRecord: Hashable, Sendable {
    /// The numbers are in the files of users: they never change, and none is used again.
    public enum Kind: Int, CaseIterable, Sendable {
        case account = 1
        /// Owner: the other device's identity key.
        case olmSession = 2
        /// Owner: the room.
        case inboundGroupSession = 3
        case outboundGroupSession = 4
        /// Owner: the user.
        case device = 5
        case identity = 6
        case trackedUser = 7
        /// What must reach the server, in the order of its identifiers.
        case outgoingRequest = 8
        /// Why a session's key was not shared. Owner: the room.
        case withheldSession = 9
        /// Private keys of cross-signing and of the backup.
        case privateKey = 10
        case backup = 11
        /// That a room is encrypted: never removed.
        case encryptedRoom = 12
        /// Hashes of the last messages of a device, by which a repeated one is recognized.
        case readMessage = 13
        /// Tokens up to which the server's messages are stored here.
        case position = 14
        /// Who reads what is written into a room. Owner: the room; identifier: the user.
        case roomMember = 15
        /// What is known of the members of a room as a whole. Owner: the room.
        case roomAudience = 16
        /// That a session is not in the backup. Owner: the room.
        case waitingForBackup = 17
        /// Messages to the device that came while its keys could not be opened, as they came.
        case unopenedMessage = 21
        /// In which order the records of ``withheldSession`` came.
        case withheldOrder = 22
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

/// A message of a Megolm session, which one event may contain.
public struct GroupMessage: Hashable, Sendable {
    public let session: ExactText
    public let index: UInt32

    public init(session: ExactText, index: UInt32) {
        self.session = session
        self.index = index
    }
}

/// What changes together.
public struct CryptoChange: Equatable, Sendable {
    /// Records that are inserted, or replace those with their keys.
    public var put: [CryptoRecord]
    public var removed: Set<CryptoRecord.Key>
    /// Messages that were read, with the events that contained them. One that was read from another event fails the
    /// whole change.
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
