import ChatCore
import Foundation
import GRDB

/// Reads the messages of one room by key. Pages have no hidden messages (``IgnoredUserTable``).
struct MessageQuery {
    let room: RoomRecord

    /// Returns the newest messages before `position`, or of the whole room; at most `limit`, up to 10,000.
    func page(before position: Int64?, limit: Int, in db: Database) throws -> TimelinePage {
        // Fetch one more to find out whether there are older ones.
        let found = try messages(before: position ?? .max, limit: Self.bounded(limit) + 1, in: db)
        return TimelinePage(
            messages: found.suffix(Self.bounded(limit)), hasOlder: found.count > Self.bounded(limit),
            hasNewer: try position.map { try !messages(from: $0, limit: 1, in: db).isEmpty } ?? false)
    }

    /// Returns the oldest messages after `position`; at most `limit`, up to 10,000.
    func page(after position: Int64, limit: Int, in db: Database) throws -> TimelinePage {
        let first = position == .max ? position : position + 1
        let found = try messages(from: first, limit: Self.bounded(limit) + 1, in: db)
        return TimelinePage(
            messages: Array(found.prefix(Self.bounded(limit))),
            hasOlder: try !messages(before: first, limit: 1, in: db).isEmpty,
            hasNewer: found.count > Self.bounded(limit))
    }

    /// Returns a page centered on `position`.
    func page(around position: Int64, limit: Int, in db: Database) throws -> TimelinePage {
        let limit = Self.bounded(limit)
        let newer = try messages(from: position, limit: limit + 1, in: db)
        let older = try messages(before: position, limit: limit + 1, in: db)
        // If one side is short, the other one gets more.
        let after = min(newer.count, max(limit - limit / 2, limit - older.count))
        let before = min(older.count, limit - after)
        return TimelinePage(
            messages: older.suffix(before) + newer.prefix(after), hasOlder: older.count > before,
            hasNewer: newer.count > after)
    }

    /// Returns the position of the first message sent at `date` or later, or of the newest one. Uses binary search,
    /// since timestamps have no index: where they are out of order, the result is approximate.
    func position(at date: Date, in db: Database) throws -> Int64 {
        guard let ends = try room.ends(in: db) else { return 0 }
        let statement = try db.cachedStatement(
            sql: "SELECT key, sentAt FROM message WHERE key BETWEEN ? AND ? ORDER BY key LIMIT 1")
        var low = ends.first.position
        var high = ends.last.position
        while low < high {
            let middle = low + (high - low) / 2
            guard let row = try Row.fetchOne(statement, arguments: [key(at: middle), room.keys.upperBound]) else {
                return high
            }
            if try row.date("sentAt") < date {
                low = MessageKey(raw: try row.value("key")).position + 1
            } else {
                high = middle
            }
        }
        return min(low, high)
    }

    private static func bounded(_ limit: Int) -> Int { min(max(limit, 0), 10_000) }

    private func messages(before position: Int64, limit: Int, in db: Database) throws -> [Message] {
        let statement = try db.cachedStatement(
            sql: Self.select + " WHERE m.key >= ? AND m.key < ? AND \(IgnoredUserTable.isShown)"
                + " ORDER BY m.key DESC LIMIT ?")
        let rows = try Row.fetchCursor(statement, arguments: [room.keys.lowerBound, key(at: position), limit])
        return try complete(Array(rows.map(message)).reversed(), in: db)
    }

    private func messages(from position: Int64, limit: Int, in db: Database) throws -> [Message] {
        let statement = try db.cachedStatement(
            sql: Self.select + " WHERE m.key BETWEEN ? AND ? AND \(IgnoredUserTable.isShown) ORDER BY m.key LIMIT ?")
        let rows = try Row.fetchCursor(statement, arguments: [key(at: position), room.keys.upperBound, limit])
        return try complete(Array(rows.map(message)), in: db)
    }

    private func key(at position: Int64) -> Int64 { MessageKey(room: room.key, position: position).raw }

    /// Returns a message.
    /// - Throws: ``ChatError/notFound``.
    func get(_ id: MessageID, in db: Database) throws -> Message {
        guard let found = try find(id, in: db) else { throw ChatError.notFound }
        return found
    }

    /// Returns a message, even if it is hidden.
    func find(_ id: MessageID, in db: Database) throws -> Message? {
        try one(" WHERE m.room = ? AND m.id = ?", id.rawValue, in: db)
    }

    /// Returns a message unless it is hidden.
    func findShown(_ id: MessageID, in db: Database) throws -> Message? {
        try one(" WHERE m.room = ? AND m.id = ? AND \(IgnoredUserTable.isShown)", id.rawValue, in: db)
    }

    func find(_ transaction: TransactionID, in db: Database) throws -> Message? {
        try one(" WHERE m.room = ? AND m.transactionID = ?", transaction.rawValue, in: db)
    }

    /// Whether the room has a message with this identifier or of this transaction.
    func contains(_ id: MessageID, or transaction: TransactionID?, in db: Database) throws -> Bool {
        let statement = try db.cachedStatement(
            sql: "SELECT 1 FROM message WHERE room = ?1 AND (id = ?2 OR transactionID = ?3)")
        return try Bool.fetchOne(statement, arguments: [room.key, id.rawValue, transaction?.rawValue]) != nil
    }

