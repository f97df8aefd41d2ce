public import ChatCore
public import Foundation
public import JSONReading

/// A room's encryption settings. They are stored by room ID and never removed; later events can only make them
/// stricter.
public struct EncryptedRoom: Codable, Equatable, Sendable {
    /// `nil` if it is only known that the room is encrypted.
    public private(set) var algorithm: String?
    /// The number of messages after which the room key is rotated.
    public private(set) var maxMessages: Int64
    /// The age, in milliseconds, after which the room key is rotated.
    public private(set) var maxAge: Int64
    /// When the encryption was first seen, in milliseconds since 1970: messages queued earlier, by a clock that may have
    /// been set back since, may have been sent in the clear.
    public let firstSeen: Int64

    static let messages: ClosedRange<Int64> = 1...10_000
    /// From one hour to 31 days, in milliseconds.
    static let ages: ClosedRange<Int64> = 3_600_000...2_678_400_000
    static let defaults = (messages: Int64(100), age: Int64(604_800_000))

    /// - Parameter content: The content of `m.room.encryption`, or any other value if only the fact is known.
    public init(_ content: JSONValue, at now: Date) {
        firstSeen = Int64(now.timeIntervalSince1970 * 1000)
        algorithm = Self.algorithm(in: content)
        let isKnown = algorithm == InboundSession.algorithm
        maxMessages = (isKnown ? Self.messages(in: content) : nil) ?? Self.defaults.messages
        maxAge = (isKnown ? Self.age(in: content) : nil) ?? Self.defaults.age
    }

    /// The settings in place of a damaged record, which proves that the room is encrypted. The lost ones may have been as
    /// strict as these.
    static func mended(at now: Date) -> EncryptedRoom {
        var room = EncryptedRoom(.null, at: now)
        (room.maxMessages, room.maxAge) = (messages.lowerBound, ages.lowerBound)
        return room
    }

    /// Applies another `m.room.encryption` where it is stricter. An unsupported algorithm never replaces the supported
    /// one.
    public mutating func tighten(by content: JSONValue) {
        guard let other = Self.algorithm(in: content) else { return }
        if algorithm != InboundSession.algorithm { algorithm = other }
        guard other == InboundSession.algorithm else { return }
        maxMessages = min(maxMessages, Self.messages(in: content) ?? maxMessages)
        maxAge = min(maxAge, Self.age(in: content) ?? maxAge)
    }

    /// Whether messages can be encrypted for the room. Without a stated algorithm, Megolm is assumed.
    public var isSupported: Bool { algorithm ?? InboundSession.algorithm == InboundSession.algorithm }

    private static func algorithm(in content: JSONValue) -> String? {
        guard let text = content["algorithm"]?.string, !text.isEmpty, text.utf8.count <= 255 else { return nil }
        return text
    }

    private static func messages(in content: JSONValue) -> Int64? {
        content["rotation_period_msgs"]?.integer.map { min(max($0, messages.lowerBound), messages.upperBound) }
    }

    private static func age(in content: JSONValue) -> Int64? {
        content["rotation_period_ms"]?.integer.map { min(max($0, ages.lowerBound), ages.upperBound) }
    }
}

extension EncryptedRoom {
    static func key(_ room: ExactText) -> CryptoRecord.Key { CryptoRecord.Key(.encryptedRoom, owner: room) }

    /// An unreadable record is an error: the room must not count as unencrypted.
    init(record: CryptoRecord) throws { self = try JSONDecoder().decode(EncryptedRoom.self, from: record.value) }

    /// Returns a room's settings; `nil` if the room is not known to be encrypted.
    /// - Throws: If it cannot be read, which must not pass for an unencrypted room: a `DecodingError` if its record is
    ///   damaged, which ``note(_:in:at:)`` replaces.
    public static func stored(_ room: ExactText, in storage: any CryptoStorage) async throws -> EncryptedRoom? {
        try await storage.cryptoRecord(key(room)).map { try EncryptedRoom(record: $0) }
    }

    /// Records the `m.room.encryption` contents of rooms, in the order of the events, and replaces damaged records of
    /// these rooms. Calls must not overlap.
    public static func note(
        _ contents: [(room: ExactText, content: JSONValue)], in storage: any CryptoStorage, at now: Date
    ) async throws {
        var change = CryptoChange()
        var rooms: [ExactText: (before: EncryptedRoom?, now: EncryptedRoom)] = [:]
        for (room, content) in contents {
            if rooms[room] == nil {
                let record = try await storage.cryptoRecord(key(room))
                let before = record.flatMap { try? EncryptedRoom(record: $0) }
                if let record, before == nil {
                    change.put.append(try DamagedRecords.copy(record))
                    rooms[room] = (nil, mended(at: now))
                } else {
                    rooms[room] = (before, before ?? EncryptedRoom(content, at: now))
                }
            }
            rooms[room]?.now.tighten(by: content)
        }
        for (room, value) in rooms where value.before != value.now {
            change.put.append(CryptoRecord(key(room), value: try JSONEncoder().encode(value.now)))
        }
        if !change.isEmpty { try await storage.commit(change) }
    }
}
