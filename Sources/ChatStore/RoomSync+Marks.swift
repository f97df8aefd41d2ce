import ChatCore
import GRDB

/// How far the user has read, and what a server counts behind that.
extension RoomSync {
    func applyReadMarkers(_ batch: RoomBatch, isNew: Bool) throws {
        let record = try RoomRecord.get(batch.id, in: db)
        let awaited = AwaitedReceipts(record: record, db: db)
        for event in batch.fullyReadMarkers { try awaited.addOwnReceipt(event) }
        try resolveOwnReceipts(in: record)
        guard batch.counted?.messages == 0, let end = try end(of: record),
            try isNew || record.fullyReadPosition == nil || awaited.hasOwnReceipt()
        else { return }
        // Read anew: the mark may have been moved.
        _ = try MessageEditor(record: RoomRecord.get(batch.id, in: db), db: db).markRead(at: end)
    }

    /// Keeps by how much the server's count differs from that of what is kept: so much of what is missing is unread, or
    /// was read or deleted by what is missing.
    func note(_ counted: UnreadCount?, isMissing: Bool, in record: RoomRecord) throws {
        if let counted {
            let storedCount = try record.unread(in: db)
            try db.cachedStatement(sql: "INSERT OR REPLACE INTO unseen VALUES (?, ?, ?)").execute(arguments: [
                record.key, counted.messages - storedCount.messages, counted.mentions - storedCount.mentions,
            ])
        } else if isMissing {
            try db.execute(sql: "DELETE FROM unseen WHERE room = ?", arguments: [record.key])
        }
    }

    /// Moves the user's mark to the farthest of those events that were told to be read and are known by now.
    func resolveOwnReceipts(in record: RoomRecord) throws {
        guard let position = try AwaitedReceipts(record: record, db: db).resolveOwnReceipts() else { return }
        // Read anew: what was appended may be what was read.
        guard let record = try RoomRecord.find(record.key, in: db) else { return }
        _ = try MessageEditor(record: record, db: db).markRead(at: position)
    }

    /// The end of what is known; nil in a room of which nothing is.
    private func end(of record: RoomRecord) throws -> Int64? {
        let gap = try TimelineGap.last(in: record, db).map { $0.position - 1 }
        let message = try record.ends(in: db)?.last.position
        return [gap, message].compactMap { $0 }.max()
    }

    /// What a server counted; nil if it did not. Whatever of what is missing is fetched, it stays that.
    func counted(in record: RoomRecord) throws -> UnreadCount? {
        let unseen = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT unread, mentions FROM unseen WHERE room = ?"), arguments: [record.key])
        guard let unseen else { return nil }
        var count = try record.unread(in: db)
        count.messages += try unseen.value("unread")
        count.mentions += try unseen.value("mentions")
        return count
    }

    /// What was missing is there now, or some of it.
    ///
    /// - Parameter counted: what a server had counted before.
    func updateReadMarkers(in record: RoomRecord, counted: UnreadCount?) throws {
        try resolveOwnReceipts(in: record)
        if let counted { try moveUnresolvedMarker(in: record, counted) }
        try note(counted, isMissing: false, in: record)
    }

    /// Where a server said that nothing was unread, and nothing of what it left out was known, the mark lies at no event.
    /// What was said before it may have come behind it: of all that, the newest are unread, as many as the server says.
    private func moveUnresolvedMarker(in record: RoomRecord, _ counted: UnreadCount) throws {
        guard let record = try RoomRecord.find(record.key, in: db), let read = record.fullyReadPosition,
            try record.unread(in: db).messages > counted.messages,
            try TimelineGap.last(in: record, db).map({ $0.position <= read + 1 }) ?? true,
            try !EventPositions(record: record, db: db).isOccupied(read),
            let position = try record.unreadMessage(after: read, skipping: counted.messages, in: db)
        else { return }
        _ = try MessageEditor(record: record, db: db).markRead(at: position)
    }
}