    /// Returns the messages with the given keys, of any rooms and in this order. Looks up each room only once.
    static func messages(_ keys: [Int64], in db: Database) throws -> [Message] {
        let statement = try db.cachedStatement(sql: select + " WHERE m.key = ?")
        var queries: [Int64: MessageQuery] = [:]
        return try keys.compactMap { key in
            let room = MessageKey(raw: key).room
            if queries[room] == nil { queries[room] = try RoomRecord.find(room, in: db).map(MessageQuery.init) }
            guard let query = queries[room], let row = try Row.fetchOne(statement, arguments: [key]) else { return nil }
            return try query.complete([query.message(row)], in: db).first
        }
    }

    private func one(_ condition: String, _ value: String, in db: Database) throws -> Message? {
        let statement = try db.cachedStatement(sql: Self.select + condition)
        guard let row = try Row.fetchOne(statement, arguments: [room.key, value]) else { return nil }
        return try complete([message(row)], in: db).first
    }

    // LEFT JOIN forces SQLite to read messages by key instead of scanning users.
    private static let select = """
        SELECT m.key, m.id, u.id AS sender, m.sentAt, m.kind, m.isDeleted, m.delivery, m.editedAt, m.transactionID,
            m.replyTo, m.formatted, m.text
        FROM message m LEFT JOIN user u ON u.key = m.sender
        """

    private func message(_ row: Row) throws -> Message {
        guard let delivery = Message.Delivery(code: try row.value("delivery")) else {
            throw UnreadableColumn(name: "delivery")
        }
        guard let kind = Message.Kind(code: try row.value("kind")) else { throw UnreadableColumn(name: "kind") }
        return Message(
            id: try row.identifier("id"), roomID: room.room.id, sender: try row.identifier("sender"),
            content: Message.Content(
                try row.value("text"), kind: kind, formattedText: try row.optional("formatted")),
            sentAt: try row.date("sentAt"),
            position: MessageKey(raw: try row.value("key")).position,
            transactionID: try row.optionalIdentifier("transactionID"), replyTo: try row.optionalIdentifier("replyTo"),
            editedAt: try row.optionalDate("editedAt"), isDeleted: try row.flag("isDeleted"), delivery: delivery)
    }

    /// Adds related rows, with one query per table for all messages.
    /// - Parameter messages: Sorted by position.
    private func complete(_ messages: [Message], in db: Database) throws -> [Message] {
        guard let first = messages.first, let last = messages.last else { return messages }
        let range: StatementArguments = [key(first), key(last)]
        var indices: [Int64: Int]?
        func messageIndex(_ row: Row) throws -> Int? {
            if indices == nil {
                indices = Dictionary(uniqueKeysWithValues: messages.enumerated().map { (key($1), $0) })
            }
            return indices?[try row.value("message")]
        }
        var messages = messages
        let files = try Row.fetchCursor(db.cachedStatement(sql: Self.attachments), arguments: range)
        while let row = try files.next() {
            if let index = try messageIndex(row) { messages[index].attachments.append(try MediaReference(row: row)) }
        }
        let written = try Row.fetchCursor(db.cachedStatement(sql: Self.written), arguments: range)
        while let row = try written.next() {
            guard let index = try messageIndex(row) else { continue }
            WrittenColumn.complete(&messages[index].wording, try row.value("data"))
        }
        if messages.contains(where: { $0.kind == .event }) {
            let events = try Row.fetchCursor(db.cachedStatement(sql: Self.events), arguments: range)
            while let row = try events.next() {
                if let index = try messageIndex(row) { messages[index].event = try RoomEvent(row) }
            }
            // The row of the state event was lost with a damaged page.
            for index in messages.indices where messages[index].kind == .event && messages[index].event == nil {
                messages[index].isDeleted = true
            }
        }
        if messages.contains(where: { $0.kind == .sealed && !$0.isDeleted }) {
            let reasons = try Row.fetchCursor(db.cachedStatement(sql: Self.reasons), arguments: range)
            while let row = try reasons.next() {
                if let index = try messageIndex(row) { messages[index].seal = try row.choice("reason") }
            }
            // The row of the event was lost with a damaged page that no repair has noticed yet.
            for index in messages.indices where messages[index].isUnexplained { messages[index].seal = .damaged }
        }
        let trusts = try Row.fetchCursor(db.cachedStatement(sql: Self.trusts), arguments: range)
        while let row = try trusts.next() {
            if let index = try messageIndex(row) { messages[index].trust = try row.choice("trust") }
        }
        for (index, reason) in try unreadableEdits(of: messages, in: range, at: messageIndex, db) {
            messages[index].unreadableEdit = reason
        }
        try ReceiptStore(record: room, db: db).addReadReceipts(to: &messages)
        let reactions = try Row.fetchCursor(db.cachedStatement(sql: Self.reactions), arguments: range)
        // The reactions of one message by their text: there may be any number of them.
        var (reacted, places): (Int?, [String: Int]) = (nil, [:])
        while let row = try reactions.next() {
            guard let index = try messageIndex(row) else { continue }
            if index != reacted { (reacted, places) = (index, [:]) }
            let text: String = try row.value("text")
            let sender: MemberID = try row.identifier("sender")
            if let place = places[text] {
                messages[index].reactions[place].senders.append(sender)
            } else {
                places[text] = messages[index].reactions.count
                messages[index].reactions.append(Reaction(text: text, senders: [sender]))
            }
        }
        return messages
    }

