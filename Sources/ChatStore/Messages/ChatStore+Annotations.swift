public import ChatCore
public import Foundation
import GRDB

extension ChatStore {
    /// Returns the earlier versions of a message, oldest first; empty if it was never edited.
    /// - Throws: ``ChatError/notFound``.
    public func revisions(of message: MessageID, in room: RoomID) async throws -> [MessageRevision] {
        try await read { db in
            let record = try RoomRecord.get(room, in: db)
            let position = try MessageQuery(room: record).get(message, in: db).position
            return try EditHistory(key: MessageKey(room: record.key, position: position).raw, db: db).revisions
        }
    }

    /// Adds or removes a reaction.
    ///
    /// - Parameters:
    ///   - text: An emoji, or a short text.
    ///   - id: The backend's identifier of the reaction.
    /// - Returns: The changed message, or `nil` if nothing changed.
    /// - Throws: ``ChatError/notFound`` if there is no such message or it was deleted.
    public func setReaction(
        _ text: String, isAdded: Bool, to message: MessageID, in room: RoomID, by member: MemberID, at date: Date,
        id: String? = nil
    ) async throws -> Message? {
        try await write { db in
            let record = try RoomRecord.get(room, in: db)
            let found = try MessageQuery(room: record).get(message, in: db)
            guard !found.isDeleted, found.event == nil else { throw ChatError.notFound }
            return try MessageEditor(record: record, db: db)
                .setReaction(text, isAdded: isAdded, to: found, by: member, at: date, id: id)
        }
    }

    /// Applies a read receipt; it never moves backwards.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func setReceipt(_ receipt: ReadReceipt, in room: RoomID) async throws {
        try await writeCache { db in
            _ = try ReceiptStore(record: RoomRecord.get(room, in: db), db: db).apply([receipt])
        }
    }

    /// Returns the known read receipts of members.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func receipts(in room: RoomID) async throws -> [ReadReceipt] {
        try await read { db in
            try ReceiptStore(record: RoomRecord.get(room, in: db), db: db).all
        }
    }

    /// Returns the backend's identifier of a reaction, if any.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func reactionID(
        _ text: String, to message: MessageID, in room: RoomID, by member: MemberID
    ) async throws -> String? {
        try await read { db in
            let record = try RoomRecord.get(room, in: db)
            return try String.fetchOne(
                db,
                sql: """
                    SELECT r.id FROM reaction r JOIN message m ON m.key = r.message JOIN user u ON u.key = r.sender
                    WHERE m.room = ? AND m.id = ? AND r.text = ? AND u.id = ?
                    """, arguments: [record.key, message.rawValue, text, member.rawValue])
        }
    }
}
