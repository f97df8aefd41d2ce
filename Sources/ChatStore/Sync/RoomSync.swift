import ChatCore
public import Foundation
import GRDB

extension ChatStore {
    /// Applies a sync response in one transaction, together with its sync token. A power loss may drop the whole batch,
    /// and the server is then asked for it again.
    ///
    /// Idempotent: known events change nothing, so that batches may repeat or overlap.
    /// - Parameter now: When the batch arrived. No room's activity is later, whatever dates its messages have.
    /// - Returns: The changes of the rooms, in the order of the batch, and then of those rooms that only the list of
    ///   ignored users concerns.
    public func apply(_ batch: SyncBatch, at now: Date = Date()) async throws -> [RoomChange] {
        let leftRooms = batch.rooms.filter { $0.isLeft || $0.isSpace }.map(\.id)
        // The user did not decide to discard it.
        try await reportUnsent(of: leftRooms)
        // Delete unsent data first: after a crash in between, it must not outlive its room.
        try await removeUnsent(of: leftRooms)
        let (changes, staged): ([RoomChange], [RoomID]) = try await writeCache { db in
            // Before the rooms: what is new may be by a user who is ignored from now on.
            let ignored = try batch.ignoredUsers.map { try IgnoredUserTable(db: db).set($0).map(\.room.id) } ?? []
            var roomChanges = try batch.rooms.map { try RoomSync(db: db, now: now).apply($0) }
            for room in ignored {
                if let index = roomChanges.firstIndex(where: { $0.room == room }) {
                    roomChanges[index].needsReload = true
                } else {
                    roomChanges.append(RoomChange(room: room, needsReload: true))
                }
            }
            try InvitationTable(db: db).apply(batch)
            if let direct = batch.directRooms { try Self.setDirectRooms(direct, in: db) }
            try SettingTable(db: db).set(batch.settings)
            let staged = try leftRooms.isEmpty ? [] : StagedRooms(db: db).stageLeft()
            return (roomChanges, staged)
        }
        for removal in changes.compactMap(\.removal) { removalFeed.publish(removal) }
        removeLeftRooms(staged)
        // Again, for what was written while the room was still there. If this fails, the next start recreates the room,
        // and the user sees what was unsent.
        try? await removeUnsent(of: leftRooms)
        return changes
    }

    /// Marks exactly these rooms as direct chats.
    private static func setDirectRooms(_ direct: Set<RoomID>, in db: Database) throws {
        let rows = try Row.fetchAll(db, sql: "SELECT key, id, kind FROM room WHERE kind IN ('direct', 'group')")
        for row in rows {
            let kind = direct.contains(try row.identifier("id")) ? Room.Kind.direct : .group
            guard try kind.rawValue != row.value("kind") else { continue }
            try db.execute(
                sql: "UPDATE room SET kind = ? WHERE key = ?",
                arguments: [kind.rawValue, try row.value("key") as Int64])
        }
    }
}

/// Applies a room's part of a sync response to the database, within a transaction.
struct RoomSync {
    /// The number of positions that a gap reserves for missing messages.
    static let reserve: Int64 = 1 << 20
    /// The maximum number of unresolved relations stored for a room, since a server could send any number of them.
    private static let maxUnresolvedRelations = 5000

    let db: Database
    /// When the events arrived.
    var now = Date()

