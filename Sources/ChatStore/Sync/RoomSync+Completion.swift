import ChatCore
import GRDB

/// Messages that are missing between stored ones, without a gap. They are inserted, and what is behind them moves.
extension RoomSync {
    /// Inserts the messages that the server left out; see ``ChatStore/complete(_:with:before:older:by:members:)``.
    func complete(
        _ record: RoomRecord, with events: [TimelineEvent], before end: HistoryEnd, older token: String?,
        by senders: Set<MemberID>, _ members: [Member]
    ) throws -> HistoryCompletion {
        guard let part = try IncompleteHistory(record: record, db: db).find(among: senders) else {
            return HistoryCompletion(remainder: .nothing)
        }
        let counted = try counted(in: record)
        var changed: Set<MessageID> = []
        var changedMembers = try put(members, into: record)
        let events = try messages(of: events, in: record, &changed)
        var runs = MissingRuns(of: part, in: record, db)
        let remainder = try runs.find(in: events, before: end, older: token)
        var isWhole = runs.areWhole
        var new: [TimelineEvent] = []
        for group in runs.groups {
            guard try makePlace(for: group, in: record) else {
                isWhole = false
                continue
            }
            for (index, run) in group.enumerated() {
                // What is behind a run has moved for it and for the older ones.
                let behind = run.behind + group[index...].reduce(0) { $0 + $1.shift }
                new += try insert(run, of: runs, before: behind, into: record, &changed, &changedMembers)
            }
        }
        // They are not in a gap, but anywhere.
        try finish(new, of: events, before: TimelineGap(position: .max, token: ""), in: record, &changed)
        try refreshEnd(of: record)
        if !new.isEmpty { changed.formUnion(try EncryptionStart(record: record, db: db).unmark()) }
        try updateReadMarkers(in: record, counted: counted)
        var roomChange = RoomChange(room: record.room.id)
        roomChange.changed = try messages(changed, of: record)
        roomChange.members = Self.latest(changedMembers)
        roomChange.needsReload = !new.isEmpty
        let isUnchanged = new.isEmpty && roomChange.changed.isEmpty && roomChange.members == nil
        return HistoryCompletion(change: isUnchanged ? nil : roomChange, remainder: remainder, isWhole: isWhole)
    }

    /// Updates what the room list shows of the last message.
    private func refreshEnd(of record: RoomRecord) throws {
        try record.refreshLastMessage(in: db)
        try db.execute(
            sql: """
                UPDATE room SET lastActivity = min(?, max(
                    lastActivity, coalesce((SELECT sentAt FROM message WHERE key = lastMessage), lastActivity)))
                WHERE key = ?
                """, arguments: [now.milliseconds, record.key])
    }

    // MARK: Inserting

    /// Moves the messages behind missing ones so far that there are positions for these: up to the next gap, or if that
    /// leaves too few positions free, up to the end of the room, with the gaps.
    /// - Parameter runs: Newest first, without a gap between them.
    /// - Returns: `false` if the room has not as many positions.
    private func makePlace(for runs: [MissingRun], in record: RoomRecord) throws -> Bool {
        let total = runs.reduce(0) { $0 + $1.shift }
        guard total > 0, let newest = runs.first?.behind, let oldest = runs.last?.behind,
            var last = try record.ends(in: db)?.last.position
        else { return true }
        var end = Int64.max
        // The last position before a gap belongs to silent events behind it.
        if let gap = try TimelineGap.first(in: record, after: newest, db),
            let front = try EventPositions(record: record, db: db).lastMessage(before: gap.position)?.position,
            front + total < gap.position - 1
        {
            (last, end) = (front, front + total)
        }
        guard last + total < MessageKey.positions.upperBound else { return false }
        try move(from: oldest, to: last, for: runs, total, in: record)
        for run in runs where run.shift > 0 {
            // What has moved for a newer run moves on, as it is behind this one, too.
            let arguments: StatementArguments = [run.shift, record.key, run.behind, end]
            for table in ["silent", "receipt"] {
                try db.execute(
                    sql: "UPDATE \(table) SET position = position + ? WHERE room = ? AND position BETWEEN ? AND ?",
                    arguments: arguments)
            }
            try db.execute(
                sql: "UPDATE room SET readUpTo = readUpTo + ? WHERE key = ? AND readUpTo BETWEEN ? AND ?",
                arguments: arguments)
            try moveGaps(from: run.behind, to: end, by: run.shift, in: record)
        }
        return true
    }

    private func moveGaps(from first: Int64, to last: Int64, by shift: Int64, in record: RoomRecord) throws {
        let gaps = try Int64.fetchAll(
            db, sql: "SELECT position FROM gap WHERE room = ? AND position BETWEEN ? AND ? ORDER BY position DESC",
            arguments: [record.key, first, last])
        for gap in gaps {
            try db.execute(
                sql: "UPDATE gap SET position = position + ? WHERE room = ? AND position = ?",
                arguments: [shift, record.key, gap])
        }
    }

    /// Moves messages by the shifts of all runs that they are behind.
    private func move(
        from first: Int64, to last: Int64, for runs: [MissingRun], _ total: Int64, in record: RoomRecord
    ) throws {
        let keys = try Int64.fetchAll(
            db, sql: "SELECT key FROM message WHERE key BETWEEN ? AND ? ORDER BY key DESC",
            arguments: [
                MessageKey(room: record.key, position: first).raw, MessageKey(room: record.key, position: last).raw,
            ])
        let move = try MessageMove(db: db)
        var (distance, next) = (total, 0)
        // In descending order, so that no key is still in use.
        for key in keys {
            while next < runs.count, MessageKey(raw: key).position < runs[next].behind {
                distance -= runs[next].shift
                next += 1
            }
            if distance > 0 { try move.move(key, to: key + distance) }
        }
    }

    /// Inserts the missing events of a run.
    /// - Returns: The messages.
    private func insert(
        _ run: MissingRun, of runs: MissingRuns, before position: Int64, into record: RoomRecord,
        _ changed: inout Set<MessageID>, _ changedMembers: inout [Member]
    ) throws -> [TimelineEvent] {
        let positions = EventPositions(record: record, db: db)
        var writer = try HistoryWriter(to: record, before: position, arrivedAt: now, db)
        for event in run.events.reversed() {
            if try runs.isMissing(event) {
                if let message = event.message { changedMembers += try put(sender: message.sender, into: record) }
                changed.formUnion(try writer.prepend(event))
            } else if let id = event.id, let silent = try positions.silent(id), silent < position,
                Int64(writer.new.count) < run.count || run.gap != nil
            {
                // A silent event has the position of the message before it, which is one of these or in the gap.
                try positions.move(id, to: writer.position - 1)
            }
        }
        try writer.finish()
        if let gap = run.gap {
            let front = run.front ?? Int64.min
            // Other silent events may lie anywhere in the gap. Those who fill it would end it at the first of them.
            try db.execute(
                sql: "DELETE FROM silent WHERE room = ? AND position >= ? AND position < ?",
                arguments: [record.key, front, writer.position - 1])
            try TimelineGap(position: writer.position, token: gap).insert(into: record, db)
        }
        return writer.new
    }
}
