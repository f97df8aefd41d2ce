import Foundation
import GRDB

/// A file of the media cache.
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
struct MediaTable {
    let db: Database
    /// By how much ``totalBytes`` has changed through this value. Counting all files takes time proportional to their
    /// number.
    private(set) var growth = 0

    func entry(of uri: String) throws -> MediaEntry? {
        try Row.fetchOne(db, sql: "SELECT * FROM media WHERE uri = ?", arguments: [uri]).map(MediaEntry.init(row:))
    }

    /// Adds or replaces an entry.
    /// - Returns: The replaced entry, if any.
    mutating func put(_ entry: MediaEntry) throws -> MediaEntry? {
        let before = try self.entry(of: entry.uri)
        if try !isKnown(entry.digest) { growth += entry.bytes }
        try db.execute(
            sql: "INSERT OR REPLACE INTO media (uri, digest, bytes, usedAt) VALUES (?, ?, ?, ?)",
            arguments: [entry.uri, entry.digest.hex, entry.bytes, entry.usedAt.milliseconds])
        if let before, try !isKnown(before.digest) { growth -= before.bytes }
        return before
    }

    func noteUses(_ uses: [String: Date]) throws {
        for (uri, date) in uses {
            try db.execute(sql: "UPDATE media SET usedAt = ? WHERE uri = ?", arguments: [date.milliseconds, uri])
        }
    }

    mutating func remove(_ uris: [String]) throws {
        for uri in uris {
            guard let entry = try entry(of: uri) else { continue }
            try db.execute(sql: "DELETE FROM media WHERE uri = ?", arguments: [uri])
            if try !isKnown(entry.digest) { growth -= entry.bytes }
        }
    }

    func entries(unusedSince date: Date) throws -> [MediaEntry] {
        try Row.fetchAll(db, sql: "SELECT * FROM media WHERE usedAt < ?", arguments: [date.milliseconds])
            .map(MediaEntry.init(row:))
    }

    func oldest(limit: Int) throws -> [MediaEntry] {
        try Row.fetchAll(db, sql: "SELECT * FROM media ORDER BY usedAt LIMIT ?", arguments: [limit])
            .map(MediaEntry.init(row:))
    }

    /// The total size of all files in bytes; shared files count once.
    var totalBytes: Int {
        get throws {
            try Int.fetchOne(db, sql: "SELECT coalesce(sum(bytes), 0) FROM (SELECT DISTINCT digest, bytes FROM media)")
                ?? 0
        }
    }

    /// Returns the digests that no entry refers to.
    func unknown(among digests: Set<MediaDigest>) throws -> [MediaDigest] {
        try digests.filter { try !isKnown($0) }
    }

    private func isKnown(_ digest: MediaDigest) throws -> Bool {
        try Int.fetchOne(
            db.cachedStatement(sql: "SELECT 1 FROM media WHERE digest = ?"), arguments: [digest.hex]) != nil
    }
}