    func apply(_ batch: RoomBatch) throws -> RoomChange {
        var roomChange = RoomChange(room: batch.id)
        if batch.isSpace {
            try db.execute(sql: "INSERT OR IGNORE INTO space VALUES (?)", arguments: [batch.id.rawValue])
        }
        if batch.isLeft || batch.isSpace {
            if let record = try RoomRecord.find(batch.id, in: db) {
                roomChange.removal = try batch.removal.map { try named($0, in: record) }
                try StagedRooms(db: db).leave(record)
            }
            roomChange.isLeft = true
            return roomChange
        }
        roomChange.isNew = try makeRoom(batch)
        let record = try RoomRecord.get(batch.id, in: db)
        if !roomChange.isNew, let name = batch.name {
            try db.execute(sql: "UPDATE room SET name = ? WHERE key = ?", arguments: [name, record.key])
        }
        if let avatar = batch.avatar { try record.setAvatar(avatar, of: nil, in: db) }
        try batch.state?.store(of: record, in: db)
        var changedMembers = try put(batch.members, into: record)
        changedMembers += try unname(batch.unnamed, in: record)
        for (subject, event) in batch.origins {
            try db.cachedStatement(sql: "INSERT OR REPLACE INTO stateOrigin VALUES (?, ?, ?, ?)")
                .execute(arguments: [record.key, subject.type, subject.key, event.rawValue])
        }
        var changed: Set<MessageID> = []
        let told = try messages(of: batch.events, in: record, &changed)
        let unmentioned = try unmentioned(by: told, in: record)
        let inserted = try place(told, into: record, behind: batch.gap, &changed, &changedMembers)
        if inserted.contains(where: { $0.event?.kind == .encrypted }) {
            changed.formUnion(try EncryptionStart(record: record, db: db).unmark())
        }
        changed.formUnion(try ReceiptStore(record: record, db: db).apply(batch.receipts))
        try applyReadMarkers(batch, isNew: roomChange.isNew)
        // After the read markers: reading earlier messages does not remove a later mark.
        if let isMarked = batch.isMarkedUnread { try MarkedUnreadTable(db: db).receive(isMarked, of: record) }
        try note(batch.counted, isMissing: batch.gap != nil, in: record)
        roomChange.changed = try messages(changed, of: record, besides: inserted)
        // With a read marker, another device has just shown the room, edits included.
        roomChange.arrived = try arrivals(
            of: told, inserted, mentions: mentions(among: unmentioned, in: record),
            includingRead: batch.fullyReadMarkers.isEmpty, as: roomChange.changed, isNewRoom: roomChange.isNew,
            in: record)
        roomChange.members = Self.latest(changedMembers)
        return roomChange
    }

    func apply(
        changesOf events: [TimelineEvent], in record: RoomRecord, _ changed: inout Set<MessageID>
    ) throws {
        for event in events {
            switch event {
            case .change(let change): try apply(change, in: record, &changed)
            case .redacted(let id, let date):
                _ = try Redaction.apply(id.rawValue, in: record, at: date, db, &changed)
            case .sealed(let ciphertext):
                // A known event is unchanged: it may have been decrypted meanwhile.
                let table = SealedTable(record: record, db: db)
                guard try EditHistory(of: ciphertext.event.rawValue, in: record, db) == nil,
                    try table.find(ciphertext.event) != ciphertext
                else { continue }
                try table.put(ciphertext)
                if let target = ciphertext.edits { changed.insert(target) }
            case .message, .deleted, .silent: break
            }
        }
    }

    /// Applies a change that the server has accepted from this client.
    func apply(_ change: MessageChange, in record: RoomRecord) throws -> RoomChange {
        var roomChange = RoomChange(room: record.room.id)
        var changed: Set<MessageID> = []
        if let history = try EditHistory(of: change.id, in: record, db) {
            // The sync delivered it first, with the server's timestamp. Only the source text is missing.
            if case .edit(let wording) = change.kind, try history.setWritten(wording, of: change.id) {
                changed.insert(change.target)
            }
        } else {
            var change = change
            if case .edit = change.kind,
                let edited = try MessageQuery(room: record).find(change.target, in: db)?.editedAt
            {
                // The server has accepted it after those that are known, even if the local clock is behind. The sync brings
                // the server's time.
                change.at = max(change.at, Date(milliseconds: edited.milliseconds + 1))
            }
            try apply(change, in: record, &changed)
        }
        roomChange.changed = try messages(changed, of: record)
        return roomChange
    }

    private func makeRoom(_ batch: RoomBatch) throws -> Bool {
        guard try RoomRecord.find(batch.id, in: db) == nil else { return false }
        try db.execute(
            sql: "INSERT INTO room (id, kind, name, lastActivity) VALUES (?, ?, ?, ?)",
            arguments: [
                batch.id.rawValue, (batch.isDirect ? Room.Kind.direct : .group).rawValue,
                batch.name ?? batch.id.rawValue, min(batch.createdAt, now).milliseconds,
            ])
        return true
    }

    /// Returns messages in timeline order, without those that are hidden.
    /// - Parameter inserted: Messages as they were inserted, of which the changed ones are read again.
    func messages(
        _ changed: Set<MessageID>, of record: RoomRecord, besides inserted: [Message] = []
    ) throws -> [Message] {
        let read = try changed.compactMap { try MessageQuery(room: record).findShown($0, in: db) }
        let hidden = try IgnoredUserTable(db: db).users(among: Set(inserted.map(\.sender)))
        let unchanged = inserted.filter { !changed.contains($0.id) && ($0.event != nil || !hidden.contains($0.sender)) }
        return (read + unchanged).sorted { $0.position < $1.position }
    }

    // MARK: Messages

