public import ChatCore
public import Foundation
import GRDB

/// Staged rooms: rooms that an import is filling, which lists and searches exclude by ``stagedSetting``.
extension ChatStore {
    static let stagedSetting = "staged"
    /// The room setting with the conversation's identifier in the program that it was imported from.
    public static let importSource = "imported"

    /// Creates a staged room.
    public func createStagedRoom(_ new: NewRoom) async throws {
        var new = new
        new.settings[Self.stagedSetting] = "1"
        try await createRoom(new)
    }

    /// Appends messages and their senders to a staged room.
    ///
    /// - Parameter messages: Oldest first. Messages whose identifier the room already has are skipped.
    /// - Returns: The number of added messages. A power loss may drop them, but the next start removes the staged room
    ///   anyway.
    /// - Throws: ``ChatError/notFound`` if there is no such room, ``ChatError/notPermitted`` if it is not staged or a
    ///   sender was never a member.
    public func addStaged(
        _ messages: [NewMessage], edited: [MessageID: Date] = [:], by members: [Member], to room: RoomID
    ) async throws -> Int {
        try await writeCache { db in
            let record = try RoomRecord.get(room, in: db)
            guard try Self.isStaged(record, in: db) else { throw ChatError.notPermitted }
            for member in members { try Self.insert(member, into: record, in: db) }
            var writer = try MessageWriter(to: record, allowingFormerMembers: true, in: db)
            let existenceQuery = try db.cachedStatement(sql: "SELECT 1 FROM message WHERE room = ? AND id = ?")
            let editUpdate = try db.cachedStatement(sql: "UPDATE message SET editedAt = ? WHERE room = ? AND id = ?")
            var count = 0
            for new in messages {
                guard try Bool.fetchOne(existenceQuery, arguments: [record.key, new.id.rawValue]) == nil else {
                    continue
                }
                _ = try writer.append(new)
                if let date = edited[new.id] {
                    try editUpdate.execute(arguments: [date.milliseconds, record.key, new.id.rawValue])
                }
                count += 1
            }
            try writer.finish()
            return count
        }
    }

    /// Applies changes to messages of a staged room.
    ///
    /// - Returns: The changes without effect: of unknown or deleted messages, edits by others than the sender, and
    ///   invalid reactions or messages.
    /// - Throws: ``ChatError/notFound`` if there is no such room, ``ChatError/notPermitted`` if it is not staged.
    public func changeStaged(
        _ changes: [ImportedChange], by members: [Member], in room: RoomID
    ) async throws -> [ImportedChange] {
        try await writeCache { db in
            let record = try RoomRecord.get(room, in: db)
            guard try Self.isStaged(record, in: db) else { throw ChatError.notPermitted }
            for member in members { try Self.insert(member, into: record, in: db) }
            let editor = MessageEditor(record: record, db: db)
            return try changes.filter { change in try !Self.apply(change, editor) }
        }
    }

    private static func apply(_ change: ImportedChange, _ editor: MessageEditor) throws -> Bool {
        let message: Message
        do { message = try MessageQuery(room: editor.record).get(change.message, in: editor.db) } catch ChatError
            .notFound
        {
            return false
        }
        guard !message.isDeleted else { return false }
        switch change.kind {
        case .reaction(let text):
            guard ChatLimits.isValidReaction(text) else { return false }
            _ = try editor.setReaction(text, isAdded: true, to: message, by: change.member, at: change.at, id: nil)
        case .edit(let wording):
            guard change.member == message.sender,
                ChatLimits.isValidMessage(wording.text, attachments: message.attachments.count)
            else { return false }
            _ = try editor.edit(message, to: wording, at: change.at)
        }
        return true
    }

    /// Shows staged rooms under their names, marked as read, or merges their new messages into existing rooms.
    ///
    /// - Returns: The number of messages merged, by staged room.
    /// - Throws: ``ChatError/notFound`` or ``ChatError/notPermitted``; nothing is then changed.
    public func showStagedRooms(_ rooms: [FinishedImport]) async throws -> [RoomID: Int] {
        try await write { db in
            var added: [RoomID: Int] = [:]
            for room in rooms {
                let record = try RoomRecord.get(room.staged, in: db)
                if let target = room.mergedInto {
                    guard try Self.isStaged(record, in: db) else { throw ChatError.notPermitted }
                    added[room.staged] = try RoomMerge(
                        from: record, into: RoomRecord.get(target, in: db), db: db
                    ).run()
                    continue
                }
                try db.execute(
                    sql: "DELETE FROM roomSetting WHERE room = ? AND name = ?",
                    arguments: [record.key, Self.stagedSetting])
                try db.execute(
                    sql: "UPDATE room SET name = ?, unread = 0, readUpTo = ? WHERE key = ?",
                    arguments: [room.name, try record.ends(in: db)?.last.position, record.key])
            }
            return added
        }
    }

    /// Removes a staged room in batches, so that other writes need not wait for a million deletions.
    public func removeStagedRoom(_ room: RoomID) async throws {
        while try await removeStagedMessages(of: room, atMost: 2000) {}
        try await removeRoom(room)
    }

    private func removeStagedMessages(of room: RoomID, atMost count: Int) async throws -> Bool {
        try await writeCache { db in
            let record = try RoomRecord.get(room, in: db)
            guard try Self.isStaged(record, in: db) else { throw ChatError.notPermitted }
            try db.execute(
                sql: """
                    DELETE FROM message WHERE key IN (
                        SELECT key FROM message WHERE key BETWEEN ? AND ? ORDER BY key DESC LIMIT ?)
                    """, arguments: [record.keys.lowerBound, record.keys.upperBound, count])
            return db.changesCount > 0
        }
    }

    /// Returns the staged rooms, which are left over if the process ended during an import.
    public func stagedRooms() async throws -> [RoomID] {
        try await read { db in
            try String.fetchAll(
                db, sql: "SELECT r.id FROM roomSetting s JOIN room r ON r.key = s.room WHERE s.name = ?",
                arguments: [Self.stagedSetting]
            ).map { RoomID($0) }
        }
    }

    static func stagedKeys(in db: Database) throws -> Set<Int64> {
        Set(
            try Int64.fetchAll(
                db.cachedStatement(sql: "SELECT room FROM roomSetting WHERE name = ?"), arguments: [stagedSetting]))
    }

    private static func isStaged(_ record: RoomRecord, in db: Database) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT 1 FROM roomSetting WHERE room = ? AND name = ?"),
            arguments: [record.key, stagedSetting]) != nil
    }
}
