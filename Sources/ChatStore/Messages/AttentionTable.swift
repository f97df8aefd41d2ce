import ChatCore
import GRDB

/// The notification levels of messages, by their keys. A message without a row is simply unread.
struct AttentionTable {
    let db: Database

    func level(of message: Int64) throws -> NotificationLevel {
        let level = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT level FROM attention WHERE message = ?"), arguments: [message])
        return level.flatMap { NotificationLevel(rawValue: $0) } ?? .unread
    }

    func set(_ level: NotificationLevel, of message: Int64) throws {
        if level == .unread {
            try db.cachedStatement(sql: "DELETE FROM attention WHERE message = ?").execute(arguments: [message])
        } else {
            try db.cachedStatement(sql: "INSERT OR REPLACE INTO attention VALUES (?, ?)")
                .execute(arguments: [message, level.rawValue])
        }
    }
}