    /// Stores the events of a batch.
    /// - Parameter changed: Receives the messages that differ from what was stored or inserted.
    /// - Returns: The messages as they were inserted.
    private func place(
        _ events: [TimelineEvent], into record: RoomRecord, behind gap: String?, _ changed: inout Set<MessageID>,
        _ changedMembers: inout [Member]
    ) throws -> [Message] {
        let positions = EventPositions(record: record, db: db)
        // If any event is stored already, the batch connects to the known history.
        guard try positions.start(ofFirstKnown: events) != nil else {
            return try append(events, from: nil, into: record, behind: gap, &changed, &changedMembers)
        }
        // First, events that precede known ones fill the gaps before those.
        let events = try putBack(events, next: gap, in: record, &changed, &changedMembers, isSynced: true)
        let knownStart = try positions.start(ofFirstKnown: events)
        return try append(events, from: knownStart, into: record, behind: gap, &changed, &changedMembers)
    }

    /// - Parameter knownStart: Where the first of the events that is stored already begins.
    private func append(
        _ events: [TimelineEvent], from knownStart: Int64?, into record: RoomRecord, behind gap: String?,
        _ changed: inout Set<MessageID>, _ changedMembers: inout [Member]
    ) throws -> [Message] {
        var writer = try MessageWriter(to: record, allowingFormerMembers: true, arrivedAt: now, in: db)
        var inserted: [Message] = []
        let positions = EventPositions(record: record, db: db)
        let receipts = ReceiptStore(record: record, db: db)
        var position = try leap(&writer, from: knownStart, behind: gap, in: record)
        var new: [TimelineEvent] = []
        for event in events {
            guard let id = event.id else { continue }
            if let existingPosition = try self.position(of: event, among: positions) {
                // It was redacted after it was stored.
                if case .deleted = event, try MessageQuery(room: record).find(id, in: db)?.isDeleted == false {
                    new.append(event)
                }
                position = existingPosition
                continue
            }
            if let message = event.message {
                changedMembers += try put(sender: message.sender, into: record)
                let stored = try writer.append(message)
                inserted.append(stored)
                position = stored.position
                changed.formUnion(try receipts.note(message, at: position))
                new.append(event)
                try noteEntry(message, in: record)
            } else {
                try positions.note(id, at: position)
            }
            changed.formUnion(try receipts.resolve(at: id, position))
        }
        // Finish before applying the changes, which may have to update the room summary again.
        try writer.finish()
        for event in new { try finish(event, in: record, &changed) }
        try apply(changesOf: events, in: record, &changed)
        return inserted
    }

    /// Moves the writer to where the events of a batch belong, inserting a gap if history is missing before them.
    /// - Returns: The position before the first of them.
    private func leap(
        _ writer: inout MessageWriter, from knownStart: Int64?, behind token: String?, in record: RoomRecord
    ) throws -> Int64 {
        let positions = EventPositions(record: record, db: db)
        let last = try TimelineGap.last(in: record, db)
        if let token, knownStart == nil {
            let end = try record.ends(in: db)?.last.position
            // If the user has read up to the existing gap, the newly missing messages are unread and need their own
            // gap.
            let read = try RoomRecord.find(record.key, in: db)?.fullyReadPosition ?? .min
            if let last, last.position > end ?? .min, last.position - 1 > read,
                try !positions.hasSilent(from: last.position - 1)
            {
                // No message follows the last gap, so it now ends where the batch begins.
                try TimelineGap(position: last.position, token: token, forward: last.forward).insert(into: record, db)
                writer.leap(to: last.position)
            } else {
                // The new gap goes after all stored events, silent ones included.
                let lastKnown = try [end, last?.position, positions.lastSilent()].compactMap { $0 }.max()
                let position = lastKnown.map { $0 + Self.reserve } ?? 1
                writer.leap(to: position)
                try TimelineGap(position: position, token: token).insert(into: record, db)
            }
        } else if let last {
            writer.leap(to: last.position)
        }
        // The last event may be a silent one, when a filled gap contained nothing else.
        if let silent = try positions.lastSilent() { writer.leap(to: silent + 1) }
        return knownStart.map { $0 - 1 } ?? writer.end
    }

    /// Returns `nil` for a new event.
    private func position(of event: TimelineEvent, among positions: EventPositions) throws -> Int64? {
        if let position = try event.id.flatMap({ try positions.position(of: $0) }) { return position }
        guard let transaction = event.message?.transactionID,
            let stored = try MessageQuery(room: positions.record).find(transaction, in: db)
        else { return nil }
        // One that the server has sent is another message: a server may repeat a transaction.
        return stored.delivery == .sent ? nil : stored.position
    }

