import ChatCore
import GRDB

extension RoomSync {
    /// Puts a piece of history into a gap, in which it may lie by itself.
    ///
    /// - Parameter followsOn: whether it begins where the gap does.
    /// - Returns: nil if it does not belong there, or the gap is no longer as it was given.
    func place(
        _ stretch: HistoryStretch, in gap: TimelineGap, of record: RoomRecord, _ members: [Member],
        followsOn: Bool
    ) throws -> RoomOutcome? {
        guard let gap = try TimelineGap.find(gap, in: record, db) else { return nil }
        let counted = try counted(in: record)
        var changed: Set<MessageID> = []
        let events = try messages(of: stretch.events, in: record, &changed)
        guard let part = try part(of: events, in: gap, of: record, followsOn: followsOn),
            let end = try end(of: part, in: gap, of: record)
        else { return nil }
        var outcome = RoomOutcome(room: record.room.id)
        var people = try put(members, into: record)
        if let bearer = try ReceiptBook(record: record, db: db).bearer(before: gap.position) { changed.insert(bearer) }
        var writer = try HistoryWriter(to: record, before: end, db)
        for event in part.new.reversed() {
            if let message = event.message { people += try putSender(of: message, into: record) }
            changed.formUnion(try writer.prepend(event))
        }
        try writer.finish()
        try finish(writer.new, of: events, before: gap, in: record, &changed)
        try gap.remove(from: record, db)
        if !part.meetsBehind {
            try TimelineGap(position: gap.position, token: gap.token, forward: stretch.newer).insert(into: record, db)
        }
        if !part.meetsFront, let older = stretch.older {
            try TimelineGap(position: writer.position, token: older, forward: gap.forward).insert(into: record, db)
        }
        try settleMarks(in: record, counted: counted)
        outcome.changed = try self.messages(changed, of: record)
        outcome.members = Self.latest(people)
        return outcome
    }

    private struct Part {
        /// What is not known, oldest first.
        var new: [TimelineEvent] = []
        /// Whether nothing is missing between it and what is in front of the gap, or behind it.
        var meetsFront: Bool
        var meetsBehind = false
        /// How many messages are new.
        var count: Int { new.count { $0.message != nil } }
    }

    /// - Returns: nil if a message of it is known to be elsewhere, or there is nothing new in it.
    private func part(
        of events: [TimelineEvent], in gap: TimelineGap, of record: RoomRecord, followsOn: Bool
    ) throws -> Part? {
        var part = Part(meetsFront: followsOn)
        let places = EventPlaces(record: record, db: db)
        for event in events where !part.meetsBehind {
            guard let id = event.id else { continue }
            if event.message == nil {
                if try places.place(of: id) == nil { part.new.append(event) }
            } else if let known = try places.message(id) {
                let isBehind = known >= gap.position
                let isElsewhere = try TimelineGap.lies(
                    between: min(known, gap.position), and: isBehind ? known + 1 : gap.position, in: record, db)
                if isElsewhere { return nil }
                if isBehind { part.meetsBehind = true } else if part.count == 0 { part.meetsFront = true }
            } else {
                part.new.append(event)
            }
        }
        return part.count == 0 && !followsOn && !(part.meetsFront && part.meetsBehind) ? nil : part
    }

    /// The position before which it goes; nil if there is no room left.
    private func end(of part: Part, in gap: TimelineGap, of record: RoomRecord) throws -> Int64? {
        let front = try EventPlaces(record: record, db: db).lastMessage(before: gap.position)?.position
        // A gap before this one with nothing known between: what does not meet what is behind may belong in front of it.
        let gapInFront = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT max(position) FROM gap WHERE room = ? AND position < ?"),
            arguments: [record.key, gap.position])
        if let gapInFront, gapInFront > front ?? .min, !part.meetsBehind { return nil }
        let count = Int64(part.count)
        // What is no message and stands right before the gap came behind it; what is farther, before what is missing.
        let silent = try EventPlaces(record: record, db: db).lastSilent(before: gap.position - 1)
        let first = [front, gapInFront, silent].compactMap { $0 }.max() ?? gap.position - 2 * Self.reserve
        let end: Int64 =
            if part.meetsBehind {
                gap.position
            } else if part.meetsFront, front != nil {
                first + 1 + count
            } else {
                first + (gap.position - first + count) / 2
            }
        return end - count > first && (end < gap.position || part.meetsBehind) ? end : nil
    }
}
