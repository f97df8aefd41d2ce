import ChatCore
import Foundation
import GRDB

/// The records with which the next file begins once another one is set aside. They are in a file of their own until it
/// has stored them: if the process ended in between, the next start would know of none.
struct LastingRecords {
    private let path: String
    private let file: MarkFile

    private struct Stored: Codable {
        let kind: Int
        let owner: Data
        let id: Data
        let value: Data
    }

    init(in folder: URL) {
        let name = "keys.lasting"
        path = StoreFolder(url: folder).path(name)
        file = MarkFile(name, in: folder)
    }

    var exist: Bool { FileSystem.exists(path) }

    /// They are on the disk when this returns.
    func write(_ records: [CryptoRecord]) throws(StoreOpeningError) {
        let text: String
        do {
            let stored = records.map {
                Stored(
                    kind: $0.key.kind.rawValue, owner: Data($0.key.owner.bytes), id: Data($0.key.id.bytes),
                    value: $0.value)
            }
            text = String(decoding: try JSONEncoder().encode(stored), as: UTF8.self)
        } catch {
            throw .unwritable(path: path)
        }
        try file.write(text)
    }

    /// Stores those that the database lacks. One that it has is newer: after a power failure, this file may be there
    /// again.
    func move(to pool: DatabasePool) throws(StoreOpeningError) {
        guard let text = try file.read() else { return }
        let records: [Stored]
        do {
            records = try JSONDecoder().decode([Stored].self, from: Data(text.utf8))
        } catch {
            // The database is intact, and must not be repaired or set aside.
            throw .unwritable(path: path)
        }
        do {
            try pool.write { db in
                let statement = try db.cachedStatement(
                    sql: "INSERT INTO record (kind, owner, id, value) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING")
                for record in records {
                    try statement.execute(arguments: [record.kind, record.owner, record.id, record.value])
                }
            }
        } catch {
            throw StoreOpeningError(error, path: path)
        }
        try file.remove()
    }
}
