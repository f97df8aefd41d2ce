import ChatCore
import Foundation
import GRDB

/// Inserts messages into one room, and updates the room's summary once at the end.
struct MessageWriter {
    private struct Sender {
        let key: Int64
        let isOwn: Bool
        let isIgnored: Bool
    }

    private let record: RoomRecord
    private let db: Database
    private let allowsFormerMembers: Bool
    private var ends: (first: Int64, last: Int64)
    /// Whether the room has no last message yet.
    private let hasNoLast: Bool
    /// The first and the last `arrival` in use, the row IDs of the search indexes: at most 0 for history, above it for
    /// what arrived by itself.
    private var arrivals: (first: Int64, last: Int64)
    private var senders: [MemberID: Sender] = [:]
    private var newest: (key: Int64, text: String)?
    private var lastActivity = Int64.min
    /// The room's latest possible activity, in milliseconds: a sender's clock may be wrong.
    private let latestActivity: Int64
    private var unread = 0
    private var mentions = 0

    /// Prepares writing to a room.
    /// - Parameters:
    ///   - allowingFormerMembers: Whether senders may have left the room.
    ///   - position: The position that messages are prepended before; `nil` for the beginning of the room.
    ///   - now: When other users' messages arrived; no activity is later. `nil` if their dates can be trusted.
    init(
        to record: RoomRecord, allowingFormerMembers: Bool = false, before position: Int64? = nil,
        arrivedAt now: Date? = nil, in db: Database
    ) throws {
        self.record = record
        latestActivity = now?.milliseconds ?? .max
        self.db = db
        allowsFormerMembers = allowingFormerMembers
        let found = try record.ends(in: db)
        hasNoLast =
            try Bool.fetchOne(
                db.cachedStatement(sql: "SELECT lastMessage IS NULL FROM room WHERE key = ?"), arguments: [record.key])
            ?? true
        ends = (position ?? found?.first.position ?? 1, found?.last.position ?? 0)
        func arrival(_ order: String) throws -> Int64? {
            try Int64.fetchOne(
                db.cachedStatement(sql: "SELECT arrival FROM message ORDER BY arrival \(order) LIMIT 1"))
        }
        // ``EncryptionStart`` relies on the sign, also where all messages from before or after are gone.
        arrivals = (min(1, try arrival("ASC") ?? 1), max(0, try arrival("DESC") ?? 0))
    }

    /// Moves the append position forward to at least `position`.
    mutating func leap(to position: Int64) { ends.last = max(ends.last, position - 1) }

    /// The position before the next appended message.
    var end: Int64 { ends.last }

    /// Appends a message after all others.
    /// - Throws: ``ChatError/notPermitted`` if the sender is not a member.
    mutating func append(_ new: NewMessage) throws -> Message {
        let new = new.storable
        let sender = try sender(new.sender)
        ends.last += 1
        arrivals.last += 1
        let message = try insert(new, by: sender, position: ends.last, arrival: arrivals.last)
        // State events do not count as activity and are never unread, and neither are hidden messages.
        guard new.event == nil, !sender.isIgnored else { return message }
        newest = (MessageKey(room: record.key, position: ends.last).raw, new.summary)
        lastActivity = max(lastActivity, activity(of: new))
        if !sender.isOwn, new.notificationLevel != .none { unread += 1 }
        if !sender.isOwn, new.notificationLevel == .mention { mentions += 1 }
        return message
    }

    /// Prepends a message, without changing the unread count.
    /// - Parameter isSynced: Whether it arrived by itself, although it belongs there.
    /// - Throws: ``ChatError/notPermitted`` if the sender is not a member.
    mutating func prepend(_ new: NewMessage, isSynced: Bool = false) throws -> Message {
        let new = new.storable
        let sender = try sender(new.sender)
        ends.first -= 1
        if isSynced { arrivals.last += 1 } else { arrivals.first -= 1 }
        if hasNoLast, newest == nil, new.event == nil, !sender.isIgnored {
            newest = (MessageKey(room: record.key, position: ends.first).raw, new.summary)
            lastActivity = activity(of: new)
        }
        let arrival = isSynced ? arrivals.last : arrivals.first
        return try insert(new, by: sender, position: ends.first, arrival: arrival)
    }

    func finish() throws {
        guard let newest else { return }
        try db.cachedStatement(
            sql: """
                UPDATE room SET lastMessage = ?, lastText = ?, lastActivity = max(min(lastActivity, ?), ?),
                    unread = unread + ? WHERE key = ?
                """
        ).execute(arguments: [
            newest.key, newest.text.preview, latestActivity, lastActivity, unread, record.key,
        ])
        if mentions > 0 { try record.addMentions(mentions, in: db) }
    }

