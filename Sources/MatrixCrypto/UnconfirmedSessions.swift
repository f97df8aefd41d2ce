import ChatCore
import Foundation
import Ratchets

/// Marks sessions whose device was not confirmed when their key arrived, so that they are found when it is: it may be
/// signed out again before any message of theirs is read.
enum UnconfirmedSessions {
    /// Session IDs are base64, so the separator ends them.
    private static let separator: UInt8 = 0

    static func mark(_ session: InboundSession) -> CryptoRecord {
        CryptoRecord(key(ofMark: session), value: Data(session.owner.identityKey))
    }

    static func key(ofMark session: InboundSession) -> CryptoRecord.Key {
        CryptoRecord.Key(
            .unconfirmedSession, owner: ExactText(session.owner.user),
            id: ExactText(bytes: Array(session.id.bytes) + [separator] + Array(session.room.bytes)))
    }

    private static func session(of mark: CryptoRecord.Key) -> SessionID? {
        let parts = mark.id.bytes.split(separator: separator, maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        return SessionID(room: ExactText(bytes: Array(parts[1])), session: ExactText(bytes: Array(parts[0])))
    }

    /// Records in the marked sessions of users which of their devices are confirmed now.
    static func confirm(
        _ lists: [(user: ExactText, identity: Identity, devices: [DeviceKeys])], in storage: any CryptoStorage,
        key: KeyMaterial
    ) async throws -> CryptoChange {
        let marks = try await storage.cryptoRecords(.unconfirmedSession, owners: Set(lists.map(\.user)))
        var change = CryptoChange()
        for list in lists {
            let confirmed = list.devices.filter { list.identity.confirms($0) }
            let identityKeys = Set(confirmed.map { Data($0.identityKey.bytes) })
            // Not all marked sessions are read: those of a device that stays unconfirmed grow with its messages.
            for mark in marks[list.user] ?? [] where identityKeys.contains(mark.value) {
                guard let id = session(of: mark.key),
                    var session = try await InboundSession.stored(id, in: storage, key: key)
                else {
                    change.removed.insert(mark.key)
                    continue
                }
                guard ExactText(session.owner.user) == list.user, confirmed.contains(where: session.owner.isDevice)
                else { continue }
                session.confirmedBy = list.identity.master
                change.put.append(try session.record(key: key))
                change.removed.insert(mark.key)
            }
        }
        return change
    }
}
