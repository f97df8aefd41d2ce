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
        var changed: Set<MessageID> = []
        let events = try messages(of: stretch.events, in: record, &changed)
        guard let part = try part(of: events, in: gap, of: record, followsOn: followsOn),
            let end = try end(of: part, in: gap, of: record)
        else { return nil }
        var outcome = RoomOutcome(room: record.room.id)
        var people = try put(members, into: record)
        var writer = try MessageWriter(to: record, allowingThoseWhoLeft: true, before: end, in: db)
        var start = end
        for event in part.new.reversed() {
            guard let message = event.message else { continue }
            people += try putSender(of: message, into: record)
            start = try writer.prepend(message).position
        }
        try writer.finish()
        try finish(part.new, of: events, before: gap, in: record, &changed)
        try gap.remove(from: record, db)
        if !part.meetsBehind {
            try TimelineGap(position: gap.position, token: gap.token, forward: stretch.newer).insert(into: record, db)
        }
        if !part.meetsFront, let older = stretch.older {
            try TimelineGap(position: start, token: older, forward: gap.forward).insert(into: record, db)
        }
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
    }

    /// - Returns: nil if a message of it is known to be elsewhere, or there is nothing new in it.
    private func part(
        of events: [TimelineEvent], in gap: TimelineGap, of record: RoomRecord, followsOn: Bool
    ) throws -> Part? {
        var part = Part(meetsFront: followsOn)
        for event in events where !part.meetsBehind {
            guard let message = event.message else { continue }
            if let known = try MessageQuery(room: record).find(message.id, in: db)?.position {
                let isBehind = known >= gap.position
                let isElsewhere = try TimelineGap.lies(
                    between: min(known, gap.position), and: isBehind ? known + 1 : gap.position, in: record, db)
                if isElsewhere { return nil }
                if isBehind { part.meetsBehind = true } else if part.new.isEmpty { part.meetsFront = true }
            } else {
                part.new.append(event)
            }
        }
        return part.new.isEmpty && !followsOn && !(part.meetsFront && part.meetsBehind) ? nil : part
    }

    /// The position before which it goes; nil if there is no room left.
    private func end(of part: Part, in gap: TimelineGap, of record: RoomRecord) throws -> Int64? {
        let front = try MessageQuery(room: record).page(before: gap.position, limit: 1, in: db).messages.last?.position
        // A gap before this one with nothing known between: what does not meet what is behind may belong in front of it.
        let gapInFront = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT max(position) FROM gap WHERE room = ? AND position < ?"),
            arguments: [record.key, gap.position])
        if let gapInFront, gapInFront > front ?? .min, !part.meetsBehind { return nil }
        let count = Int64(part.new.count)
        let first = [front, gapInFront].compactMap { $0 }.max() ?? gap.position - 2 * Self.reserve
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
