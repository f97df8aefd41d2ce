public import ChatCore
import Foundation
public import JSONReading
import Ratchets

/// Sessions encrypted for the backup, ready for upload.
public struct BackupBatch: Sendable {
    public let version: String
    /// The body of the `PUT room_keys/keys` request.
    public let body: JSONValue
    public let count: Int
    fileprivate let marks: [CryptoRecord]
}

/// The outcome of importing sessions from a backup or a key file.
public struct ImportedSessions: Equatable, Sendable {
    /// The number of valid sessions.
    public var total = 0
    /// Sessions that were unknown, or that begin earlier now.
    public var new: Set<SessionID> = []
    /// The number of invalid entries.
    public var rejected = 0

    public init() {}
}

extension CryptoMachine {
    /// Sessions marked per change.
    private static let markedAtOnce = 500
    /// Sessions per request.
    public static let maxBackupBatch = 100

    // MARK: Version

    /// The backup that sessions are uploaded to.
    public func backupVersion() async throws -> BackupVersion? {
        try await change { state, _ in state.backup.version }
    }

    /// Selects the backup that sessions are uploaded to; `nil` for none. A different backup receives every session.
    public func setBackupVersion(_ version: BackupVersion?) async throws {
        try await change { state, change in
            guard state.backup.version != version else { return }
            state.backup.setVersion(version)
            change.put.append(try state.backup.record())
        }
    }

    /// The number of sessions not yet uploaded to the backup in use; all of them if there is none.
    public func remainingInBackup() async throws -> Int {
        try await markAll()
        return try await storage.cryptoRecordCount(.waitingForBackup)
    }

    /// Whether there is any session that a backup could lack.
    public func hasRoomKeys() async throws -> Bool {
        try await storage.cryptoRecordCount(.inboundGroupSession) > 0
    }

    /// ``remainingInBackup()`` without the storage key: counts all sessions if those missing from the backup are not all
    /// marked.
    public static func remainingInBackup(in storage: any CryptoStorage) async throws -> Int {
        let areMarked = try await BackupRecord.stored(in: storage).areAllMarked
        return try await storage.cryptoRecordCount(areMarked ? .waitingForBackup : .inboundGroupSession)
    }

    /// Marks the remaining sessions in batches; an interrupted run resumes after the next start.
    private func markAll() async throws {
        var isDone = false
        while !isDone {
            isDone = try await change { state, change in
                guard !state.backup.areAllMarked else { return true }
                let records = try await storage.cryptoRecords(
                    .inboundGroupSession, after: state.backup.next, limit: Self.markedAtOnce)
                for record in records { change.put.append(try BackupRecord.mark(record.key)) }
                state.backup.marked(through: records.count < Self.markedAtOnce ? nil : records.last?.key)
                change.put.append(try state.backup.record())
                return state.backup.areAllMarked
            }
        }
    }

    // MARK: Writing

    /// The next sessions that the backup lacks; `nil` if it lacks none, or there is no backup. Damaged sessions, which
    /// cannot be uploaded, count no longer as missing in it.
    public func nextBackupBatch(limit: Int = maxBackupBatch) async throws -> BackupBatch? {
        try await markAll()
        return try await change { state, change in
            guard let version = state.backup.version else { return nil }
            let publicKey = try version.publicKey
            var rooms: [String: [String: JSONValue]] = [:]
            var marks: [CryptoRecord] = []
            var last: CryptoRecord.Key?
            // A page of which nothing can be uploaded is not the end.
            while marks.isEmpty {
                let page = try await storage.cryptoRecords(.waitingForBackup, after: last, limit: limit)
                guard let end = page.last else { return nil }
                last = end.key
                for mark in page {
                    let id = SessionID(room: mark.key.owner, session: mark.key.id)
                    // Room IDs that are canonically equivalent go into separate requests: as dictionary keys they would
                    // collide.
                    let known = rooms.index(forKey: id.room.text)
                    if let known, !rooms[known].key.utf8.elementsEqual(id.room.bytes) { continue }
                    guard case .found(let session) = try await InboundSession.stored(id, in: storage, key: key) else {
                        change.removed.insert(mark.key)
                        continue
                    }
                    rooms[id.room.text, default: [:]][id.session.text] = try Self.backedUp(session, for: publicKey)
                    marks.append(mark)
                }
            }
            let body = JSONValue.object(rooms.mapValues { ["sessions": .object($0)] })
            return BackupBatch(version: version.version, body: ["rooms": body], count: marks.count, marks: marks)
        }
    }

