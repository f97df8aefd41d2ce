import ChatCore
import GRDB

/// The columns of a room's row that the store needs for updates.
struct RoomRecord {
    let key: Int64
    let room: Room
    /// The position up to which the user has read.
    let fullyReadPosition: Int64?
    /// The token of the last draft that was sent; see ``Schema/pending``.
    let sentDraft: Int64?

    init(_ row: Row) throws {
        key = try row.value("key")
        room = Room(
            id: try row.identifier("id"), name: try row.value("name"), kind: try row.choice("kind"),
            avatar: try row.optional("avatar"))
        fullyReadPosition = try row.optional("readUpTo")
        sentDraft = try row.optional("sentDraft")
    }

    static func find(_ id: RoomID, in db: Database) throws -> RoomRecord? {
        let statement = try db.cachedStatement(sql: select + " WHERE id = ?")
        return try Row.fetchOne(statement, arguments: [id.rawValue]).map(RoomRecord.init)
    }

    static func find(_ key: Int64, in db: Database) throws -> RoomRecord? {
        let statement = try db.cachedStatement(sql: select + " WHERE key = ?")
        return try Row.fetchOne(statement, arguments: [key]).map(RoomRecord.init)
    }

    static func all(in db: Database) throws -> [RoomRecord] { try Row.fetchAll(db, sql: select).map(RoomRecord.init) }

    private static let select = """
        SELECT key, id, name, kind, readUpTo, sentDraft,
            (SELECT uri FROM avatar WHERE room = room.key AND member = '') AS avatar
        FROM room
        """

    /// Returns the record of a room.
    /// - Throws: ``ChatError/notFound``.
    static func get(_ id: RoomID, in db: Database) throws -> RoomRecord {
        guard let record = try find(id, in: db) else { throw ChatError.notFound }
        return record
    }

