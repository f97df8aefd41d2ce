import ChatCore
import GRDB

extension RoomEvent {
    /// nil if it is of a kind that a later version knows.
    init?(_ row: Row) throws {
        guard let kind = Kind(rawValue: try row.value("kind")) else { return nil }
        self.init(
            kind, subject: try row.optionalIdentifier("subject"), name: try row.optional("name"),
            before: try row.optional("before"), after: try row.optional("after"))
    }

    func insert(for message: Int64, in db: Database) throws {
        try db.cachedStatement(sql: "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?)")
            .execute(arguments: [message, kind.rawValue, subject?.rawValue, name, before, after])
    }

    /// Takes away all that was written in it: what happened stays.
    static func erase(of message: Int64, in db: Database) throws {
        try db.execute(
            sql: "UPDATE event SET name = NULL, before = NULL, after = NULL WHERE message = ?", arguments: [message])
    }
}
