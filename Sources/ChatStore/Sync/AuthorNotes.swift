import ChatCore
import Composer
import GRDB

/// Source texts of messages that the server has accepted but the sync has not delivered.
struct AuthorNotes {
    let record: RoomRecord
    let db: Database

    func save(_ written: WrittenText, of message: MessageID) throws {
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO authorNote VALUES (?, ?, ?)").execute(arguments: [
            record.key, message.rawValue, try WrittenColumn.data(of: written, beside: ""),
        ])
    }

    func contains(_ message: MessageID) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM authorNote WHERE room = ? AND message = ?)"),
            arguments: [record.key, message.rawValue]) == true
    }

    /// Removes and returns the source text for a message, if any.
    func removeText(of message: MessageID) throws -> WrittenText? {
        let data = try String.fetchOne(
            db.cachedStatement(sql: "SELECT data FROM authorNote WHERE room = ? AND message = ?"),
            arguments: [record.key, message.rawValue])
        guard let data else { return nil }
        try db.cachedStatement(sql: "DELETE FROM authorNote WHERE room = ? AND message = ?")
            .execute(arguments: [record.key, message.rawValue])
        return WrittenColumn.written(data, beside: "")
    }
}
