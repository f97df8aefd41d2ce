import ChatCore
import Foundation

/// Why keys were withheld, within one change. Anyone can claim this of any number of sessions, so only the latest
/// claims are stored.
struct WithheldRecords {
    /// More sessions than the rooms of one user have.
    static let maxRecords = 10_000

    private let storage: any CryptoStorage
    /// `nil` for records to remove.
    private var records: [CryptoRecord.Key: CryptoRecord?] = [:]
    /// A ring buffer of slots, each with the session of one record, which gives the order of the records.
    private var places: [CryptoRecord.Key: SessionID] = [:]
    private var next: Int?

    private static let nextKey = CryptoRecord.Key(.withheldOrder, id: "next")

    init(storage: any CryptoStorage) { self.storage = storage }

    var change: CryptoChange {
        var change = CryptoChange()
        for (key, record) in records {
            if let record { change.put.append(record) } else { change.removed.insert(key) }
        }
        for (key, session) in places {
            // A room ID is at most 255 bytes long.
            let value = Data([UInt8(session.room.bytes.count)] + session.room.bytes + session.session.bytes)
            change.put.append(CryptoRecord(key, value: value))
        }
        if let next { change.put.append(CryptoRecord(Self.nextKey, value: Data(String(next).utf8))) }
        return change
    }

    /// Removes the claim about a session whose key has arrived.
    mutating func remove(_ key: CryptoRecord.Key) { records.updateValue(nil, forKey: key) }

    /// - Parameter key: Of the kind ``CryptoRecord/Kind/withheldSession``.
    /// - Returns: Whether the reason has changed.
    mutating func put(_ reason: Withheld, for key: CryptoRecord.Key) async throws -> Bool {
        let value = Data(reason.rawValue.utf8)
        let known: CryptoRecord?
        if let changed = records[key] { known = changed } else { known = try await storage.cryptoRecord(key) }
        if known?.value == value { return false }
        if known == nil { try await makeRoom(for: key) }
        records.updateValue(CryptoRecord(key, value: value), forKey: key)
        return true
    }

    private mutating func makeRoom(for key: CryptoRecord.Key) async throws {
        let number: Int
        if let next {
            number = next
        } else {
            let stored = try await storage.cryptoRecord(Self.nextKey)
            // If it is unreadable, the ring restarts at slot 0 and overwrites the old records in turn.
            number = stored.flatMap { Int(String(decoding: $0.value, as: UTF8.self)) } ?? 0
        }
        let place = CryptoRecord.Key(.withheldOrder, id: ExactText(String(number)))
        if let oldest = try await session(at: place) {
            let record = CryptoRecord.Key(.withheldSession, owner: oldest.room, id: oldest.session)
            if record != key { records.updateValue(nil, forKey: record) }
        }
        places[place] = SessionID(room: key.owner, session: key.id)
        next = (max(0, number) + 1) % Self.maxRecords
    }

    private func session(at place: CryptoRecord.Key) async throws -> SessionID? {
        if let session = places[place] { return session }
        guard let value = try await storage.cryptoRecord(place)?.value, let count = value.first,
            value.count > Int(count)
        else { return nil }
        let rest = value.dropFirst()
        return SessionID(
            room: ExactText(bytes: rest.prefix(Int(count))), session: ExactText(bytes: rest.dropFirst(Int(count))))
    }
}