    private static func backedUp(_ session: InboundSession, for key: Curve25519Key) throws -> JSONValue {
        let content = try ExportedSession(session).content
        let data = try BackedUpData(CanonicalJSON.bytes(of: .object(content)), for: key)
        return [
            "first_message_index": .integer(Int64(try session.session.firstKnownIndex)), "forwarded_count": 0,
            // Restored sessions never count as verified, whatever a backup claims.
            "is_verified": false,
            "session_data": [
                "ephemeral": .string("\(data.ephemeralKey)"), "mac": .string(Base64.encoded(data.mac)),
                "ciphertext": .string(Base64.encoded(data.ciphertext)),
            ],
        ]
    }

    /// Removes the marks of a batch that the server has accepted.
    public func backedUp(_ batch: BackupBatch) async throws {
        try await change { state, change in
            guard state.backup.version?.version == batch.version else { return }
            for mark in batch.marks where try await storage.cryptoRecord(mark.key) == mark {
                change.removed.insert(mark.key)
            }
        }
    }

    // MARK: Importing

    /// Imports sessions from a key file or a backup in one change. They can only extend known sessions, to an
    /// earlier beginning, and never change a better proven origin.
    /// - Parameter backup: The version of the backup that they come from; `nil` for a key file.
    public func imported(_ sessions: [ExportedSession], from backup: String? = nil) async throws -> ImportedSessions {
        guard !sessions.isEmpty else { return ImportedSessions() }
        // Otherwise a later pass would mark these sessions along with all others.
        if backup != nil { try await markAll() }
        return try await change { state, change in
            var result = ImportedSessions()
            var accepted: [SessionID: InboundSession] = [:]
            let isBackedUp = backup != nil && backup == state.backup.version?.version
            for exported in sessions {
                guard var session = try? InboundSession(exported) else {
                    result.rejected += 1
                    continue
                }
                result.total += 1
                let id = SessionID(room: session.room, session: session.id)
                var known = accepted[id]
                // A damaged session is replaced.
                if known == nil, case .found(let stored) = try await InboundSession.stored(id, in: storage, key: key) {
                    known = stored
                }
                // No upload is needed if the backup's copy reads at least as much as the local one.
                if isBackedUp, try known.map({ try session.reads(asMuchAs: $0) }) ?? true {
                    change.removed.insert(BackupRecord.key(ofMark: session.key))
                }
                if let known {
                    guard let merged = try session.merged(with: known) else { continue }
                    session = merged
                }
                accepted[id] = session
                result.new.insert(id)
                change.removed.insert(CryptoRecord.Key(.withheldSession, owner: id.room, id: id.session))
            }
            for session in accepted.values { change.put += try session.records(key: key) }
            return result
        }
    }

    /// The rooms that are known to be encrypted.
    public func encryptedRooms() async throws -> [ExactText] {
        try await storage.cryptoRecords(.encryptedRoom, owner: nil).map(\.key.owner)
    }

    /// Returns sessions for export, in the order of their keys, without damaged ones.
    /// - Parameter last: The last session of the previous page; `nil` for the first page.
    /// - Returns: Fewer than `limit` only at the end.
    public func exportedSessions(after last: SessionID?, limit: Int) async throws -> [ExportedSession] {
        var last = last.map { CryptoRecord.Key(.inboundGroupSession, owner: $0.room, id: $0.session) }
        var sessions: [ExportedSession] = []
        while sessions.count < limit {
            let page = try await storage.cryptoRecords(
                .inboundGroupSession, after: last, limit: limit - sessions.count)
            guard let end = page.last else { break }
            last = end.key
            for record in page {
                guard case .found(let session) = InboundSession.Lookup(record, key: key) else { continue }
                sessions.append(try ExportedSession(session))
            }
        }
        return sessions
    }
}

extension InboundSession {
    fileprivate func reads(asMuchAs known: InboundSession) throws(RatchetError) -> Bool {
        switch try session.compare(to: known.session) {
        case .same, .beginsEarlier: true
        case .beginsLater, .unconnected: false
        }
    }
}
