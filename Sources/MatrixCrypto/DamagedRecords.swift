import ChatCore
import Foundation
import Ratchets

/// Records that cannot be decoded. Each costs only what depends on it: what the server has is queried again, and what
/// was decided is held until the user decides again. Copies of them stay in the storage.
enum DamagedRecords {
    /// The copy that is stored before a damaged record is replaced or removed.
    static func copy(_ record: CryptoRecord) throws(RatchetError) -> CryptoRecord {
        // Another damage of the same record has another copy.
        let hash = try SHA256.digest(of: Array(record.value)).prefix(8)
        let id = ExactText(bytes: record.key.id.bytes + [0] + hash)
        return CryptoRecord(
            CryptoRecord.Key(.damaged, owner: owner(ofCopiesOf: record.key), id: id), value: record.value)
    }

    private static func owner(ofCopiesOf key: CryptoRecord.Key) -> ExactText {
        ExactText(bytes: [UInt8(key.kind.rawValue)] + key.owner.bytes)
    }

    /// Whether a record was damaged at some time.
    static func hasCopy(of key: CryptoRecord.Key, in storage: any CryptoStorage) async throws -> Bool {
        let copies = try await storage.cryptoRecords(.damaged, owner: owner(ofCopiesOf: key))
        return copies.contains { $0.key.id.bytes.starts(with: key.id.bytes + [0]) }
    }

    /// The change that makes readable what a machine loads when it opens, except the keys of its device.
    /// - Parameter key: encrypts the storage; it has opened the keys of the device.
    static func change(
        of user: ExactText, in storage: any CryptoStorage, key: KeyMaterial
    ) async throws -> CryptoChange {
        var change = CryptoChange()
        try await mendOwnUser(user, in: storage, &change)
        // As if it was missing: the recovery key or another device has it.
        for record in try await PrivateKeys.damaged(in: storage, key: key) {
            change.put.append(try copy(record))
            change.removed.insert(record.key)
        }
        for record in try await storage.cryptoRecords(.roomAudience, owner: nil)
        where (try? RoomAudience(record: record)) == nil {
            // Without a whole list of members, the next message requests one, which begins another session.
            change.put += [try copy(record), try RoomAudience().record(of: record.key.owner)]
        }
        if let record = try await storage.cryptoRecord(BackupRecord.key), (try? BackupRecord(record: record)) == nil {
            change.put.append(try copy(record))
            change.removed.insert(record.key)
        }
        let requests = try await storage.cryptoRecords(.outgoingRequest, owner: nil)
            .filter { (try? OutgoingQueue.decoded($0)) == nil }
        guard !requests.isEmpty else { return change }
        for record in requests {
            change.put.append(try copy(record))
            change.removed.insert(record.key)
        }
        try await replaceRequests(of: user, in: storage, &change)
        return change
    }

    /// Replaces the damaged records of the local user: their devices are queried again, and their identity has to
    /// confirm this device again.
    private static func mendOwnUser(
        _ user: ExactText, in storage: any CryptoStorage, _ change: inout CryptoChange
    ) async throws {
        let devices = StoredDevices(try await storage.cryptoRecords(.device, owner: user))
        for record in devices.damaged {
            change.put.append(try copy(record))
            change.removed.insert(record.key)
        }
        var isOutdated = !devices.damaged.isEmpty
        if let record = try await storage.cryptoRecord(Identity.key(user)), (try? Identity(record: record)) == nil {
            change.put += [try copy(record), try Identity.unknown().record(of: user)]
            isOutdated = true
        }
        if isOutdated { change.put.append(DeviceTracker.outdated(user)) }
    }

    /// Has the machine make again what a damaged request may have contained. Messages of verifications and answers to
    /// other devices' requests are lost: those devices repeat their requests.
    private static func replaceRequests(
        of user: ExactText, in storage: any CryptoStorage, _ change: inout CryptoChange
    ) async throws {
        // A room key: whether the devices have it is unknown, so no other message is encrypted with it.
        for record in try await OutboundRoom.spentUnderWay(in: storage) { change.put.append(record) }
        // A signature of an own device: the list shows whether it is missing.
        change.merge(CryptoChange(put: [DeviceTracker.outdated(user)]))
        // A signature of another user.
        for record in try await storage.cryptoRecords(.identity, owner: nil)
        where record.key == Identity.key(record.key.owner) && record.key.owner != user {
            guard var identity = try? Identity(record: record), identity.isVerified else { continue }
            identity.oweSignature()
            change.put.append(try identity.record(of: record.key.owner))
        }
        change.put.append(CryptoRecord(signaturesKey, value: Data([1])))
    }

    /// Its record exists if signatures of other users have to be uploaded with the next list of the own devices.
    static let signaturesKey = CryptoRecord.Key(.position, id: "signatures")
}

/// The stored devices of one user.
struct StoredDevices {
    private(set) var devices: [DeviceKeys] = []
    /// Records that cannot be decoded. With any, the devices of the user have to be queried again.
    private(set) var damaged: [CryptoRecord] = []

    init(_ records: [CryptoRecord]) {
        for record in records {
            do { devices.append(try DeviceKeys(record: record)) } catch { damaged.append(record) }
        }
    }
}

/// Users whose stored records are damaged, as found within one change.
struct DamagedUsers {
    var devices: Set<ExactText> = []
    var identities: Set<ExactText> = []

    func contains(_ user: ExactText) -> Bool { devices.contains(user) || identities.contains(user) }
}

extension DeviceTracker {
    mutating func note(_ damaged: DamagedUsers) {
        for user in damaged.devices { noteDamagedDevice(of: user) }
        for user in damaged.identities { noteDamagedIdentity(of: user) }
    }
}