    /// Why the latest edits of messages cannot be read, by their index.
    private func unreadableEdits(
        of messages: [Message], in range: StatementArguments, at place: (Row) throws -> Int?, _ db: Database
    ) throws -> [Int: SealReason] {
        var newest: [Int: Date] = [:]
        var reasons: [Int: SealReason] = [:]
        let edits = try Row.fetchCursor(db.cachedStatement(sql: Self.sealedEdits), arguments: range)
        while let row = try edits.next() {
            guard let index = try place(row), let sentAt = try row.optionalDate("sentAt") else { continue }
            let message = messages[index]
            // Only the sender can edit a message, and the latest version counts.
            guard message.hasContent, message.event == nil, try row.optionalIdentifier("sender") == message.sender,
                sentAt > newest[index] ?? message.editedAt ?? .distantPast
            else { continue }
            newest[index] = sentAt
            reasons[index] = try row.choice("reason") as SealReason
        }
        return reasons
    }

    static func attachments(of key: Int64, in db: Database) throws -> [MediaReference] {
        try Row.fetchAll(db.cachedStatement(sql: attachments), arguments: [key, key]).map(MediaReference.init)
    }

    private func key(_ message: Message) -> Int64 {
        key(at: message.position)
    }

    private static let written = "SELECT * FROM written WHERE message BETWEEN ? AND ?"

    private static let trusts = "SELECT * FROM messageTrust WHERE message BETWEEN ? AND ?"

    private static let events = "SELECT * FROM event WHERE message BETWEEN ? AND ?"

    private static let reasons = """
        SELECT m.key AS message, s.reason FROM message m JOIN sealed s ON s.room = m.room AND s.event = m.id
        WHERE m.key BETWEEN ? AND ? AND m.kind = 8
        """

    /// By message first, as there may be any number of edits in the room.
    private static let sealedEdits = """
        SELECT m.key AS message, s.reason, iif(json_valid(s.data), json_extract(s.data, '$.sender'), NULL) AS sender,
            iif(json_valid(s.data), json_extract(s.data, '$.origin_server_ts'), NULL) AS sentAt
        FROM message m CROSS JOIN sealed s INDEXED BY sealed_edits ON s.room = m.room AND s.edits = m.id
        WHERE m.key BETWEEN ? AND ?
        """

    private static let attachments = "SELECT * FROM attachment WHERE message BETWEEN ? AND ? ORDER BY message, place"

    private static let reactions = """
        SELECT r.message, r.text, u.id AS sender FROM reaction r JOIN user u ON u.key = r.sender
        WHERE r.message BETWEEN ? AND ? AND r.sender NOT IN (SELECT user FROM ignoredUser)
        ORDER BY r.message, r.givenAt, r.sender
        """
}

extension Message {
    fileprivate var isUnexplained: Bool { content.kind == .sealed && !isDeleted && content.seal == nil }
}

extension MediaReference {
    fileprivate init(row: Row) throws {
        self.init(
            uri: try row.value("uri"), name: try row.value("name"), type: try row.value("type"),
            bytes: try row.optional("bytes"), width: try row.optional("width"), height: try row.optional("height"),
            duration: try row.optional("duration"), thumbnailURI: try row.optional("thumbnail"),
            altText: try row.optional("altText"), blurHash: try row.optional("blurHash"))
        let waveform: String? = try row.optional("loudness")
        media.loudness = waveform?.split(separator: " ").prefix(MediaDescription.maxWaveformSamples).compactMap {
            Int($0)
        }
    }

    /// The samples, separated by spaces.
    var storedWaveform: String? {
        media.loudness?.prefix(MediaDescription.maxWaveformSamples).map(String.init).joined(separator: " ")
    }
}

extension Message.Delivery {
    init?(code: Int64) {
        switch code {
        case 0: self = .sent
        case 1: self = .sending
        case 2: self = .failed
        default: return nil
        }
    }

    /// The stored code. SQLite stores 0 and 1 without payload bytes.
    var code: Int64 {
        switch self {
        case .sent: 0
        case .sending: 1
        case .failed: 2
        }
    }
}

extension Message.Kind {
    /// The stored codes are indexes into this list: add new kinds only at its end.
    private static let codes: [Message.Kind] = [
        .text, .emote, .notice, .image, .file, .audio, .video, .event, .sealed,
    ]

    init?(code: Int64) {
        guard Self.codes.indices.contains(Int(clamping: code)) else { return nil }
        self = Self.codes[Int(code)]
    }

    var code: Int64 { Int64(Self.codes.firstIndex(of: self) ?? 0) }
}
