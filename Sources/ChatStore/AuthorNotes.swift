import ChatCore
import Composer
import GRDB

/// Texts as the user wrote them, of messages of one room that a server has under a name of its own, and that the store does
/// not know yet.
struct AuthorNotes {
    let record: RoomRecord
    let db: Database

    func save(_ written: WrittenText, of message: MessageID) throws {
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO authorNote VALUES (?, ?, ?)").execute(arguments: [
            record.key, message.rawValue, try WrittenColumn.data(of: written, beside: ""),
        ])
    }

    /// - Returns: what waits for the message; it waits no longer.
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
