import ChatCore
import Foundation
import GRDB

/// Takes what a server told of rooms into the database, within a transaction.
struct RoomSync {
    /// Positions that a gap keeps free for what is missing.
    static let reserve: Int64 = 1 << 20
    /// Changes of unknown messages that are kept in a room: there may be no end of them.
    private static let mostOrphans = 5000

    let db: Database

    func apply(_ batch: RoomBatch) throws -> RoomOutcome {
        var outcome = RoomOutcome(room: batch.id)
        if batch.isLeft {
            try db.execute(sql: "DELETE FROM room WHERE id = ?", arguments: [batch.id.rawValue])
            outcome.isLeft = true
            return outcome
        }
        outcome.isNew = try makeRoom(batch)
        let record = try RoomRecord.get(batch.id, in: db)
        if !outcome.isNew, let name = batch.name {
            try db.execute(sql: "UPDATE room SET name = ? WHERE key = ?", arguments: [name, record.key])
        }
        if let avatar = batch.avatar { try record.setAvatar(avatar, of: nil, in: db) }
        for (name, value) in batch.settings { try RoomSetting(name).set(value, of: record, in: db) }
        var people = try put(batch.members, into: record)
        var changed: Set<MessageID> = []
        var events = try messages(of: batch.events, in: record, &changed)[...]
        var start = batch.gap
        while let (gap, count) = try gap(before: events, in: record) {
            // More of what is known than before: it goes where it was missing.
            let filled = try fill(gap, in: record, with: Array(events.prefix(count)), [], next: start ?? gap.token)
            start = nil
            changed.formUnion(filled?.changed.map(\.id) ?? [])
            people += filled?.members ?? []
            events = events.dropFirst(count)
        }
        changed.formUnion(try take(Array(events), into: record, behind: batch.gap, &people))
        changed.formUnion(try ReceiptBook(record: record, db: db).take(batch.receipts))
        try mark(batch, isNew: outcome.isNew)
        outcome.changed = try messages(changed, of: record)
        outcome.members = Self.latest(people)
        return outcome
    }

    func fill(
        _ gap: TimelineGap, in record: RoomRecord, with events: [TimelineEvent], _ members: [Member],
        next token: String?
    ) throws -> RoomOutcome? {
        guard let gap = try TimelineGap.find(gap, in: record, db) else { return nil }
        var outcome = RoomOutcome(room: record.room.id)
        var people = try put(members, into: record)
        var writer = try MessageWriter(to: record, allowingThoseWhoLeft: true, before: gap.position, in: db)
        var changed: Set<MessageID> = []
        let events = try messages(of: events, in: record, &changed)
        var new: [TimelineEvent] = []
        var position = gap.position
        var isClosed = token == nil
        for event in events.reversed() {
            guard let message = event.message else { continue }
            if let known = try MessageQuery(room: record).find(message.id, in: db) {
                // Behind the gap it came twice, and what is missing may still follow.
                guard known.position < gap.position else { continue }
                // So it may elsewhere, by a server whose times are wrong.
                guard try !TimelineGap.lies(between: known.position, and: gap.position, in: record, db) else {
                    continue
                }
                // What is in front of the gap is met: nothing is missing between.
                isClosed = true
                break
            }
            people += try putSender(of: message, into: record)
            position = try writer.prepend(message).position
            new.append(event)
        }
        try writer.finish()
        try finish(new, of: events, before: gap, in: record, &changed)
        try gap.remove(from: record, db)
        if !isClosed, let token {
            try TimelineGap(position: position, token: token, forward: gap.forward).insert(into: record, db)
        }
        outcome.changed = try messages(changed, of: record)
        outcome.members = Self.latest(people)
        return outcome
    }

    /// What is fetched from within the history is stored: what belongs to it follows.
    func finish(
        _ new: [TimelineEvent], of events: [TimelineEvent], before gap: TimelineGap, in record: RoomRecord,
        _ changed: inout Set<MessageID>
    ) throws {
        for event in new { try finish(event, in: record, &changed) }
        if let read = record.readUpTo, !new.isEmpty, gap.position > read {
            try record.refreshUnread(after: read, in: db)
        }
        for case .change(let change) in events { try apply(change, in: record, &changed) }
    }

    /// A change that a server took from here.
    func apply(_ change: MessageChange, in record: RoomRecord) throws -> RoomOutcome {
        var outcome = RoomOutcome(room: record.room.id)
        // The sync was faster, and knows its time.
        guard try EditHistory(of: change.id, in: record, db) == nil else { return outcome }
        var changed: Set<MessageID> = []
        try apply(change, in: record, &changed)
        outcome.changed = try messages(changed, of: record)
        return outcome
    }

