import Foundation
import GRDB

/// An entry in the index of the media cache.
struct MediaEntry: Equatable {
    let uri: String
    let digest: MediaDigest
    let bytes: Int
    let usedAt: Date
}

extension MediaEntry {
    init(row: Row) throws {
        guard let digest = MediaDigest(hex: try row.value("digest")) else { throw UnreadableColumn(name: "digest") }
        self.init(
            uri: try row.value("uri"), digest: digest, bytes: try row.value("bytes"), usedAt: try row.date("usedAt"))
    }
}

/// The index of the media cache, which can be lost without harm.
extension ChatStore {
    func mediaEntry(of uri: String) async throws -> MediaEntry? {
        try await read { db in
            try Row.fetchOne(db, sql: "SELECT * FROM media WHERE uri = ?", arguments: [uri]).map(MediaEntry.init(row:))
        }
    }

    /// Adds or replaces an entry.
    /// - Returns: The replaced entry, if any.
    func saveMediaEntry(_ entry: MediaEntry) async throws -> MediaEntry? {
        try await writeCache { db in
            let before = try Row.fetchOne(db, sql: "SELECT * FROM media WHERE uri = ?", arguments: [entry.uri])
                .map(MediaEntry.init(row:))
            try db.execute(
                sql: "INSERT OR REPLACE INTO media (uri, digest, bytes, usedAt) VALUES (?, ?, ?, ?)",
                arguments: [entry.uri, entry.digest.hex, entry.bytes, entry.usedAt.milliseconds])
            return before
        }
    }

    func noteMediaUses(_ uses: [String: Date]) async throws {
        try await writeCache { db in
            for (uri, date) in uses {
                try db.execute(sql: "UPDATE media SET usedAt = ? WHERE uri = ?", arguments: [date.milliseconds, uri])
            }
        }
    }

    func removeMedia(_ uris: [String]) async throws {
        try await writeCache { db in
            for uri in uris { try db.execute(sql: "DELETE FROM media WHERE uri = ?", arguments: [uri]) }
        }
    }

    func media(unusedSince date: Date) async throws -> [MediaEntry] {
        try await read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM media WHERE usedAt < ?", arguments: [date.milliseconds])
                .map(MediaEntry.init(row:))
        }
    }

    func oldestMedia(limit: Int) async throws -> [MediaEntry] {
        try await read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM media ORDER BY usedAt LIMIT ?", arguments: [limit])
                .map(MediaEntry.init(row:))
        }
    }

    /// Returns the total size of all files in bytes; shared files count once.
    func mediaTotal() async throws -> Int {
        try await read { db in
            try Int.fetchOne(db, sql: "SELECT coalesce(sum(bytes), 0) FROM (SELECT DISTINCT digest, bytes FROM media)")
                ?? 0
        }
    }

    /// Returns the digests that no entry refers to.
    func unknownMedia(among digests: Set<MediaDigest>) async throws -> [MediaDigest] {
        try await read { db in
            try digests.filter { digest in
                try Int.fetchOne(db, sql: "SELECT 1 FROM media WHERE digest = ?", arguments: [digest.hex]) == nil
            }
        }
    }
}
