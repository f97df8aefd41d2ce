public import ChatCore
public import Foundation
import GRDB

extension ChatStore {
    /// What the message said before, oldest first; empty if it was never edited.
    /// - Throws: ``ChatError/notFound``.
    public func revisions(of message: MessageID, in room: RoomID) async throws -> [MessageRevision] {
        try await read { db in
            let key = try Self.key(of: message, in: room, db)
            return try Row.fetchAll(
                db, sql: "SELECT text, formatted, written, writtenAt FROM revision WHERE message = ? ORDER BY number",
                arguments: [key]
            ).map { row in
                MessageRevision(try EditHistory.wording(row), writtenAt: try row.date("writtenAt"))
            }
        }
    }

    /// Puts a reaction under a message, or takes it away.
    ///
    /// - Parameters:
    ///   - text: an emoji, or a short text.
    ///   - id: under which the backend knows the reaction.
    /// - Returns: the message as it is now; nil if nothing was changed.
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

    /// Notes how far a member has read: farther than before, or nothing changes.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func setReceipt(_ receipt: ReadReceipt, in room: RoomID) async throws {
        try await writeCache { db in
            _ = try ReceiptStore(record: RoomRecord.get(room, in: db), db: db).apply([receipt])
        }
    }

    /// How far each member has read, as far as it is known.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func receipts(in room: RoomID) async throws -> [ReadReceipt] {
        try await read { db in
            let record = try RoomRecord.get(room, in: db)
            return try Row.fetchAll(
                db, sql: "SELECT member, message, readAt FROM receipt WHERE room = ?", arguments: [record.key]
            ).map { row in
                ReadReceipt(
                    member: try row.identifier("member"), message: try row.identifier("message"),
                    readAt: try row.date("readAt"))
            }
        }
    }

    private static func key(of message: MessageID, in room: RoomID, _ db: Database) throws -> Int64 {
        let record = try RoomRecord.get(room, in: db)
        let position = try MessageQuery(room: record).get(message, in: db).position
        return MessageKey(room: record.key, position: position).raw
    }
}
