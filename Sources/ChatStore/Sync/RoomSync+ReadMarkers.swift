import ChatCore
import GRDB

/// The user's read position, and the server's unread count after it.
extension RoomSync {
    func applyReadMarkers(_ batch: RoomBatch, isNew: Bool) throws {
        let record = try RoomRecord.get(batch.id, in: db)
        let awaited = AwaitedReceipts(record: record, db: db)
        for event in batch.fullyReadMarkers { try awaited.addOwnReceipt(event) }
        try resolveOwnReceipts(in: record, removingMark: true)
        // Zero proves that all is read only together with a receipt: servers count no encrypted mentions, and nothing in
        // rooms that notify of mentions alone.
        guard batch.counted?.messages == 0, let end = try end(of: record),
            try isNew || record.fullyReadPosition == nil || awaited.hasOwnReceipt(at: batch.fullyReadMarkers)
        else { return }
        // Read the record again: the position may have moved above.
        _ = try MessageEditor(record: RoomRecord.get(batch.id, in: db), db: db).markRead(at: end)
    }

    /// Stores the difference between the server's unread count and the count of stored messages. A negative difference
    /// means that events missing locally mark messages as read or redact them.
    ///
    /// Stored messages of ignored users count there: a server goes on counting what it had counted before they were
    /// ignored.
    func note(_ counted: UnreadCount?, isMissing: Bool, in record: RoomRecord) throws {
        if let counted {
            let storedCount = try record.unread(in: db) + record.hiddenUnread(in: db)
            var mentions = counted.mentions - storedCount.mentions
            // The server cannot see encrypted mentions.
            if mentions < 0, try record.isEncrypted(in: db) { mentions = 0 }
            try db.cachedStatement(sql: "INSERT OR REPLACE INTO unseen VALUES (?, ?, ?)").execute(arguments: [
                record.key, counted.messages - storedCount.messages, mentions,
            ])
        } else if isMissing {
            try db.execute(sql: "DELETE FROM unseen WHERE room = ?", arguments: [record.key])
        }
    }

    /// Moves the user's read position to the last of the waiting receipts whose events are known by now.
    /// - Parameter removingMark: Whether that removes the room's unread mark.
    private func resolveOwnReceipts(in record: RoomRecord, removingMark: Bool) throws {
        guard let position = try AwaitedReceipts(record: record, db: db).resolveOwnReceipts() else { return }
        try removeUnsentMarker(upTo: position, in: record)
        // Read the record again: the newly stored events may have changed it.
        guard let record = try RoomRecord.find(record.key, in: db) else { return }
        _ = try MessageEditor(record: record, db: db).markRead(at: position, removesMark: removingMark)
    }

    /// Removes the marker that a server still has to be told if it has that one or a later one, from another device: it
    /// may let its marker move backwards.
    private func removeUnsentMarker(upTo position: Int64, in record: RoomRecord) throws {
        let unsent = try String.fetchOne(
            db.cachedStatement(sql: "SELECT message FROM unsentReadMarker WHERE room = ?"), arguments: [record.key])
        guard let unsent, let marker = try EventPositions(record: record, db: db).position(of: MessageID(unsent)),
            marker <= position
        else { return }
        try db.execute(sql: "DELETE FROM unsentReadMarker WHERE room = ?", arguments: [record.key])
    }

    /// Returns the end of the stored timeline, or `nil` for an empty one.
    private func end(of record: RoomRecord) throws -> Int64? {
        let gap = try TimelineGap.last(in: record, db).map { $0.position - 1 }
        let message = try record.ends(in: db)?.last.position
        return [gap, message].compactMap { $0 }.max()
    }

    /// Returns the server's unread count, if any. Fetching missing messages does not change it.
    func counted(in record: RoomRecord) throws -> UnreadCount? {
        let unseen = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT unread, mentions FROM unseen WHERE room = ?"), arguments: [record.key])
        guard let unseen else { return nil }
        var count = try record.unread(in: db) + record.hiddenUnread(in: db)
        count.messages += UnreadCount.clamped(try unseen.value("unread"))
        count.mentions += UnreadCount.clamped(try unseen.value("mentions"))
        return count
    }

    /// Updates the read position and the unread count after a gap was filled, completely or in part.
    ///
    /// - Parameter counted: The server's unread count before that.
    func updateReadMarkers(in record: RoomRecord, counted: UnreadCount?) throws {
        // The room may have been marked after the receipts that were waiting for the history.
        try resolveOwnReceipts(in: record, removingMark: false)
        if let counted { try moveUnresolvedMarker(in: record, counted) }
        try note(counted, isMissing: false, in: record)
    }

    /// Corrects a read position that is not at an event. It was set when the server reported no unread messages and
    /// everything up to there was missing, so older messages may have been inserted after it. Keeps as many of the
    /// newest messages unread as the server counts.
    private func moveUnresolvedMarker(in record: RoomRecord, _ counted: UnreadCount) throws {
        let shown = try max(0, counted.messages - record.hiddenUnread(in: db).messages)
        guard let record = try RoomRecord.find(record.key, in: db), let read = record.fullyReadPosition,
            try record.unread(in: db).messages > shown,
            try TimelineGap.last(in: record, db).map({ $0.position <= read + 1 }) ?? true,
            try !EventPositions(record: record, db: db).isOccupied(read),
            let position = try record.unreadMessage(after: read, skipping: shown, in: db)
        else { return }
        _ = try MessageEditor(record: record, db: db).markRead(at: position, removesMark: false)
    }
}

extension UnreadCount {
    fileprivate static func + (_ a: UnreadCount, _ b: UnreadCount) -> UnreadCount {
        UnreadCount(messages: a.messages + b.messages, mentions: a.mentions + b.mentions)
    }
}
