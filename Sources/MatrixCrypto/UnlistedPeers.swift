import ChatCore
import Foundation
import Ratchets

/// The peers of one user whose identity keys no stored device of theirs has, within one change. Anyone can invent such
/// keys, so only a few are stored, and not for long.
///
/// Each peer that is stored is a stored device of its user, or marked.
struct UnlistedPeers {
    /// The number per user beyond which the least recently used one is removed. Repairs alone do not displace sessions
    /// (``OutgoingQueue/maxRepairsOfUser``).
    static let maxCount = 40
    /// How long a peer that the current list lacks may stay unused, in seconds: a message may arrive before the change
    /// of the list that adds its device, or have been underway when its device was signed out.
    static let lifetime: TimeInterval = 3600

    private struct Mark {
        /// Milliseconds since 1970.
        let used: Int64
        /// Greater for later uses within this change; 0 for earlier ones.
        let step: Int
    }

    private let user: ExactText
    private var marks: [Curve25519Key: Mark] = [:]
    private var steps = 0
    private var stored: [Curve25519Key: Int64] = [:]
    private var dropped: Set<Curve25519Key> = []

    init(of user: ExactText, in storage: any CryptoStorage) async throws {
        self.init(of: user, records: try await storage.cryptoRecords(.unlistedPeer, owner: user))
    }

    private init(of user: ExactText, records: [CryptoRecord]) {
        self.user = user
        for record in records {
            guard let key = try? Curve25519Key(bytes: Base64.decoded(record.key.id.text)) else { continue }
            // With an unreadable date, the peer counts as the oldest.
            let used = Int64(String(decoding: record.value, as: UTF8.self)).map { min(max($0, 0), 1 << 53) } ?? 0
            stored[key] = used
            marks[key] = Mark(used: used, step: 0)
        }
    }

    private static func milliseconds(_ date: Date) -> Int64 { Int64(date.timeIntervalSince1970 * 1000) }

    /// Marks a peer as used.
    /// - Returns: The peers that it displaces.
    @discardableResult
    mutating func note(_ key: Curve25519Key, at now: Date) -> [Curve25519Key] {
        steps += 1
        marks[key] = Mark(used: Self.milliseconds(now), step: steps)
        dropped.remove(key)
        var displaced: [Curve25519Key] = []
        while marks.count > Self.maxCount,
            let oldest = marks.min(by: { ($0.value.step, $0.value.used) < ($1.value.step, $1.value.used) })?.key
        {
            drop(oldest)
            displaced.append(oldest)
        }
        return displaced
    }

    /// Drops the peers that were not used for long. A date that is as far ahead counts as one: the clock was set back.
    /// - Returns: The dropped peers.
    @discardableResult
    mutating func expire(at now: Date) -> [Curve25519Key] {
        let (time, limit) = (Self.milliseconds(now), Int64(Self.lifetime * 1000))
        let expired = marks.filter { abs($0.value.used - time) > limit }.map(\.key)
        for key in expired { drop(key) }
        return expired
    }

    private mutating func drop(_ key: Curve25519Key) {
        marks[key] = nil
        dropped.insert(key)
    }

    /// Applies a list of the user's devices.
    /// - Parameters:
    ///   - known: The devices that were stored before.
    ///   - isCurrent: Whether a device that the list lacks is none of the user's.
    private mutating func apply(_ list: DeviceListChange, known: [DeviceKeys], isCurrent: Bool, at now: Date) {
        let listed = Set(list.devices.values.map(\.identityKey))
        for key in listed { marks[key] = nil }
        for device in known where list.removed.contains(device.device) && !listed.contains(device.identityKey) {
            note(device.identityKey, at: now)
        }
        if isCurrent { expire(at: now) }
    }

    /// The changes to store. Peers that this change uses must not be among the dropped ones.
    func change(in storage: any CryptoStorage) async throws -> CryptoChange {
        var change = CryptoChange()
        for (key, mark) in marks where stored[key] != mark.used {
            change.put.append(CryptoRecord(recordKey(of: key), value: Data(String(mark.used).utf8)))
        }
        for key in stored.keys where marks[key] == nil { change.removed.insert(recordKey(of: key)) }
        let peers = Set(dropped.map { OlmPeer.ID(user: user, identityKey: $0) })
        change.removed.formUnion(try await OlmPeer.recordKeys(of: peers, in: storage))
        return change
    }

    private func recordKey(of key: Curve25519Key) -> CryptoRecord.Key {
        CryptoRecord.Key(.unlistedPeer, owner: user, id: ExactText("\(key)"))
    }

    /// The changes to store with new lists of devices.
    /// - Parameters:
    ///   - known: The devices that were stored before, by user.
    ///   - tracker: Knows which of the lists are current.
    static func change(
        by lists: [DeviceListChange], known: [ExactText: [DeviceKeys]], tracker: DeviceTracker,
        in storage: any CryptoStorage, at now: Date
    ) async throws -> CryptoChange {
        let records = try await storage.cryptoRecords(.unlistedPeer, owners: Set(lists.map(\.user)))
        var change = CryptoChange()
        for list in lists where records[list.user] != nil || !list.removed.isEmpty {
            var peers = UnlistedPeers(of: list.user, records: records[list.user] ?? [])
            peers.apply(
                list, known: known[list.user] ?? [], isCurrent: tracker.isOutdated(list.user) == false, at: now)
            let one = try await peers.change(in: storage)
            change.put += one.put
            change.removed.formUnion(one.removed)
        }
        return change
    }
}