    /// Recomputes the room's last message after an edit or deletion, or when other users are ignored.
    func refreshLastMessage(in db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                SELECT key, coalesce(nullif(text, ''), (SELECT name FROM attachment WHERE message = key), '') AS text
                FROM message WHERE key BETWEEN ? AND ? AND isDeleted = 0 AND kind <> 7
                    AND sender NOT IN (SELECT user FROM ignoredUser)
                ORDER BY key DESC LIMIT 1
                """)
        let last = try Row.fetchOne(statement, arguments: [keys.lowerBound, keys.upperBound])
        try setLastMessage(last?.value("key"), text: last?.value("text"), in: db)
    }

    func setLastMessage(_ message: Int64?, text: String?, in db: Database) throws {
        try db.cachedStatement(sql: "UPDATE room SET lastMessage = ?, lastText = ? WHERE key = ?")
            .execute(arguments: [message, text?.preview, key])
    }

    /// Stores an avatar.
    /// - Parameters:
    ///   - uri: `nil` removes the avatar.
    ///   - member: `nil` for the room's own avatar.
    func setAvatar(_ uri: String?, of member: MemberID?, in db: Database) throws {
        let member = member?.rawValue ?? ""
        if let uri {
            try db.cachedStatement(sql: "INSERT OR REPLACE INTO avatar VALUES (?, ?, ?)")
                .execute(arguments: [key, member, uri])
        } else {
            try db.cachedStatement(sql: "DELETE FROM avatar WHERE room = ? AND member = ?")
                .execute(arguments: [key, member])
        }
    }

    /// Recomputes the unread counts; takes time proportional to the number of messages after `position`.
    func refreshUnread(after position: Int64, in db: Database) throws {
        try db.cachedStatement(
            sql: """
                UPDATE room SET unread = (SELECT count(*) FROM \(Self.unreadMessages)) WHERE key = ?
                """
        ).execute(arguments: [MessageKey(room: key, position: position).raw, keys.upperBound, key])
        try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO mentionCount SELECT ?3, (
                    SELECT count(*) FROM attention a JOIN message m ON m.key = a.message
                    WHERE a.message > ?1 AND a.message <= ?2 AND a.level = 2 AND m.isDeleted = 0
                        AND m.sender NOT IN (SELECT user FROM ignoredUser))
                """
        ).execute(arguments: [MessageKey(room: key, position: position).raw, keys.upperBound, key])
    }

    /// Unread messages in a range of keys.
    private static let unreadMessages = """
        message m JOIN user u ON u.key = m.sender
        JOIN member s ON s.room = m.room AND s.id = u.id
        LEFT JOIN attention a ON a.message = m.key
        WHERE m.key > ? AND m.key <= ? AND m.isDeleted = 0 AND m.kind <> 7
            AND s.kind <> 'own' AND coalesce(a.level, 1) <> 0
            AND m.sender NOT IN (SELECT user FROM ignoredUser)
        """

    /// Returns the position of the newest unread message after skipping `count` newer ones, or `nil` if there are not
    /// as many.
    func unreadMessage(after position: Int64, skipping count: Int, in db: Database) throws -> Int64? {
        try Int64.fetchOne(
            db, sql: "SELECT m.key FROM \(Self.unreadMessages) ORDER BY m.key DESC LIMIT 1 OFFSET ?",
            arguments: [MessageKey(room: key, position: position).raw, keys.upperBound, count]
        ).map { MessageKey(raw: $0).position }
    }

    /// Whether the room is known to be encrypted.
    func isEncrypted(in db: Database) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT 1 FROM encryptedRoom WHERE room = ?"), arguments: [key]) == true
    }

    /// Returns the unread counts of stored messages.
    func unread(in db: Database) throws -> UnreadCount {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT unread, coalesce((SELECT count FROM mentionCount WHERE room = key), 0) AS mentions
                    FROM room WHERE key = ?
                    """), arguments: [key])
        guard let row else { return UnreadCount(messages: 0, mentions: 0) }
        return UnreadCount(messages: try row.value("unread"), mentions: try row.value("mentions"))
    }

    /// Returns the counts of the stored messages that would be unread if their senders were not ignored. The position is
    /// read anew.
    func hiddenUnread(in db: Database) throws -> UnreadCount {
        // Without one in the room, nothing is to be counted, which takes time proportional to the unread messages.
        let isNeeded = try Bool.fetchOne(db.cachedStatement(sql: Self.hasIgnoredMember), arguments: [key])
        guard isNeeded == true else { return UnreadCount(messages: 0, mentions: 0) }
        let position = try RoomRecord.find(key, in: db)?.fullyReadPosition ?? .min
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT count(*) AS messages, coalesce(sum(a.level = 2), 0) AS mentions
                    FROM message m LEFT JOIN attention a ON a.message = m.key
                    WHERE m.key > ? AND m.key <= ? AND m.isDeleted = 0 AND m.kind <> 7
                        AND coalesce(a.level, 1) <> 0 AND m.sender IN (SELECT user FROM ignoredUser)
                    """), arguments: [MessageKey(room: key, position: position).raw, keys.upperBound])
        guard let row else { return UnreadCount(messages: 0, mentions: 0) }
        return UnreadCount(messages: try row.value("messages"), mentions: try row.value("mentions"))
    }

    /// Whether an ignored user is or was a member of a room. CROSS JOIN keeps SQLite from beginning with the members,
    /// of whom a room may have thousands: each room of a sync is asked.
    static let hasIgnoredMember = """
        SELECT EXISTS (
            SELECT 1 FROM ignoredUser i CROSS JOIN user u ON u.key = i.user
            CROSS JOIN member s ON s.room = ? AND s.id = u.id)
        """

    /// Changes the unread mention count by `count`.
    func addMentions(_ count: Int, in db: Database) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO mentionCount VALUES (?1, max(0, ?2))
                ON CONFLICT (room) DO UPDATE SET count = max(0, count + ?2)
                """
        ).execute(arguments: [key, count])
    }

    /// The range of the room's message keys.
    var keys: ClosedRange<Int64> { MessageKey.all(in: key) }

    /// Returns the keys of the first and the last message, or `nil` for an empty room.
    func ends(in db: Database) throws -> (first: MessageKey, last: MessageKey)? {
        func end(_ order: String) throws -> Int64? {
            try Int64.fetchOne(
                db.cachedStatement(
                    sql: "SELECT key FROM message WHERE key BETWEEN ? AND ? ORDER BY key \(order) LIMIT 1"),
                arguments: [keys.lowerBound, keys.upperBound])
        }
        guard let first = try end("ASC"), let last = try end("DESC") else { return nil }
        return (MessageKey(raw: first), MessageKey(raw: last))
    }
}

extension String {
    /// The first ``RoomSummary/LastMessage/maxCharacters``. Limited in scalars as well, since a grapheme cluster can
    /// have any number of them.
    var preview: String {
        let start = unicodeScalars.prefix(4000)
        if start.endIndex == unicodeScalars.endIndex { return String(prefix(200)) }
        let text = String(String.UnicodeScalarView(start))
        return text.count > 200 ? String(text.prefix(200)) : String(text.dropLast())
    }
}
