import ChatCore
import Foundation
import GRDB

/// Staged rooms, which lists and searches exclude by their setting: an import is filling them, or they are removed in
/// the background.
struct StagedRooms {
    static let setting = "staged"

    /// An SQL condition: the room `r` is not staged.
    static let isShown = """
        NOT EXISTS (SELECT 1 FROM roomSetting WHERE room = r.key AND name = '\(setting)')
        """

    /// How many messages or other rows are removed at once, for which other writes wait some 0.1 s.
    static let removedRows = 2000

    /// Begins the identifiers of the rooms that a sync has left. No other room has it: those of Matrix begin with an
    /// exclamation mark, and those of the local backend and of imports are UUIDs.
    private static let leftPrefix = "left-"

    static let selectBetween = "SELECT id FROM room WHERE id >= ? AND id < ?"

    let db: Database

    /// The identifiers of all staged rooms.
    var all: [RoomID] {
        get throws {
            try String.fetchAll(
                db, sql: "SELECT r.id FROM roomSetting s JOIN room r ON r.key = s.room WHERE s.name = ?",
                arguments: [Self.setting]
            ).map { RoomID($0) }
        }
    }

    /// The identifiers of rooms that a sync has left, and whose history has not been removed yet. By their prefix: a
    /// repair may have lost their setting.
    var left: [RoomID] {
        get throws {
            // No identifier has the last code point: those in between begin with the prefix.
            let (first, last) = (Self.leftPrefix, Self.leftPrefix + "\u{10FFFF}")
            return try String.fetchAll(db.cachedStatement(sql: Self.selectBetween), arguments: [first, last])
                .map { RoomID($0) }
        }
    }

    /// Makes the rooms of ``left`` staged ones again where a repair has lost their setting, before they are removed.
    /// - Returns: All of them.
    func stageLeft() throws -> [RoomID] {
        let left = try self.left
        for id in left {
            let record = try RoomRecord.get(id, in: db)
            if try !isStaged(record) { try RoomTable(db: db).stage(record, as: id) }
        }
        return left
    }

    private func isStaged(_ room: RoomRecord) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT 1 FROM roomSetting WHERE room = ? AND name = ?"),
            arguments: [room.key, Self.setting]) != nil
    }

    var keys: Set<Int64> {
        get throws {
            Set(
                try Int64.fetchAll(
                    db.cachedStatement(sql: "SELECT room FROM roomSetting WHERE name = ?"), arguments: [Self.setting]))
        }
    }

    /// Returns a staged room.
    /// - Throws: ``ChatError/notFound`` if there is no such room, ``ChatError/notPermitted`` if it is not staged.
    func room(_ id: RoomID) throws -> RoomRecord {
        let record = try RoomRecord.get(id, in: db)
        guard try isStaged(record) else { throw ChatError.notPermitted }
        return record
    }

    /// Appends messages that the room does not have, oldest first.
    /// - Returns: The number of appended messages.
    func append(_ messages: [NewMessage], edited: [MessageID: Date], to room: RoomRecord) throws -> Int {
        var writer = try MessageWriter(to: room, allowingFormerMembers: true, in: db)
        let existenceQuery = try db.cachedStatement(sql: "SELECT 1 FROM message WHERE room = ? AND id = ?")
        let editUpdate = try db.cachedStatement(sql: "UPDATE message SET editedAt = ? WHERE room = ? AND id = ?")
        var count = 0
        for new in messages {
            guard try Bool.fetchOne(existenceQuery, arguments: [room.key, new.id.rawValue]) == nil else { continue }
            _ = try writer.append(new)
            if let date = edited[new.id] {
                try editUpdate.execute(arguments: [date.milliseconds, room.key, new.id.rawValue])
            }
            count += 1
        }
        try writer.finish()
        return count
    }

    /// - Returns: Whether the change had an effect.
    func apply(_ change: ImportedChange, in room: RoomRecord) throws -> Bool {
        guard let message = try MessageQuery(room: room).find(change.message, in: db), !message.isDeleted else {
            return false
        }
        let editor = MessageEditor(record: room, db: db)
        switch change.kind {
        case .reaction(let text):
            guard ChatLimits.isValidReaction(text) else { return false }
            _ = try editor.setReaction(text, isAdded: true, to: message, by: change.member, at: change.at, id: nil)
        case .edit(let wording):
            guard message.sender == change.member,
                ChatLimits.isValidMessage(wording.text, attachments: message.attachments.count)
            else { return false }
            _ = try editor.edit(message, to: wording, at: change.at)
        }
        return true
    }

    /// Turns a staged room into an ordinary one, with all messages marked as read.
    func show(_ room: RoomRecord, named name: String) throws {
        try RoomSetting(Self.setting).set(nil, of: room, in: db)
        try db.execute(
            sql: "UPDATE room SET name = ?, unread = 0, readUpTo = ? WHERE key = ?",
            arguments: [name, try room.ends(in: db)?.last.position, room.key])
    }

    /// Removes a room that the user has left: a long history later, see `ChatStore.removeLeftRooms(_:)`.
    func leave(_ room: RoomRecord) throws {
        let isLong = try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT 1 FROM message WHERE key BETWEEN ? AND ? LIMIT 1 OFFSET ?"),
            arguments: [room.keys.lowerBound, room.keys.upperBound, Self.removedRows])
        let table = RoomTable(db: db)
        guard isLong != nil else { return try table.remove(room) }
        try table.stage(room, as: RoomID(Self.leftPrefix + UUID().uuidString.lowercased()))
    }

    /// Removes the newest messages, or else other rows of which a room may have many.
    /// - Returns: Whether there were any.
    func removeHistory(of room: RoomRecord) throws -> Bool {
        try db.execute(
            sql: """
                DELETE FROM message WHERE key IN (
                    SELECT key FROM message WHERE key BETWEEN ? AND ? ORDER BY key DESC LIMIT ?)
                """, arguments: [room.keys.lowerBound, room.keys.upperBound, Self.removedRows])
        if db.changesCount > 0 { return true }
        for (table, id) in [("silent", "event"), ("sealed", "event"), ("avatar", "member"), ("receipt", "member")] {
            try db.execute(
                sql: """
                    DELETE FROM \(table) WHERE room = ?1 AND \(id) IN (
                        SELECT \(id) FROM \(table) WHERE room = ?1 LIMIT ?2)
                    """, arguments: [room.key, Self.removedRows])
            if db.changesCount > 0 { return true }
        }
        return false
    }
}