    // MARK: Rooms and members

    private func makeRoom(_ batch: RoomBatch) throws -> Bool {
        guard try RoomRecord.find(batch.id, in: db) == nil else { return false }
        try db.execute(
            sql: "INSERT INTO room (id, kind, name, lastActivity) VALUES (?, ?, ?, ?)",
            arguments: [
                batch.id.rawValue, (batch.isDirect ? Room.Kind.direct : .group).rawValue,
                batch.name ?? batch.id.rawValue, batch.createdAt.milliseconds,
            ])
        return true
    }

    /// - Returns: those who are new or another than before.
    func put(_ members: [Member], into record: RoomRecord) throws -> [Member] {
        var others: [Member] = []
        for member in members {
            let known = try Row.fetchOne(
                db.cachedStatement(sql: ChatStore.memberColumns + " WHERE m.room = ? AND m.id = ?"),
                arguments: [record.key, member.id.rawValue]
            ).map(ChatStore.member)
            var member = member
            // Who leaves is seldom named: what was said before keeps the name that it was said under.
            if member.hasLeft, let known {
                if member.displayName == member.id.rawValue { member.displayName = known.displayName }
                member.avatar = member.avatar ?? known.avatar
            }
            if let known,
                (known.displayName, known.hasLeft, known.avatar)
                    == (member.displayName, member.hasLeft, member.avatar)
            {
                continue
            }
            try ChatStore.insert(member, into: record, in: db)
            others.append(member)
        }
        return others
    }

    /// Of several changes of one member the last one; nil without any.
    static func latest(_ people: [Member]) -> [Member]? {
        var places: [MemberID: Int] = [:]
        var latest: [Member] = []
        for member in people {
            if let place = places[member.id] {
                latest[place] = member
            } else {
                places[member.id] = latest.count
                latest.append(member)
            }
        }
        return latest.isEmpty ? nil : latest
    }

