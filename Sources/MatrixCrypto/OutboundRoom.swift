import ChatCore
import Foundation
import JSONReading
import Ratchets

/// The session with which this device encrypts for one room, and the devices that have its key.
struct OutboundRoom {
    /// Records that a device has the key, or that the key is on its way to it.
    struct Share: Codable, Equatable {
        let identityKey: StoredBytes
        /// The first message index that the device can decrypt.
        let index: UInt32
        /// Whether the server has accepted the message with the key.
        var isAnswered: Bool
    }

    private struct Stored: Codable {
        /// The session, at ``reserved`` or an earlier index.
        var session: Data?
        /// The session as stored by earlier versions, at the next index. They would continue from whatever is stored
        /// under this name, so it is no longer written.
        var pickle: Data?
        /// Indices below this one may have been used.
        var reserved: UInt32?
        let begun: Int64
        var isSpent: Bool
        let isSharedHistory: Bool
        let maxMessages: Int64
        let maxAge: Int64
    }

    /// The stored state of one user's devices.
    private struct Readers: Codable {
        let shares: [String: Share]
        let informed: [String]

        init(shares: [String: Share], informed: [String]) {
            (self.shares, self.informed) = (shares, informed)
        }

        init(from decoder: any Decoder) throws {
            // Earlier versions stored only the shares.
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

    /// The revisions against which the devices were last checked.
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
    /// Whether the session must not be used any more, as when a user who has the key has left.
    var isSpent = false
    var shares: [ExactText: [ExactText: Share]] = [:]
    /// The devices that were notified why they do not receive the key, by user.
    var informed: [ExactText: Set<ExactText>] = [:]
    /// Further devices are not notified, as anyone can have any number of them.
    static let maxInformed = 1_000
    /// The revisions at which all devices had the key.
    var checked: Stamp?
    /// When to retry devices that could not receive it.
    var retry: Date?

    /// Limits how many indices are reserved at once: a restart has to skip them one by one.
    static let maxReserved: UInt32 = 256
    /// Indices below this one are stored as used.
    private var reserved: UInt32 = 0
    /// The index at which the session was created or loaded.
    private let firstIndex: UInt32

    /// In milliseconds. Tolerates clock adjustments; a clock set back further makes the session's age unknown.
    private static let tolerance: Int64 = 60_000

    static func key(_ room: ExactText, _ user: ExactText = "") -> CryptoRecord.Key {
        CryptoRecord.Key(.outboundGroupSession, owner: room, id: user)
    }

    /// Creates a session.
    init(for settings: EncryptedRoom, isSharedHistory: Bool, at now: Date) throws {
        session = try OutboundGroupSession()
        firstIndex = try session.index
        id = ExactText(try session.id)
        begun = Self.milliseconds(now)
        self.isSharedHistory = isSharedHistory
        (maxMessages, maxAge) = (settings.maxMessages, settings.maxAge)
    }

    /// - Parameter records: The room's records. An unreadable one is an error: nothing else records who has the key, so
    ///   that the session must not be used any more.
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
        // The ciphertexts are discarded: encrypting only serves to advance the index.
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

    /// Reserves the index of the next message, if needed, and as many after it as were used since the session was
    /// created or loaded: a restart, which continues after them, skips no more than that.
    /// - Returns: Whether the record must be stored before the message is sent.
    mutating func reserveIndex() throws -> Bool {
        let index = try session.index
        guard index >= reserved else { return false }
        reserved = index + min(max(1, index - firstIndex), Self.maxReserved, .max - index)
        return true
    }

    /// Whether a message may have been sent with an index.
    func isUsed(_ index: UInt32) -> Bool { index < reserved }

    /// The record of the session at its current index, with the reserved indices.
    func record(of room: ExactText, key material: KeyMaterial) throws -> CryptoRecord {
        let stored = Stored(
            session: Data(try session.pickle(key: material)), reserved: max(reserved, try session.index), begun: begun,
            isSpent: isSpent,
            isSharedHistory: isSharedHistory, maxMessages: maxMessages, maxAge: maxAge)
        return CryptoRecord(Self.key(room), value: try JSONEncoder().encode(stored))
    }

    /// The record of which devices of one user have the key, or were notified why they do not.
    func record(of room: ExactText, for user: ExactText) throws -> CryptoRecord {
        let devices = Dictionary((shares[user] ?? [:]).map { ($0.key.text, $0.value) }) { first, _ in first }
        let readers = Readers(shares: devices, informed: (informed[user] ?? []).map(\.text))
        return CryptoRecord(Self.key(room, user), value: try JSONEncoder().encode(readers))
    }

    /// Marks a stored session as no longer to be used.
    static func spent(_ record: CryptoRecord) throws -> CryptoRecord {
        var stored = try JSONDecoder().decode(Stored.self, from: record.value)
        stored.isSpent = true
        return CryptoRecord(record.key, value: try JSONEncoder().encode(stored))
    }

    /// The sessions whose key may be on its way to a device, as no longer to be used. Damaged ones, which nothing is
    /// encrypted with, are omitted.
    static func spentUnderWay(in storage: any CryptoStorage) async throws -> [CryptoRecord] {
        let records = try await storage.cryptoRecords(.outboundGroupSession, owner: nil)
        let rooms = records.filter { record in
            guard record.key != key(record.key.owner) else { return false }
            let readers = try? JSONDecoder().decode(Readers.self, from: record.value)
            return readers.map { $0.shares.values.contains { !$0.isAnswered } } ?? true
        }.map(\.key.owner)
        let underWay = Set(rooms)
        return records.filter { $0.key == key($0.key.owner) && underWay.contains($0.key.owner) }
            .compactMap { try? spent($0) }
    }

    /// Whether a new session is needed, regardless of which devices have the key.
    func isOver(for settings: EncryptedRoom, isSharedHistory: Bool, at now: Date) throws -> Bool {
        let age = Self.milliseconds(now) - begun
        let isNew = try Int64(session.index) < settings.maxMessages && (-Self.tolerance..<settings.maxAge).contains(age)
        let isSame = maxMessages == settings.maxMessages && maxAge == settings.maxAge
        return isSpent || !isNew || !isSame || self.isSharedHistory != isSharedHistory
    }

    /// Whether a device has the key that must not receive the next one.
    func isSharedBeyond(_ devices: [ExactText: [ExactText: DeviceKeys]]) -> Bool {
        shares.contains { user, shares in
            shares.contains { device, share in
                devices[user]?[device]?.identityKey.bytes != share.identityKey.bytes
            }
        }
    }

    /// Whether the key is still on its way to a device.
    var isUnderWay: Bool { shares.values.contains { $0.values.contains { !$0.isAnswered } } }

    /// The `m.room_key` content that lets a device decrypt from the next message on.
    func roomKey(of room: ExactText) throws -> JSONValue {
        [
            "algorithm": .string(InboundSession.algorithm), "room_id": .string(room.text),
            "session_id": .string(id.text), "session_key": .string(Base64.encoded(try session.sessionKey)),
            "shared_history": .bool(isSharedHistory),
        ]
    }

    private static func milliseconds(_ date: Date) -> Int64 { Int64(date.timeIntervalSince1970 * 1000) }
}
