import ChatCore
import Composer
import GRDB

/// The rooms as a list; see ``RoomRecord`` for a single one.
struct RoomTable {
    let db: Database

    /// Returns the rooms that are not staged, without their drafts; all of them most recently active first.
    ///
    /// - Returns: The summaries, and the token of the draft that each room sent last.
    func summaries(of rooms: RoomScope) throws -> [(summary: RoomSummary, sentDraft: Int64?)] {
        // Rows of a cursor use cached column indexes; copied rows search columns by name.
        func fetch(_ end: String, _ arguments: StatementArguments = []) throws -> [(RoomSummary, Int64?)] {
            let statement = try db.cachedStatement(sql: Self.summaries + end)
            return try Array(
                Row.fetchCursor(statement, arguments: arguments).map { row in
                    (try RoomSummary(row: row), try row.optional("sentDraft") as Int64?)
                })
        }
        switch rooms {
        case .all: return try fetch(" ORDER BY r.lastActivity DESC, r.key DESC")
        case .only(let ids): return try ids.flatMap { try fetch(" AND r.id = ?", [$0.rawValue]) }
        }
    }

    private static let summaries = """
        SELECT r.id, r.name, r.kind, r.lastActivity, r.unread, r.lastText, c.count AS mentions, r.sentDraft,
            m.sentAt, s.name AS senderName, s.kind AS senderKind, p.uri AS avatar,
            coalesce(m.kind = 8, 0) AS isSealed, t.trust AS trust,
            m.formatted IS NOT NULL OR m.transactionID IS NOT NULL OR
                coalesce(\(WrittenColumn.isWrittenHere), 0) AS hasForm,
            coalesce(\(WrittenColumn.isPlain), 0) AS isPlain,
            a.alias AS address, x.unread AS unseen, x.mentions AS unseenMentions,
            \(Self.isMissingUnread) AS isMissing, coalesce(k.value, 0) AS isMarkedUnread
        FROM room r
        LEFT JOIN unseen x ON x.room = r.key
        LEFT JOIN avatar p ON p.room = r.key AND p.member = ''
        LEFT JOIN roomState a ON a.room = r.key
        LEFT JOIN mentionCount c ON c.room = r.key
        LEFT JOIN markedUnread k ON k.room = r.key
        LEFT JOIN message m ON m.key = r.lastMessage
        LEFT JOIN written w ON w.message = m.key
        LEFT JOIN messageTrust t ON t.message = m.key
        LEFT JOIN user u ON u.key = m.sender
        LEFT JOIN member s ON s.room = r.key AND s.id = u.id
        WHERE \(StagedRooms.isShown)
        """

    /// Whether messages are missing after the read position of the room `r`. A gap that ends right after the read
    /// position lies before it.
    static let isMissingUnread = """
        EXISTS (SELECT 1 FROM gap WHERE room = r.key AND position > coalesce(r.readUpTo + 1, -(1 << 40)))
        """

    func insert(_ new: NewRoom) throws {
        try db.execute(
            sql: "INSERT INTO room (id, kind, name, lastActivity) VALUES (?, ?, ?, ?)",
            arguments: [
                new.room.id.rawValue, new.room.kind.rawValue, new.room.name, new.createdAt.milliseconds,
            ])
        let record = try RoomRecord.get(new.room.id, in: db)
        for member in new.members { try MemberTable(db: db).put(member, into: record) }
        var writer = try MessageWriter(to: record, in: db)
        for message in new.messages { _ = try writer.append(message) }
        try writer.finish()
        for (name, value) in new.settings { try RoomSetting(name).set(value, of: record, in: db) }
    }

    func hasRoom(of kind: Room.Kind) throws -> Bool {
        try Bool.fetchOne(
            db, sql: "SELECT EXISTS (SELECT 1 FROM room WHERE kind = ?)", arguments: [kind.rawValue]) == true
    }

    func rename(_ room: RoomRecord, to name: String) throws {
        try db.execute(sql: "UPDATE room SET name = ? WHERE key = ?", arguments: [name, room.key])
    }

