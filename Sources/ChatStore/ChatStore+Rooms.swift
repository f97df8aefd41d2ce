public import ChatCore
import Composer
import GRDB

extension ChatStore {
    /// The setting of a room under which its address is kept.
    public static let addressSetting = "matrix.alias"

    /// All rooms, most recently active first. The cost does not depend on the length of their histories.
    public func roomSummaries() async throws -> [RoomSummary] {
        // Before the rooms: a draft sent in between has its token among them.
        let drafts = try await readPending(DraftRow.previews)
        return try await read { db in
            let statement = try db.cachedStatement(
                sql: """
                    SELECT r.id, r.name, r.kind, r.lastActivity, r.unread, r.lastText, c.count AS mentions, r.sentDraft,
                        m.sentAt, s.name AS senderName, s.kind AS senderKind, p.uri AS avatar,
                        m.formatted IS NOT NULL OR m.transactionID IS NOT NULL OR
                            coalesce(\(WrittenColumn.isWrittenHere), 0) AS hasForm,
                        coalesce(\(WrittenColumn.isPlain), 0) AS isPlain,
                        nullif(a.value, '') AS address, x.unread AS unseen, x.mentions AS unseenMentions,
                        \(Self.isMissingUnread) AS isMissing
                    FROM room r
                    LEFT JOIN unseen x ON x.room = r.key
                    LEFT JOIN avatar p ON p.room = r.key AND p.member = ''
                    LEFT JOIN roomSetting a ON a.room = r.key AND a.name = '\(Self.addressSetting)'
                    LEFT JOIN mentionCount c ON c.room = r.key
                    LEFT JOIN message m ON m.key = r.lastMessage
                    LEFT JOIN written w ON w.message = m.key
                    LEFT JOIN user u ON u.key = m.sender
                    LEFT JOIN member s ON s.room = r.key AND s.id = u.id
                    WHERE NOT EXISTS (SELECT 1 FROM roomSetting WHERE room = r.key AND name = 'staged')
                    ORDER BY r.lastActivity DESC, r.key DESC
                    """)
            // Rows of a cursor know where their columns are; copies of them look for each by its name.
            let summaries = try Row.fetchCursor(statement).map { row in
                var summary = try RoomSummary(row: row)
                let sent: Int64? = try row.optional("sentDraft")
                if let draft = drafts[summary.id], draft.token != sent, !draft.preview.isEmpty {
                    summary.draftPreview = draft.preview
                }
                return summary
            }
            return try Array(summaries)
        }
    }

    /// Whether anything is missing behind the user's mark, in the room `r`. Right behind a mark a gap has nothing.
    static let isMissingUnread = """
        EXISTS (SELECT 1 FROM gap WHERE room = r.key AND position > coalesce(r.readUpTo + 1, -(1 << 40)))
        """

    /// A room with its newest messages, at most `limit`; nil if there is no such room.
    public func snapshot(of room: RoomID, limit: Int) async throws -> RoomSnapshot? {
        try await read { db in
            guard let record = try RoomRecord.find(room, in: db) else { return nil }
            let page = try MessageQuery(room: record).page(before: nil, limit: limit, in: db)
            // What was marked may have been no message.
            let fullyReadMarker = try record.fullyReadPosition.flatMap { position in
                try EventPositions(record: record, db: db).lastMessage(before: position + 1)?.id
            }
            return RoomSnapshot(
                room: record.room, page: page, members: try Self.members(of: record, in: db),
                fullyReadMarker: fullyReadMarker)
        }
    }

    /// - Throws: ``ChatError/notFound``.
    public func room(_ id: RoomID) async throws -> Room {
        try await read { db in try RoomRecord.get(id, in: db).room }
    }

