import ChatCore
import GRDB

extension RoomSync {
    /// Fills a gap backwards from its end; see ``ChatStore/fill(_:in:with:members:next:without:)``.
    /// - Parameter isSynced: Whether a sync brought the events, rather than a request for history.
    func fill(
        _ gap: TimelineGap, in record: RoomRecord, with events: [TimelineEvent], _ members: [Member],
        next token: String?, without ignored: Set<MemberID> = [], isSynced: Bool = false
    ) throws -> RoomChange? {
        guard let gap = try TimelineGap.find(gap, in: record, db) else { return nil }
        let counted = try counted(in: record)
        var roomChange = RoomChange(room: record.room.id)
        var changedMembers = try put(members, into: record)
        var changed: Set<MessageID> = []
        let events = try messages(of: events, in: record, &changed)
        let positions = EventPositions(record: record, db: db)
        let front = try positions.lastMessage(before: gap.position)?.position
        if let receiptTarget = try ReceiptStore(record: record, db: db).receiptTarget(before: gap.position) {
            changed.insert(receiptTarget)
        }
        var writer = try HistoryWriter(to: record, before: gap.position, isSynced: isSynced, arrivedAt: now, db)
        var isClosed = token == nil
        for (index, event) in events.enumerated().reversed() {
            guard let id = event.id else { continue }
            if let start = try positions.start(of: id) {
                // At or after the end of the gap the event is a duplicate; the missing messages may still follow.
                guard start < writer.position else { continue }
                // The chunk reaches the last message before the gap: the gap is closed, along with adjacent gaps that
                // have only this one after them.
                let isRightInFront = try front.map { try positions.position(of: id) ?? start >= $0 } ?? true
                // Otherwise the event may lie beyond another gap, from a server with wrong timestamps.
                guard try isRightInFront || !TimelineGap.lies(between: start, and: gap.position, in: record, db) else {
                    continue
                }
                // Or the server's order has changed, and events that it now places before this one are still
                // missing.
                if try rest(before: events[...index], in: record) == .otherwise { continue }
                if isRightInFront { try TimelineGap.remove(between: start, and: gap.position, from: record, db) }
                isClosed = true
                break
            }
            if let message = event.message { changedMembers += try put(sender: message.sender, into: record) }
            changed.formUnion(try writer.prepend(event))
        }
        try writer.finish()
        try finish(writer.new, of: events, before: gap, in: record, &changed)
        try IncompleteHistory(record: record, db: db).add(from: front, without: ignored)
        try gap.remove(from: record, db)
        if !isClosed, let token {
            try TimelineGap(position: writer.position, token: token, forward: gap.forward).insert(into: record, db)
        }
        changed.formUnion(try EncryptionStart(record: record, db: db).unmark())
        try updateReadMarkers(in: record, counted: counted)
        roomChange.changed = try messages(changed, of: record)
        roomChange.members = Self.latest(changedMembers)
        return roomChange
    }

    /// Completes newly stored history: applies the changes of its messages and updates the unread count.
    func finish(
        _ new: [TimelineEvent], of events: [TimelineEvent], before gap: TimelineGap, in record: RoomRecord,
        _ changed: inout Set<MessageID>
    ) throws {
        for event in new {
            if let message = event.message { changed.insert(message.id) }
            try finish(event, in: record, &changed)
        }
        // Read the position again: a read marker may have been waiting for one of the new events.
        let read = try RoomRecord.find(record.key, in: db)?.fullyReadPosition ?? .min
        if !new.isEmpty, gap.position > read { try record.refreshUnread(after: read, in: db) }
        try apply(changesOf: events, in: record, &changed)
    }
}