    func setKind(_ kind: Room.Kind, of room: RoomRecord) throws {
        try db.execute(sql: "UPDATE room SET kind = ? WHERE key = ?", arguments: [kind.rawValue, room.key])
    }

    /// Records which draft the newest message was sent from, so that it is not shown again; see ``Schema/pending``.
    func setSentDraft(_ token: Int64, of room: RoomRecord) throws {
        try db.execute(sql: "UPDATE room SET sentDraft = ? WHERE key = ?", arguments: [token, room.key])
    }

    /// The tokens of all drafts that were sent.
    var sentDrafts: Set<Int64> {
        get throws { try Int64.fetchSet(db, sql: "SELECT sentDraft FROM room WHERE sentDraft IS NOT NULL") }
    }

    /// Removes a room with its history.
    func remove(_ room: RoomRecord) throws {
        try db.execute(sql: "DELETE FROM room WHERE key = ?", arguments: [room.key])
    }

    /// Makes a room that is to be removed a staged one, under another identifier and without members: neither those who
    /// know it nor those who look for the rooms of a member find it.
    func stage(_ room: RoomRecord, as id: RoomID) throws {
        try db.execute(
            sql: "UPDATE room SET id = ?, kind = 'group' WHERE key = ?", arguments: [id.rawValue, room.key])
        try db.execute(sql: "DELETE FROM member WHERE room = ?", arguments: [room.key])
        try RoomSetting(StagedRooms.setting).set("1", of: room, in: db)
    }

    /// Recreates a room that the history has lost, with the user as its member.
    func recreate(_ room: RoomID, at date: Int64) throws {
        try db.execute(
            sql: """
                INSERT INTO room (id, kind, name, lastActivity) VALUES (?1, 'group', 'Recovered', ?2);
                INSERT INTO member (room, id, kind, name)
                SELECT last_insert_rowid(), id, kind, name FROM member WHERE kind = 'own' LIMIT 1;
                """, arguments: [room.rawValue, date])
    }
}

extension RoomSummary {
    fileprivate init(row: Row) throws {
        let room = Room(
            id: try row.identifier("id"), name: try row.value("name"), kind: try row.choice("kind"),
            avatar: try row.optional("avatar"), address: try row.optional("address"))
        var lastMessage: LastMessage?
        if let text = try row.optional("lastText") as String? {
            let kind: Member.Kind = try row.choice("senderKind")
            var trust: MessageTrust?
            if try (row.optional("trust") as String?) != nil { trust = try row.choice("trust") }
            lastMessage = LastMessage(
                senderName: try row.value("senderName"), isOwn: kind == .own, text: text,
                syntax: try row.flag("isPlain") ? .plain : row.flag("hasForm") ? .markdown : nil,
                sentAt: try row.date("sentAt"), isSealed: try row.flag("isSealed"), trust: trust)
        }
        var unread = UnreadCount(messages: try row.value("unread"), mentions: try row.optional("mentions") ?? 0)
        let isMissing = try row.flag("isMissing")
        let unseen: Int? = try row.optional("unseen")
        if isMissing, let unseen {
            let mentions: Int = try row.optional("unseenMentions") ?? 0
            unread.mentions = max(0, unread.mentions + UnreadCount.clamped(mentions))
            // A server that counts no encrypted messages does not count the mentions among them.
            unread.messages = max(unread.mentions, unread.messages + UnreadCount.clamped(unseen))
        }
        self.init(
            room: room, lastMessage: lastMessage, lastActivity: try row.date("lastActivity"),
            unreadCount: unread.messages, draftPreview: nil, mentionCount: unread.mentions,
            mayHaveMoreUnread: isMissing && unseen == nil, isMarkedUnread: try row.flag("isMarkedUnread"))
    }
}

extension UnreadCount {
    /// A stored difference between two counts, which a damaged row must not make so large that a sum overflows.
    static func clamped(_ difference: Int) -> Int { min(max(difference, -1_000_000_000), 1_000_000_000) }
}
