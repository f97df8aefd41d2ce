import ChatCore
import GRDB

extension RoomEvent {
    /// Returns `nil` if the kind is unknown, as from a later version.
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

    /// Removes all content of a redacted state event, which itself stays.
    static func erase(of message: Int64, in db: Database) throws {
        try db.execute(
            sql: "UPDATE event SET name = NULL, before = NULL, after = NULL WHERE message = ?", arguments: [message])
    }
}