    private func activity(of new: NewMessage) -> Int64 { min(new.sentAt.milliseconds, latestActivity) }

    private func insert(_ new: NewMessage, by sender: Sender, position: Int64, arrival: Int64) throws -> Message {
        guard MessageKey.positions.contains(position) else { throw ChatError.storage(reason: "the room is full") }
        let key = MessageKey(room: record.key, position: position).raw
        var content = new.content
        if sender.isOwn, content.seal == nil, let noted = try AuthorNotes(record: record, db: db).removeText(of: new.id)
        {
            content.written = noted
        }
        if content.written != nil { content.mentionsEveryone = false }
        let transaction = try unused(new.transactionID, for: new.id)
        try db.cachedStatement(
            sql: """
                INSERT INTO message
                    (key, room, arrival, id, sender, sentAt, kind, delivery, transactionID, replyTo, formatted, text)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            key, record.key, arrival, new.id.rawValue, sender.key, new.sentAt.milliseconds, content.kind.code,
            new.delivery.code, transaction?.rawValue, new.replyTo?.rawValue, content.formattedText,
            content.text,
        ])
        if content.written != nil || content.mentionsEveryone {
            try EditHistory(key: key, db: db).setWritten(content.wording)
        }
        try content.event?.insert(for: key, in: db)
        try insertEncryption(of: new, key)
        if new.notificationLevel != .unread, content.event == nil, !sender.isOwn {
            try AttentionTable(db: db).set(new.notificationLevel, of: key)
        }
        try Self.insert(content.attachments, of: key, in: db)
        var message = Message(
            id: new.id, roomID: record.room.id, sender: new.sender, content: content,
            sentAt: Date(milliseconds: new.sentAt.milliseconds), position: position,
            transactionID: transaction, replyTo: new.replyTo, delivery: new.delivery)
        message.trust = new.trust
        return message
    }

    /// Returns `nil` in place of the transaction of another message: a server may repeat one, and that must not block
    /// the history.
    private func unused(_ transaction: TransactionID?, for id: MessageID) throws -> TransactionID? {
        guard let transaction else { return nil }
        return try MessageQuery(room: record).contains(id, or: transaction, in: db) ? nil : transaction
    }

    private func insertEncryption(of new: NewMessage, _ key: Int64) throws {
        if new.isEncrypted {
            try db.cachedStatement(sql: "INSERT INTO encryptedMessage VALUES (?)").execute(arguments: [key])
        }
        try Self.setTrust(new.trust, of: key, in: db)
        if let ciphertext = new.ciphertext { try SealedTable(record: record, db: db).put(ciphertext) }
    }

    static func setTrust(_ trust: MessageTrust?, of key: Int64, in db: Database) throws {
        guard let trust else { return }
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO messageTrust VALUES (?, ?)")
            .execute(arguments: [key, trust.rawValue])
    }

    static func insert(_ attachments: [MediaReference], of key: Int64, in db: Database) throws {
        for (index, file) in attachments.enumerated() {
            try db.cachedStatement(sql: "INSERT INTO attachment VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
                .execute(arguments: [
                    key, index, file.uri, file.name, file.type, file.bytes, file.width, file.height, file.duration,
                    file.thumbnailURI, file.altText, file.blurHash, file.storedWaveform,
                ])
        }
    }

    private mutating func sender(_ id: MemberID) throws -> Sender {
        if let existing = senders[id] { return existing }
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT kind, hasLeft FROM member WHERE room = ? AND id = ?"),
            arguments: [record.key, id.rawValue])
        guard let row, try allowsFormerMembers || !row.flag("hasLeft") else { throw ChatError.notPermitted }
        let kind: Member.Kind = try row.choice("kind")
        let sender = Sender(
            key: try UserRow.key(of: id, in: db), isOwn: kind == .own,
            isIgnored: try IgnoredUserTable(db: db).contains(id))
        senders[id] = sender
        return sender
    }
}

/// The table of all users who have ever sent a message, in any room.
enum UserRow {
    static func key(of member: MemberID, in db: Database) throws -> Int64 {
        if let key = try find(member, in: db) { return key }
        try db.cachedStatement(sql: "INSERT INTO user (id) VALUES (?)").execute(arguments: [member.rawValue])
        return db.lastInsertedRowID
    }

    static func find(_ member: MemberID, in db: Database) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT key FROM user WHERE id = ?"), arguments: [member.rawValue])
    }
}
