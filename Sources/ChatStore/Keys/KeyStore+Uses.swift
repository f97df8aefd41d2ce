import Foundation
import GRDB

/// Recognizes a file that was replaced by an older copy of itself, as from a backup of the disk. Its keys were used
/// since: with them, an index or a message key would be used for a second message.
extension KeyStore {
    static func uses(in folder: URL) -> MarkFile { MarkFile("keys.uses", in: folder) }

    static func uses(in db: Database) throws -> Int64 {
        try String.fetchOne(db, sql: "SELECT value FROM setting WHERE name = 'uses'").flatMap { Int64($0) } ?? 0
    }

    static func setUses(_ count: Int64, in db: Database) throws {
        try db.execute(
            sql: "INSERT OR REPLACE INTO setting (name, value) VALUES ('uses', ?)", arguments: [String(count)])
    }

    /// Has the records of an older copy count as those of a rebuilt file (``wasRepaired()``).
    /// - Returns: The number that belongs beside the file.
    /// - Parameters:
    ///   - mark: What is beside the file; `nil` if there is nothing, as in earlier versions.
    ///   - isCreated: Whether the file has just been created, so that none of its keys was used.
    static func compareUses(_ db: Database, with mark: String?, isCreated: Bool) throws -> Int64 {
        let stored = try uses(in: db)
        // `nil` if it is no number.
        let counted: Int64? = if let mark { Int64(mark) } else { 0 }
        // The process may have ended before the last one was counted beside the file. This comes first: once the
        // numbers are the same, they tell nothing.
        if !isCreated, counted != stored, counted != stored &- 1 {
            try db.execute(sql: "INSERT OR REPLACE INTO setting (name, value) VALUES ('repaired', '1')")
        }
        // Never less than before, so that no copy has the same number by chance.
        guard let counted, counted > stored else { return stored }
        try setUses(counted, in: db)
        return counted
    }
}
