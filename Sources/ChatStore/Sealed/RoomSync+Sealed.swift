import ChatCore
import GRDB

/// Encrypted events that are read again.
extension RoomSync {
    /// Replaces encrypted events by their decrypted content.
    func open(_ again: [ReadAgain], in record: RoomRecord) throws -> RoomChange {
        var change = RoomChange(room: record.room.id)
        var changed: Set<MessageID> = []
        var opened = OpenedMessages(record: record, db: db)
        let unmentioned = try unmentioned(by: again.flatMap(\.events), in: record)
        for one in again {
            guard let sealed = try SealedTable(record: record, db: db).find(one.event) else { continue }
            try apply(one, of: sealed, &opened, &changed)
        }
        let mentions = try mentions(among: unmentioned, in: record)
        changed.formUnion(mentions)
        guard opened.hasChanges || !changed.isEmpty else { return change }
        try opened.finish()
        change.removed = opened.removed
        change.changed = try messages(changed.union(opened.ids), of: record)
        change.arrived = try arrivals(
            of: opened.announced, change.changed, mentions: mentions, includingRead: false, as: change.changed,
            isNewRoom: false, in: record)
        return change
    }

    private func apply(
        _ one: ReadAgain, of sealed: Ciphertext, _ opened: inout OpenedMessages, _ changed: inout Set<MessageID>
    ) throws {
        let record = opened.record
        let table = SealedTable(record: record, db: db)
        let stored = try MessageQuery(room: record).find(one.event, in: db)
        if let ciphertext = one.events.ciphertext(of: one.event) {
            guard ciphertext != sealed else { return }
            try table.put(ciphertext)
            if stored != nil { changed.insert(one.event) }
            if let target = ciphertext.edits { changed.insert(target) }
            return
        }
        try table.remove(one.event)
        // Even if nothing applies, as when the edit has the same text: its message is not marked any more.
        if let target = sealed.edits { changed.insert(target) }
        if let stored, !stored.isDeleted, stored.kind == .sealed {
            switch one.events.first {
            case .message(let new)? where new.id == one.event: try opened.replace(stored, by: new)
            case .deleted?:
                _ = try MessageEditor(record: record, db: db).delete(stored)
                changed.insert(one.event)
            default: changed.formUnion(try opened.remove(stored))
            }
            if let first = one.events.first { try finish(first, in: record, &changed) }
        }
        try apply(changesOf: one.events, in: record, &changed)
    }
}

extension [TimelineEvent] {
    /// Returns an event that is still sealed, whether it is a message or changes one.
    fileprivate func ciphertext(of event: MessageID) -> Ciphertext? {
        compactMap(\.ciphertext).first { $0.event == event }
    }
}

extension TimelineEvent {
    fileprivate var ciphertext: Ciphertext? {
        switch self {
        case .message(let message): message.ciphertext
        case .sealed(let ciphertext): ciphertext
        case .deleted, .silent, .change, .redacted: nil
        }
    }
}

/// The messages of a room that were just decrypted.
struct OpenedMessages {
    let record: RoomRecord
    let db: Database
    private(set) var ids: Set<MessageID> = []
    private(set) var removed: [MessageID] = []
    /// The events that notify only now, as they were sealed before.
    private(set) var announced: [TimelineEvent] = []
    private var unread = 0
    private var mentions = 0

    init(record: RoomRecord, db: Database) {
        self.record = record
        self.db = db
    }

    var hasChanges: Bool { !ids.isEmpty || !removed.isEmpty }

    /// Replaces the content of a message. Position, receipts and reactions stay those of the row.
    mutating func replace(_ stored: Message, by new: NewMessage) throws {
        let key = key(of: stored)
        var content = new.content.storable
        let isOwn = try MemberTable(db: db).isOwn(stored.sender, of: record)
        if isOwn, let noted = try AuthorNotes(record: record, db: db).removeText(of: new.id) { content.written = noted }
        if content.written != nil { content.mentionsEveryone = false }
        try db.cachedStatement(sql: "UPDATE message SET kind = ?, replyTo = ?, formatted = ?, text = ? WHERE key = ?")
            .execute(arguments: [
                content.kind.code, new.replyTo?.rawValue, content.formattedText, content.text, key,
            ])
        if content.written != nil || content.mentionsEveryone {
            try EditHistory(key: key, db: db).setWritten(content.wording)
        }
        try content.event?.insert(for: key, in: db)
        try MessageWriter.setTrust(new.trust, of: key, in: db)
        try MessageWriter.insert(content.attachments, of: key, in: db)
        ids.insert(new.id)
        guard !isOwn else { return }
        let attention = AttentionTable(db: db)
        let before = try attention.level(of: key)
        let after = content.event == nil ? new.notificationLevel : .none
        try attention.set(content.event == nil ? after : .unread, of: key)
        try count(stored, before, -1)
        try count(stored, after, 1)
        // What was announced as unread is announced once more as a mention.
        if before == .none && after != .none || before != .mention && after == .mention {
            announced.append(.message(new))
        }
    }

    /// Removes the row of an event that is not a message.
    /// - Returns: The message that the row's receipts move to.
    mutating func remove(_ stored: Message) throws -> Set<MessageID> {
        if try !MemberTable(db: db).isOwn(stored.sender, of: record) {
            try count(stored, AttentionTable(db: db).level(of: key(of: stored)), -1)
        }
        try db.cachedStatement(sql: "DELETE FROM message WHERE key = ?").execute(arguments: [key(of: stored)])
        let positions = EventPositions(record: record, db: db)
        // The position stays taken, as receipts may refer to it.
        try positions.note(stored.id, at: stored.position)
        removed.append(stored.id)
        return Set(try [positions.lastShownMessage(before: stored.position)].compactMap(\.self))
    }

    /// Updates the room list.
    func finish() throws {
        if unread != 0 {
            try db.cachedStatement(sql: "UPDATE room SET unread = max(0, unread + ?) WHERE key = ?")
                .execute(arguments: [unread, record.key])
        }
        if mentions != 0 { try record.addMentions(mentions, in: db) }
        try record.refreshLastMessage(in: db)
    }

    private mutating func count(_ message: Message, _ level: NotificationLevel, _ change: Int) throws {
        guard level != .none, message.position > record.fullyReadPosition ?? .min,
            try !IgnoredUserTable(db: db).contains(message.sender)
        else { return }
        unread += change
        if level == .mention { mentions += change }
    }

    private func key(of message: Message) -> Int64 { MessageKey(room: record.key, position: message.position).raw }
}
