public import ChatCore
public import Foundation
import GRDB

/// Rooms that are being filled and that nobody sees yet. Lists and searches leave them out by the setting that marks
/// them.
extension ChatStore {
    static let stagedSetting = "staged"
    /// What the program that a room was imported from calls it.
    public static let importSource = "imported"

    /// Makes a room that is in no list and in no search.
    public func createStagedRoom(_ new: NewRoom) async throws {
        var new = new
        new.settings[Self.stagedSetting] = "1"
        try await createRoom(new)
    }

    /// Adds messages to a room that is not shown yet, after those that are in it, and those who sent them.
    ///
    /// - Parameter messages: oldest first. Those whose identifier the room has are left out.
    /// - Returns: how many were added. After a loss of power they may be missing, as the whole room then goes.
    /// - Throws: ``ChatError/notFound`` without the room, ``ChatError/notPermitted`` if it is shown or a sender was
    ///   never in it.
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

    /// Changes messages of a room that is not shown yet.
    ///
    /// - Returns: the changes of messages that are not there or were deleted, edits by others than the sender, and
    ///   texts that are no reactions or no messages.
    /// - Throws: ``ChatError/notFound`` without the room, ``ChatError/notPermitted`` if it is shown.
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

    /// Shows rooms under their names, all that is in them read, or adds what is new in them to others.
    ///
    /// - Returns: how many messages each of the others got, by the room that they were in.
    /// - Throws: ``ChatError/notFound``; none is shown or changed then.
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

    /// Removes a room that is not shown, piece by piece: what is being said elsewhere does not wait for a million
    /// messages.
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

    /// The rooms that were not shown when the process ended.
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