    /// Whoever said something was there.
    func putSender(of message: NewMessage, into record: RoomRecord) throws -> [Member] {
        let known = try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT 1 FROM member WHERE room = ? AND id = ?"),
            arguments: [record.key, message.sender.rawValue])
        guard known == nil else { return [] }
        let id = message.sender.rawValue
        return try put([Member(id: message.sender, displayName: id, kind: .person, hasLeft: true)], into: record)
    }

    private func mark(_ batch: RoomBatch, isNew: Bool) throws {
        // Read anew: what was appended may be what was read.
        let record = try RoomRecord.get(batch.id, in: db)
        var position = try batch.readUpTo.flatMap { try MessageQuery(room: record).find($0, in: db)?.position }
        if isNew, batch.isRead { position = try record.ends(in: db)?.last.position }
        if let position {
            _ = try MessageEditor(record: record, db: db).markRead(at: position)
        } else if record.readUpTo == nil, let first = try record.ends(in: db)?.first.position {
            // What is fetched from before it later is no news.
            try db.execute(sql: "UPDATE room SET readUpTo = ? WHERE key = ?", arguments: [first - 1, record.key])
        }
    }

    func messages(_ ids: Set<MessageID>, of record: RoomRecord) throws -> [Message] {
        try ids.compactMap { try MessageQuery(room: record).find($0, in: db) }.sorted { $0.position < $1.position }
    }

    // MARK: Messages

    private func take(
        _ events: [TimelineEvent], into record: RoomRecord, behind gap: String?, _ people: inout [Member]
    ) throws -> Set<MessageID> {
        var writer = try MessageWriter(to: record, allowingThoseWhoLeft: true, in: db)
        var changed: Set<MessageID> = []
        let query = MessageQuery(room: record)
        let receipts = ReceiptBook(record: record, db: db)
        // Whatever is known of the batch, nothing is missing before it.
        let overlaps = try events.contains { event in
            try event.message.map { try query.find($0.id, in: db) != nil } ?? false
        }
        let end = try end(of: record)
        if let gap, !overlaps {
            let position = end.map { $0 + Self.reserve } ?? 1
            writer.leap(to: position)
            try TimelineGap(position: position, token: gap).insert(into: record, db)
        } else if let last = try lastGap(of: record) {
            writer.leap(to: last)
        }
        var new: [TimelineEvent] = []
        for event in events {
            guard let message = event.message else { continue }
            guard try isNew(message, in: query) else {
                // What it says may be gone by now.
                if case .deleted = event, try query.find(message.id, in: db)?.isDeleted == false { new.append(event) }
                continue
            }
            people += try putSender(of: message, into: record)
            let position = try writer.append(message).position
            changed.formUnion(try receipts.note(message, at: position))
            new.append(event)
        }
        // Before what changes them: it takes them out of the summary again.
        try writer.finish()
        for event in new { try finish(event, in: record, &changed) }
        for case .change(let change) in events { try apply(change, in: record, &changed) }
        return changed
    }

    /// The gap right before the first message that is known and follows on ones that are not, and how many of the events
    /// are told to be before that.
    private func gap(before events: ArraySlice<TimelineEvent>, in record: RoomRecord) throws -> (TimelineGap, Int)? {
        let query = MessageQuery(room: record)
        var areUnknown = false
        for (count, event) in events.enumerated() {
            guard let message = event.message else { continue }
            guard let known = try query.find(message.id, in: db) else {
                areUnknown = true
                continue
            }
            guard areUnknown else { continue }
            let gaps = try Row.fetchOne(
                db.cachedStatement(
                    sql:
                        "SELECT position, token FROM gap WHERE room = ? AND position <= ? ORDER BY position DESC LIMIT 1"
                ),
                arguments: [record.key, known.position])
            guard let gaps else { return nil }
            let gap = TimelineGap(position: try gaps.value("position"), token: try gaps.value("token"))
            let between = try query.page(before: known.position, limit: 1, in: db).messages.last?.position ?? .min
            return between < gap.position ? (gap, count) : nil
        }
        return nil
    }

    private func isNew(_ message: NewMessage, in query: MessageQuery) throws -> Bool {
        if try query.find(message.id, in: db) != nil { return false }
        guard let transaction = message.transactionID else { return true }
        return try query.find(transaction, in: db) == nil
    }

    /// The end of what is known, by messages and gaps; nil in a room of which nothing is.
    private func end(of record: RoomRecord) throws -> Int64? {
        let gap = try lastGap(of: record)
        let message = try record.ends(in: db)?.last.position
        return [gap, message].compactMap { $0 }.max()
    }

    private func lastGap(of record: RoomRecord) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT max(position) FROM gap WHERE room = ?"), arguments: [record.key])
    }

    /// What was told of a message besides its first text, now that it is stored.
    func finish(_ event: TimelineEvent, in record: RoomRecord, _ changed: inout Set<MessageID>) throws {
        guard let message = event.message else { return }
        changed.insert(message.id)
        try ReceiptBook(record: record, db: db).settle(at: message.id)
        if case .deleted = event, let stored = try MessageQuery(room: record).find(message.id, in: db) {
            _ = try MessageEditor(record: record, db: db).delete(stored)
        }
        for change in try Orphan.take(of: message.id, in: record, db) { try apply(change, in: record, &changed) }
    }

    /// Leaves out deleted messages that are known to have been changes of others, and takes those back.
    func messages(
        of events: [TimelineEvent], in record: RoomRecord, _ changed: inout Set<MessageID>
    ) throws -> [TimelineEvent] {
        try events.filter { event in
            guard case .deleted(let message) = event else { return true }
            return try !Withdrawal.take(message.id.rawValue, in: record, at: message.sentAt, db, &changed)
        }
    }

    func apply(_ change: MessageChange, in record: RoomRecord, _ changed: inout Set<MessageID>) throws {
        guard try !Withdrawal.awaits(change, in: record, db) else { return }
        guard let target = try MessageQuery(room: record).find(change.target, in: db) else {
            let isTakenBack =
                try change.kind == .deletion
                && Withdrawal.take(change.target.rawValue, in: record, at: change.at, db, &changed)
            if !isTakenBack { try Orphan.keep(change, in: record, atMost: Self.mostOrphans, db) }
            return
        }
        // Read anew: an earlier change of the batch may have moved the read marker or the last message.
        let editor = MessageEditor(record: record, db: db)
        let result: Message?
        switch change.kind {
        case .edit(let text, let formattedText):
            guard !target.isDeleted, target.event == nil, target.sender == change.sender else { return }
            result = try editor.edit(target, text: text, formattedText: formattedText, at: change.at, by: change.id)
        case .deletion:
            result = try editor.delete(target)
        case .reaction(let text):
            guard !target.isDeleted, target.event == nil else { return }
            result = try editor.setReaction(
                text, isGiven: true, to: target, by: change.sender, at: change.at, id: change.id)
        }
        if result != nil { changed.insert(target.id) }
    }
}

extension TimelineEvent {
    var message: NewMessage? {
        switch self {
        case .message(let message), .deleted(let message): message
        case .change: nil
        }
    }
}
