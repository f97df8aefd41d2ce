import ChatCore
import Foundation
import Ratchets

/// Moves the Olm records of earlier versions, which named a device by its identity key alone, to the users whose devices
/// have the key.
enum EarlierOlmRecords {
    /// What is moved before an error stays moved, and the next call goes on.
    static func move(in storage: any CryptoStorage) async throws {
        var peers: [ExactText: [OlmPeer.ID]]?
        for kind in [CryptoRecord.Kind.olmSession, .readMessage] {
            try await storage.forEachPart(of: kind, after: OlmPeer.end(of: kind)) { part in
                let known = if let peers { peers } else { try await self.peers(in: storage) }
                peers = known
                try await storage.commit(try await change(of: part, to: known, in: storage))
            }
        }
    }

    /// The devices of all users by their identity keys, as earlier versions wrote them.
    private static func peers(in storage: any CryptoStorage) async throws -> [ExactText: [OlmPeer.ID]] {
        var peers: [ExactText: [OlmPeer.ID]] = [:]
        try await storage.forEachPart(of: .device) { part in
            // Nothing is sent to a device whose record is damaged, and a damaged one must not keep the others from
            // being used.
            for device in part.compactMap({ try? DeviceKeys(record: $0) }) {
                peers[ExactText("\(device.identityKey)"), default: []].append(device.peer)
            }
        }
        return peers
    }

    /// Records of a key that no device has any more are removed: if there is a device after all, it gets a new session.
    /// Where devices of several users claim a key, it is unknown whose sessions these are, so each gets a copy that
    /// encrypts nothing: what the right one still sends is read, and nobody else can write with them.
    private static func change(
        of records: [CryptoRecord], to peers: [ExactText: [OlmPeer.ID]], in storage: any CryptoStorage
    ) async throws -> CryptoChange {
        var change = CryptoChange(removed: Set(records.map(\.key)))
        for record in records {
            let owners = Set((peers[record.key.owner] ?? []).map { OlmPeer.owner($0) })
            for owner in owners {
                let key = CryptoRecord.Key(record.key.kind, owner: owner, id: record.key.id)
                // A record of this version is newer, as where a repair has found a deleted one.
                guard try await storage.cryptoRecord(key) == nil else { continue }
                var value = record.value
                if owners.count > 1, record.key.kind == .olmSession {
                    value = try OlmPeer.receivingOnly(value) ?? value
                }
                change.put.append(CryptoRecord(key, value: value))
            }
        }
        return change
    }
}