    /// Moves the user's read position to their own join: messages sent before it do not count as unread.
    func noteEntry(_ message: NewMessage, in record: RoomRecord) throws {
        guard let event = message.event, event.kind == .joined, let subject = event.subject,
            try Bool.fetchOne(
                db.cachedStatement(sql: "SELECT kind = 'own' FROM member WHERE room = ? AND id = ?"),
                arguments: [record.key, subject.rawValue]) == true
        else { return }
        try AwaitedReceipts(record: record, db: db).addOwnReceipt(message.id)
    }

    /// Completes a newly stored message: a deletion, and the relations that were waiting for it, read or not.
    /// - Parameter changed: Receives the message if that changes it.
    func finish(_ event: TimelineEvent, in record: RoomRecord, _ changed: inout Set<MessageID>) throws {
        guard let message = event.message else { return }
        if case .deleted = event, let stored = try MessageQuery(room: record).find(message.id, in: db) {
            changed.insert(message.id)
            _ = try MessageEditor(record: record, db: db).delete(stored)
        }
        for change in try UnresolvedRelation.removeAll(of: message.id, in: record, db) {
            try apply(change, in: record, &changed)
        }
        if try SealedTable(record: record, db: db).hasEdits(of: message.id) { changed.insert(message.id) }
    }

    /// Turns redacted messages that are known to have been edits or reactions into silent events, and reverts those
    /// changes.
    func messages(
        of events: [TimelineEvent], in record: RoomRecord, _ changed: inout Set<MessageID>
    ) throws -> [TimelineEvent] {
        try events.map { event in
            guard case .deleted(let message) = event,
                try Redaction.apply(message.id.rawValue, in: record, at: message.sentAt, db, &changed)
            else { return event }
            return .silent(message.id)
        }
    }

    func apply(_ change: MessageChange, in record: RoomRecord, _ changed: inout Set<MessageID>) throws {
        guard try !Redaction.awaits(change, in: record, db) else { return }
        guard let target = try MessageQuery(room: record).find(change.target, in: db) else {
            let isRedacted =
                try change.kind == .deletion
                && Redaction.apply(change.target.rawValue, in: record, at: change.at, db, &changed)
            if !isRedacted { try UnresolvedRelation.store(change, in: record, atMost: Self.maxUnresolvedRelations, db) }
            return
        }
        let editor = MessageEditor(record: record, db: db)
        let result: Message?
        switch change.kind {
        case .edit(let wording):
            guard !target.isDeleted, target.event == nil, target.sender == change.sender,
                try change.isEncrypted || !isEncrypted(target, in: record)
            else { return }
            // A known edit changes nothing, whatever push rules say of it by now.
            if change.isMention, try EditHistory(of: change.id, in: record, db) == nil {
                try editor.makeMention(target)
            }
            // The message is not readable yet, although its row exists.
            guard target.kind != .sealed else {
                return try UnresolvedRelation.store(change, in: record, atMost: Self.maxUnresolvedRelations, db)
            }
            result = try editor.edit(target, to: wording, change.content, at: change.at, by: change.id)
            // What is displayed is only as certain as the least certain of its versions.
            if result != nil, let trust = change.trust, target.trust.map({ $0.severity < trust.severity }) ?? true {
                let key = MessageKey(room: record.key, position: target.position).raw
                try MessageWriter.setTrust(trust, of: key, in: db)
            }
        case .deletion:
            result = try editor.delete(target)
        case .reaction(let text):
            guard !target.isDeleted, target.event == nil else { return }
            result = try editor.setReaction(
                text, isAdded: true, to: target, by: change.sender, at: change.at, id: change.id)
        }
        if result != nil { changed.insert(target.id) }
    }
}

extension RoomSync {
    private func isEncrypted(_ message: Message, in record: RoomRecord) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT 1 FROM encryptedMessage WHERE message = ?"),
            arguments: [MessageKey(room: record.key, position: message.position).raw]) != nil
    }
}

extension TimelineEvent {
    var message: NewMessage? {
        switch self {
        case .message(let message), .deleted(let message): message
        case .silent, .change, .redacted, .sealed: nil
        }
    }

    /// The event's ID if it holds a position in the timeline.
    var id: MessageID? {
        switch self {
        case .message(let message), .deleted(let message): message.id
        case .silent(let id): id
        case .change, .redacted, .sealed: nil
        }
    }
}