    /// nil if nobody of that identifier is, or was, in the room.
    /// - Throws: ``ChatError/notFound`` without the room.
    public func member(_ id: MemberID, of room: RoomID) async throws -> Member? {
        try await read { db in
            try Row.fetchOne(
                db.cachedStatement(sql: Self.memberColumns + " WHERE m.room = ? AND m.id = ?"),
                arguments: [RoomRecord.get(room, in: db).key, id.rawValue]
            ).map(Self.member)
        }
    }

    /// Whether the room is kept. What can't be read is thrown, never answered as false.
    public func hasRoom(_ room: RoomID) async throws -> Bool {
        try await read { db in try RoomRecord.find(room, in: db) != nil }
    }

    /// Those who are in the room, in the order they came, and those who left it.
    /// - Throws: ``ChatError/notFound``.
    public func members(of room: RoomID) async throws -> [Member] {
        try await read { db in try Self.members(of: RoomRecord.get(room, in: db), in: db) }
    }

    /// The rooms in which the member is.
    public func rooms(with member: MemberID) async throws -> [RoomID] {
        try await read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT r.id FROM member s JOIN room r ON r.key = s.room
                    WHERE s.id = ? AND s.hasLeft = 0 ORDER BY r.key
                    """, arguments: [member.rawValue]
            ).map { RoomID($0) }
        }
    }

    /// Makes a room.
    public func createRoom(_ new: NewRoom) async throws {
        try await write { db in try Self.insert(new, in: db) }
    }

    /// Makes rooms that are made only once in the life of the store, even if they were left since.
    /// - Parameter occasion: the name under which the store remembers it.
    /// - Returns: whether they were made now.
    public func createRooms(_ new: [NewRoom], once occasion: String) async throws -> Bool {
        try await write { db in
            try db.execute(
                sql: "INSERT INTO setting (name, value) VALUES (?, 'done') ON CONFLICT DO NOTHING",
                arguments: [occasion])
            guard db.changesCount > 0 else { return false }
            for room in new {
                // A store that was repaired may have lost the note, and have kept the room.
                let isThere = try Bool.fetchOne(
                    db, sql: "SELECT EXISTS (SELECT 1 FROM room WHERE kind = ?)", arguments: [room.room.kind.rawValue])
                if room.room.kind == .group || isThere != true { try Self.insert(room, in: db) }
            }
            return true
        }
    }

    /// - Throws: ``ChatError/notFound``.
    public func renameRoom(_ room: RoomID, to name: String) async throws {
        try await write { db in
            let record = try RoomRecord.get(room, in: db)
            try db.execute(sql: "UPDATE room SET name = ? WHERE key = ?", arguments: [name, record.key])
        }
    }

    /// Deletes the room and everything that was in it.
    /// - Throws: ``ChatError/notFound``.
    public func removeRoom(_ room: RoomID) async throws {
        _ = try await read { db in try RoomRecord.get(room, in: db) }
        // Before the room: it must not be left to itself.
        try await writePending { db in
            for table in ["draft", "outbox"] {
                try db.execute(sql: "DELETE FROM \(table) WHERE room = ?", arguments: [room.rawValue])
            }
        }
        try await write { db in
            let record = try RoomRecord.get(room, in: db)
            try db.execute(sql: "DELETE FROM room WHERE key = ?", arguments: [record.key])
        }
    }

    /// Puts a member into the room, or back into it.
    /// - Throws: ``ChatError/notFound``.
    public func addMember(_ member: Member, to room: RoomID) async throws {
        try await write { db in try Self.insert(member, into: RoomRecord.get(room, in: db), in: db) }
    }

    /// Takes a member out of the room. What the member said stays. A room without its guide is an ordinary one.
    /// - Returns: the members after that.
    /// - Throws: ``ChatError/notFound`` if there is no such room or member.
    public func removeMember(_ member: MemberID, from room: RoomID) async throws -> [Member] {
        try await write { db in
            let record = try RoomRecord.get(room, in: db)
            try db.execute(
                sql: "UPDATE member SET hasLeft = 1 WHERE room = ? AND id = ? AND hasLeft = 0",
                arguments: [record.key, member.rawValue])
            guard db.changesCount > 0 else { throw ChatError.notFound }
            let members = try Self.members(of: record, in: db)
            if record.room.kind == .guide, !members.contains(where: { $0.kind == .guide && !$0.hasLeft }) {
                try db.execute(
                    sql: "UPDATE room SET kind = ? WHERE key = ?", arguments: [Room.Kind.group.rawValue, record.key])
            }
            return members
        }
    }

    /// Gives a member another name, in each room.
    /// - Returns: the rooms in which it was another.
    public func renameMember(_ member: MemberID, to name: String) async throws -> [RoomID] {
        try await write { db in
            let rooms = try String.fetchAll(
                db, sql: "SELECT r.id FROM member s JOIN room r ON r.key = s.room WHERE s.id = ? AND s.name <> ?",
                arguments: [member.rawValue, name])
            guard !rooms.isEmpty else { return [] }
            try db.execute(sql: "UPDATE member SET name = ? WHERE id = ?", arguments: [name, member.rawValue])
            return rooms.map { RoomID($0) }
        }
    }

    static func members(of record: RoomRecord, in db: Database) throws -> [Member] {
        let statement = try db.cachedStatement(
            sql: memberColumns + " WHERE m.room = ? ORDER BY m.key")
        return try Array(Row.fetchCursor(statement, arguments: [record.key]).map(member))
    }

    static let memberColumns = """
        SELECT m.id, m.name, m.kind, m.hasLeft, p.uri AS avatar FROM member m
        LEFT JOIN avatar p ON p.room = m.room AND p.member = m.id
        """

    static func member(_ row: Row) throws -> Member {
        Member(
            id: try row.identifier("id"), displayName: try row.value("name"), kind: try row.choice("kind"),
            hasLeft: try row.flag("hasLeft"), avatar: try row.optional("avatar"))
    }

    private static func insert(_ new: NewRoom, in db: Database) throws {
        try db.execute(
            sql: "INSERT INTO room (id, kind, name, lastActivity) VALUES (?, ?, ?, ?)",
            arguments: [
                new.room.id.rawValue, new.room.kind.rawValue, new.room.name, new.createdAt.milliseconds,
            ])
        let record = try RoomRecord.get(new.room.id, in: db)
        for member in new.members { try insert(member, into: record, in: db) }
        var writer = try MessageWriter(to: record, in: db)
        for message in new.messages { _ = try writer.append(message) }
        try writer.finish()
        for (name, value) in new.settings { try RoomSetting(name).set(value, of: record, in: db) }
    }

    static func insert(_ member: Member, into record: RoomRecord, in db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO member (room, id, kind, name, hasLeft) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (room, id) DO UPDATE
                SET kind = excluded.kind, name = excluded.name, hasLeft = excluded.hasLeft
                """,
            arguments: [record.key, member.id.rawValue, member.kind.rawValue, member.displayName, member.hasLeft])
        try record.setAvatar(member.avatar, of: member.id, in: db)
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
            lastMessage = LastMessage(
                senderName: try row.value("senderName"), isOwn: kind == .own, text: text,
                syntax: try row.flag("isPlain") ? .plain : row.flag("hasForm") ? .markdown : nil,
                sentAt: try row.date("sentAt"))
        }
        var unread = UnreadCount(messages: try row.value("unread"), mentions: try row.optional("mentions") ?? 0)
        let isMissing = try row.flag("isMissing")
        let unseen: Int? = try row.optional("unseen")
        if isMissing, let unseen {
            unread.messages = max(0, unread.messages + unseen)
            unread.mentions = max(0, unread.mentions + (try row.optional("unseenMentions") ?? 0))
        }
        self.init(
            room: room, lastMessage: lastMessage, lastActivity: try row.date("lastActivity"),
            unreadCount: unread.messages, draftPreview: nil, mentionCount: unread.mentions,
            mayHaveMoreUnread: isMissing && unseen == nil)
    }
}
