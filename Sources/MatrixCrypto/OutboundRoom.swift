import ChatCore
import Foundation
import JSONReading
import Ratchets

/// The session that this device writes with in one room, and who has its key.
struct OutboundRoom {
    /// That a device has the key, or that it is under way to it.
    struct Share: Codable, Equatable {
        let identityKey: StoredBytes
        /// The first message that it reads.
        let index: UInt32
        /// Whether the server has it.
        var isAnswered: Bool
    }

    private struct Stored: Codable {
        /// The session at some index before ``reserved``, or at it.
        var session: Data?
        /// That of earlier versions, at the next index. They would go on from any that they find under this name.
        var pickle: Data?
        /// Indices before this one may have been used.
        var reserved: UInt32?
        let begun: Int64
        var isSpent: Bool
        let isSharedHistory: Bool
        let maxMessages: Int64
        let maxAge: Int64
    }

    /// What is stored of the devices of one user.
    private struct Readers: Codable {
        let shares: [String: Share]
        let informed: [String]

        init(shares: [String: Share], informed: [String]) {
            (self.shares, self.informed) = (shares, informed)
        }

        init(from decoder: any Decoder) throws {
            // Earlier versions stored the shares alone.
            guard var values = try? decoder.unkeyedContainer() else {
                (shares, informed) = (try [String: Share](from: decoder), [])
                return
            }
            shares = try values.decode([String: Share].self)
            informed = try values.decode([String].self)
        }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.unkeyedContainer()
            try values.encode(shares)
            try values.encode(informed)
        }
    }

    /// What the devices were last compared with.
    struct Stamp: Equatable {
        let devices: UInt64
        let audience: UInt64
    }

    let session: OutboundGroupSession
    let id: ExactText
    /// In milliseconds since 1970.
    private let begun: Int64
    private let isSharedHistory: Bool
    private let (maxMessages, maxAge): (Int64, Int64)
    /// Whether somebody has gone who has the key.
    var isSpent = false
    var shares: [ExactText: [ExactText: Share]] = [:]
    /// The devices that were told why they do not get the key, by user.
    var informed: [ExactText: Set<ExactText>] = [:]
    /// More are told nothing, as anybody can have any number of devices.
    static let maxInformed = 1_000
    /// When all devices had the key.
    var checked: Stamp?
    /// When those that could not be given it are worth another attempt.
    var retry: Date?

    /// More indices are not reserved at once, as a restart has to go past them one by one.
    static let maxReserved: UInt32 = 64
    /// Indices before this one are noted as used on the disk.
    private var reserved: UInt32 = 0
    /// The first index since the session was begun or read.
    private let firstIndex: UInt32

    /// Clocks are set now and then; further back it is not known how old the session is.
    private static let tolerance: Int64 = 60_000

    static func key(_ room: ExactText, _ user: ExactText = "") -> CryptoRecord.Key {
        CryptoRecord.Key(.outboundGroupSession, owner: room, id: user)
    }

    /// A new one.
    init(for settings: EncryptedRoom, isSharedHistory: Bool, at now: Date) throws {
        session = try OutboundGroupSession()
        firstIndex = try session.index
        id = ExactText(try session.id)
        begun = Self.milliseconds(now)
        self.isSharedHistory = isSharedHistory
        (maxMessages, maxAge) = (settings.maxMessages, settings.maxAge)
    }

    /// - Parameter records: Those of the room. One that cannot be read is an error: nothing else says who has the key.
    /// - Returns: `nil` if there is no session.
    init?(_ room: ExactText, records: [CryptoRecord], key: KeyMaterial) throws {
        guard let record = records.first(where: { $0.key == Self.key(room) }) else { return nil }
        let stored = try JSONDecoder().decode(Stored.self, from: record.value)
        guard let pickle = stored.session ?? stored.pickle else { throw KeyUpkeep.Failure.state }
        session = try OutboundGroupSession(pickle: Array(pickle), key: key)
        reserved = try stored.reserved ?? session.index
        guard try session.index <= reserved, try reserved - session.index <= Self.maxReserved else {
            throw KeyUpkeep.Failure.state
        }
        // What is encrypted here leaves nowhere, and its index is used for nothing else.
        while try session.index < reserved { _ = try session.encrypt([]) }
        firstIndex = reserved
        id = ExactText(try session.id)
        begun = stored.begun
        isSpent = stored.isSpent
        isSharedHistory = stored.isSharedHistory
        (maxMessages, maxAge) = (stored.maxMessages, stored.maxAge)
        for record in records where record.key != Self.key(room) {
            let readers = try JSONDecoder().decode(Readers.self, from: record.value)
            for (device, share) in readers.shares { shares[record.key.id, default: [:]][ExactText(device)] = share }
            if !readers.informed.isEmpty { informed[record.key.id] = Set(readers.informed.map { ExactText($0) }) }
        }
    }

    /// Reserves the index of the next message, if it is not yet, and as many behind it as were used since the session was
    /// begun or read: a restart, which goes on behind them, skips no more than that.
    /// - Returns: Whether the record has to be on the disk before the message leaves.
    mutating func reserveIndex() throws -> Bool {
        let index = try session.index
        guard index >= reserved else { return false }
        reserved = index + min(max(1, index - firstIndex), Self.maxReserved, .max - index)
        return true
    }

    /// The session as it is now, with what is reserved.
    func record(of room: ExactText, key material: KeyMaterial) throws -> CryptoRecord {
        let stored = Stored(
            session: Data(try session.pickle(key: material)), reserved: max(reserved, try session.index), begun: begun,
            isSpent: isSpent,
            isSharedHistory: isSharedHistory, maxMessages: maxMessages, maxAge: maxAge)
        return CryptoRecord(Self.key(room), value: try JSONEncoder().encode(stored))
    }

    /// The record of which devices of one user have the key, or know why they do not.
    func record(of room: ExactText, for user: ExactText) throws -> CryptoRecord {
        let devices = Dictionary((shares[user] ?? [:]).map { ($0.key.text, $0.value) }) { first, _ in first }
        let readers = Readers(shares: devices, informed: (informed[user] ?? []).map(\.text))
        return CryptoRecord(Self.key(room, user), value: try JSONEncoder().encode(readers))
    }

    /// A record of a session, marked as not to be used any more.
    static func spent(_ record: CryptoRecord) throws -> CryptoRecord {
        var stored = try JSONDecoder().decode(Stored.self, from: record.value)
        stored.isSpent = true
        return CryptoRecord(record.key, value: try JSONEncoder().encode(stored))
    }

    /// Whether another session has to be begun, apart from who has the key.
    func isOver(for settings: EncryptedRoom, isSharedHistory: Bool, at now: Date) throws -> Bool {
        let age = Self.milliseconds(now) - begun
        let isNew = try Int64(session.index) < settings.maxMessages && (-Self.tolerance..<settings.maxAge).contains(age)
        let isSame = maxMessages == settings.maxMessages && maxAge == settings.maxAge
        return isSpent || !isNew || !isSame || self.isSharedHistory != isSharedHistory
    }

    /// Whether a device has the key that must not have the next one.
    func isSharedBeyond(_ devices: [ExactText: [ExactText: DeviceKeys]]) -> Bool {
        shares.contains { user, shares in
            shares.contains { device, share in
                devices[user]?[device]?.identityKey.bytes != share.identityKey.bytes
            }
        }
    }

    /// Whether the key is under way to somebody.
    var isUnderWay: Bool { shares.values.contains { $0.values.contains { !$0.isAnswered } } }

    /// What gives a device the messages from the next one on.
    func roomKey(of room: ExactText) throws -> JSONValue {
        [
            "algorithm": .string(InboundSession.algorithm), "room_id": .string(room.text),
            "session_id": .string(id.text), "session_key": .string(Base64.encoded(try session.sessionKey)),
            "shared_history": .bool(isSharedHistory),
        ]
    }

    private static func milliseconds(_ date: Date) -> Int64 { Int64(date.timeIntervalSince1970 * 1000) }
}
