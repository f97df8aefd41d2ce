import ChatCore
import Foundation
public import Ratchets

/// The backup on the server that room keys are written to.
public struct BackupVersion: Codable, Equatable, Sendable {
    public let version: String
    let key: [UInt8]

    public init(version: String, publicKey: Curve25519Key) {
        self.version = version
        key = publicKey.bytes
    }

    public var publicKey: Curve25519Key { get throws(RatchetError) { try Curve25519Key(bytes: key) } }
}

/// What is stored of the backup: which it is, and how far all sessions are marked that are not in it.
struct BackupRecord: Equatable, Codable {
    private static let key = CryptoRecord.Key(.backup, id: "version")

    /// `nil` while there is none that may be written to.
    private(set) var version: BackupVersion?
    /// The last session that is marked; `nil` before the first one.
    private var lastMarked: Position?
    /// Whether each session is marked that the backup does not have. Those that come meanwhile are marked as they come.
    private(set) var areAllMarked = false

    private struct Position: Equatable, Codable {
        let room: [UInt8]
        let session: [UInt8]
    }

    /// As of a store from before there were backups: nothing is marked.
    static func stored(in storage: any CryptoStorage) async throws -> BackupRecord {
        guard let record = try await storage.cryptoRecord(key) else { return BackupRecord() }
        return try JSONDecoder().decode(BackupRecord.self, from: record.value)
    }

    func record() throws -> CryptoRecord { CryptoRecord(Self.key, value: try JSONEncoder().encode(self)) }

    /// Another backup has none of the sessions.
    mutating func setVersion(_ version: BackupVersion?) {
        guard version != self.version else { return }
        self.version = version
        markAllAgain()
    }

    mutating func markAllAgain() {
        lastMarked = nil
        areAllMarked = false
    }

    /// Where marking goes on.
    var next: CryptoRecord.Key? {
        lastMarked.map {
            CryptoRecord.Key(
                .inboundGroupSession, owner: ExactText(bytes: $0.room), id: ExactText(bytes: $0.session))
        }
    }

    /// - Parameter key: `nil` if there is no further one.
    mutating func marked(through key: CryptoRecord.Key?) {
        lastMarked = key.map { Position(room: $0.owner.bytes, session: $0.id.bytes) }
        areAllMarked = key == nil
    }

    /// A mark has a value of its own: an answer to what was sent of a session before it was replaced removes none.
    static func mark(_ session: CryptoRecord.Key) throws(RatchetError) -> CryptoRecord {
        CryptoRecord(key(ofMark: session), value: Data(try Randomness.bytes(8)))
    }

    static func key(ofMark session: CryptoRecord.Key) -> CryptoRecord.Key {
        CryptoRecord.Key(.waitingForBackup, owner: session.owner, id: session.id)
    }
}

extension CryptoChange {
    /// Marks the sessions that it stores, wherever they are from, but for those whose marks it removes.
    mutating func markForBackup() throws(RatchetError) {
        for record in put where record.key.kind == .inboundGroupSession {
            guard !removed.contains(BackupRecord.key(ofMark: record.key)) else { continue }
            put.append(try BackupRecord.mark(record.key))
        }
    }
}
