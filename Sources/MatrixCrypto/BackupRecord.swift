import ChatCore
import Foundation
public import Ratchets

/// The backup on the server that this device uploads room keys to.
public struct BackupVersion: Codable, Equatable, Sendable {
    public let version: String
    let key: [UInt8]

    public init(version: String, publicKey: Curve25519Key) {
        self.version = version
        key = publicKey.bytes
    }

    public var publicKey: Curve25519Key { get throws(RatchetError) { try Curve25519Key(bytes: key) } }
}

/// The stored backup state: the backup in use, and the progress of marking the sessions missing from it.
struct BackupRecord: Equatable, Codable {
    static let key = CryptoRecord.Key(.backup, id: "version")

    /// `nil` while there is no backup that this device may write to.
    private(set) var version: BackupVersion?
    /// The last session marked so far; `nil` before the first one.
    private var lastMarked: Position?
    /// Whether every session missing from the backup is marked. New sessions are marked as they are stored.
    private(set) var areAllMarked = false

    private struct Position: Equatable, Codable {
        let room: [UInt8]
        let session: [UInt8]
    }

    /// Loads the stored state. With none, as in a store that predates backups, or a damaged one, nothing counts as
    /// marked, and no backup is in use until the server is asked for it.
    static func stored(in storage: any CryptoStorage) async throws -> BackupRecord {
        try await storage.cryptoRecord(key).flatMap { try? BackupRecord(record: $0) } ?? BackupRecord()
    }

    init() {}

    init(record: CryptoRecord) throws {
        self = try JSONDecoder().decode(BackupRecord.self, from: record.value)
        // A key that is none would fail each upload.
        _ = try version?.publicKey
    }

    func record() throws -> CryptoRecord { CryptoRecord(Self.key, value: try JSONEncoder().encode(self)) }

    /// Restarts the marking if the backup changes: the new one has none of the sessions.
    mutating func setVersion(_ version: BackupVersion?) {
        guard version != self.version else { return }
        self.version = version
        markAllAgain()
    }

    mutating func markAllAgain() {
        lastMarked = nil
        areAllMarked = false
    }

    /// The key after which marking continues.
    var next: CryptoRecord.Key? {
        lastMarked.map {
            CryptoRecord.Key(
                .inboundGroupSession, owner: ExactText(bytes: $0.room), id: ExactText(bytes: $0.session))
        }
    }

    /// - Parameter key: The last key of the batch; `nil` if no sessions remain.
    mutating func marked(through key: CryptoRecord.Key?) {
        lastMarked = key.map { Position(room: $0.owner.bytes, session: $0.id.bytes) }
        areAllMarked = key == nil
    }

    /// Each mark has a random value, so that confirming an upload does not remove the mark of a session replaced
    /// meanwhile.
    static func mark(_ session: CryptoRecord.Key) throws(RatchetError) -> CryptoRecord {
        CryptoRecord(key(ofMark: session), value: Data(try Randomness.bytes(8)))
    }

    static func key(ofMark session: CryptoRecord.Key) -> CryptoRecord.Key {
        CryptoRecord.Key(.waitingForBackup, owner: session.owner, id: session.id)
    }
}

extension CryptoChange {
    /// Marks every session that the change stores, whatever its source, except those whose mark it removes.
    mutating func markForBackup() throws(RatchetError) {
        for record in put where record.key.kind == .inboundGroupSession {
            guard !removed.contains(BackupRecord.key(ofMark: record.key)) else { continue }
            put.append(try BackupRecord.mark(record.key))
        }
    }
}
