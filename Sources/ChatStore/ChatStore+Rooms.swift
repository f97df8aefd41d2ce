public import ChatCore
import Composer
import GRDB

extension ChatStore {
    /// The room setting that holds the canonical alias.
    public static let addressSetting = "matrix.alias"

    /// Returns all rooms, most recently active first. The cost does not depend on the length of their histories.
    public func roomSummaries() async throws -> [RoomSummary] {
        // Read drafts before rooms: if one is sent in between, its token matches `sentDraft` and it is left out.
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
            // Rows of a cursor use cached column indexes; copied rows search columns by name.
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

    /// Whether messages are missing after the read position of the room `r`. A gap that ends right after the read
    /// position lies before it.
    static let isMissingUnread = """
        EXISTS (SELECT 1 FROM gap WHERE room = r.key AND position > coalesce(r.readUpTo + 1, -(1 << 40)))
        """

    /// Returns a room with at most `limit` of its newest messages, or `nil` if there is no such room.
    public func snapshot(of room: RoomID, limit: Int) async throws -> RoomSnapshot? {
        try await read { db in
            guard let record = try RoomRecord.find(room, in: db) else { return nil }
            let page = try MessageQuery(room: record).page(before: nil, limit: limit, in: db)
            // The marker may be at a silent event: use the last message up to it.
            let fullyReadMarker = try record.fullyReadPosition.flatMap { position in
                try EventPositions(record: record, db: db).lastMessage(before: position + 1)?.id
            }
            return RoomSnapshot(
                room: record.room, page: page, members: try Self.members(of: record, in: db),
                fullyReadMarker: fullyReadMarker)
        }
    }

    /// Returns a room.
    /// - Throws: ``ChatError/notFound``.
    public func room(_ id: RoomID) async throws -> Room {
        try await read { db in try RoomRecord.get(id, in: db).room }
    }

    /// Returns a current or former member of the room, or `nil` if the user never was one.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func member(_ id: MemberID, of room: RoomID) async throws -> Member? {
        try await read { db in
            try Row.fetchOne(
                db.cachedStatement(sql: Self.memberColumns + " WHERE m.room = ? AND m.id = ?"),
                arguments: [RoomRecord.get(room, in: db).key, id.rawValue]
            ).map(Self.member)
        }
    }

    /// Whether the room is stored. Throws on read errors instead of returning `false`.
    public func hasRoom(_ room: RoomID) async throws -> Bool {
        try await read { db in try RoomRecord.find(room, in: db) != nil }
    }

    /// Returns all members in the order they joined, including those who left.
    /// - Throws: ``ChatError/notFound``.
    public func members(of room: RoomID) async throws -> [Member] {
        try await read { db in try Self.members(of: RoomRecord.get(room, in: db), in: db) }
    }

    /// Returns the rooms that the user is a current member of.
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

    /// Creates a room.
    public func createRoom(_ new: NewRoom) async throws {
        try await write { db in try Self.insert(new, in: db) }
    }

    /// Creates rooms once in the lifetime of the store, even if they are left later.
    /// - Parameter occasion: The name of the setting that records the creation.
    /// - Returns: Whether they were created by this call.
    public func createRooms(_ new: [NewRoom], once occasion: String) async throws -> Bool {
        try await write { db in
            try db.execute(
                sql: "INSERT INTO setting (name, value) VALUES (?, 'done') ON CONFLICT DO NOTHING",
                arguments: [occasion])
            guard db.changesCount > 0 else { return false }
            for room in new {
                // A repair may have lost the setting but recovered the room.
                let isThere = try Bool.fetchOne(
                    db, sql: "SELECT EXISTS (SELECT 1 FROM room WHERE kind = ?)", arguments: [room.room.kind.rawValue])
                if room.room.kind == .group || isThere != true { try Self.insert(room, in: db) }
            }
            return true
        }
    }

    /// Renames a room.
    /// - Throws: ``ChatError/notFound``.
    public func renameRoom(_ room: RoomID, to name: String) async throws {
        try await write { db in
            let record = try RoomRecord.get(room, in: db)
            try db.execute(sql: "UPDATE room SET name = ? WHERE key = ?", arguments: [name, record.key])
        }
    }

    /// Deletes a room with its history and unsent content.
    /// - Throws: ``ChatError/notFound``.
    public func removeRoom(_ room: RoomID) async throws {
        _ = try await read { db in try RoomRecord.get(room, in: db) }
        // Delete unsent data first: after a crash in between, it must not outlive its room.
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

    /// Adds a member to the room, or adds a former one again.
    /// - Throws: ``ChatError/notFound``.
    public func addMember(_ member: Member, to room: RoomID) async throws {
        try await write { db in try Self.insert(member, into: RoomRecord.get(room, in: db), in: db) }
    }

    /// Removes a member from the room; the member's messages stay. A guide room without its guide becomes a group.
    /// - Returns: The members after the change.
    /// - Throws: ``ChatError/notFound`` if there is no such room or current member.
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

    /// Renames a member in all rooms.
    /// - Returns: The rooms in which the name changed.
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
