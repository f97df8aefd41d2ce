import ChatCore
import Foundation
import Ratchets

/// The stored form of a device. Its signature was verified before and is not stored.
extension DeviceKeys {
    private struct Stored: Codable {
        let identityKey: StoredBytes
        let signingKey: StoredBytes
        let algorithms: [String]
        let name: String?
        var isDisputed: Bool?
        var confirmedBy: StoredBytes?
        var object: Data?
    }

    var key: CryptoRecord.Key { CryptoRecord.Key(.device, owner: user, id: device) }

    func record() throws -> CryptoRecord {
        let stored = Stored(
            identityKey: StoredBytes(identityKey.bytes), signingKey: StoredBytes(signingKey.bytes),
            algorithms: algorithms.sorted(), name: name, isDisputed: isDisputed ? true : nil,
            confirmedBy: confirmedBy.map { StoredBytes($0.bytes) }, object: object)
        return CryptoRecord(key, value: try JSONEncoder().encode(stored))
    }

    /// An unreadable record is an error: the device must not count as unknown.
    init(record: CryptoRecord) throws {
        let stored = try JSONDecoder().decode(Stored.self, from: record.value)
        self.init(
            user: record.key.owner, device: record.key.id,
            identityKey: try Curve25519Key(bytes: stored.identityKey.bytes),
            signingKey: try Ed25519Key(bytes: stored.signingKey.bytes), algorithms: Set(stored.algorithms),
            name: stored.name)
        isDisputed = stored.isDisputed ?? false
        confirmedBy = try stored.confirmedBy.map { try Ed25519Key(bytes: $0.bytes) }
        object = stored.object
    }
}
