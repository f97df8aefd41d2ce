import ChatCore
import Foundation
import GRDB

/// How far the members of one room have read, but for the user.
struct ReceiptBook {
    let record: RoomRecord
    let db: Database

    /// Takes in receipts. They go forward only; one for a message that is not known waits for it, unless its reader is
    /// somewhere already.
    /// - Returns: the messages that have other readers than before.
    func take(_ receipts: [ReadReceipt]) throws -> Set<MessageID> {
        var changed: Set<MessageID> = []
        for receipt in receipts {
            let position = try MessageQuery(room: record).find(receipt.message, in: db)?.position
            changed.formUnion(try move(receipt, to: position))
        }
        return changed
    }

    /// Who says something has read all that was said before.
    func note(_ message: NewMessage, at position: Int64) throws -> Set<MessageID> {
        try move(ReadReceipt(member: message.sender, message: message.id, readAt: message.sentAt), to: position)
    }

    /// Receipts that waited for a message stand at it.
    func settle(at message: MessageID) throws {
        try db.cachedStatement(
            sql: """
                UPDATE receipt SET position = (SELECT key - ?3 FROM message WHERE room = ?1 AND id = ?2)
                WHERE room = ?1 AND message = ?2 AND position IS NULL
                """
        ).execute(arguments: [record.key, message.rawValue, MessageKey(room: record.key, position: 0).raw])
    }

    private func move(_ receipt: ReadReceipt, to position: Int64?) throws -> Set<MessageID> {
        let known = try Row.fetchOne(
            db.cachedStatement(
                sql: "SELECT message, position FROM receipt WHERE room = ? AND member = ?"),
            arguments: [record.key, receipt.member.rawValue])
        let before: Int64? = try known?.optional("position")
        if let before, position.map({ $0 <= before }) ?? true { return [] }
        try db.cachedStatement(
            sql: """
                INSERT INTO receipt (room, member, message, readAt, position) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (room, member) DO UPDATE
                SET message = excluded.message, readAt = excluded.readAt, position = excluded.position
                """
        ).execute(arguments: [
            record.key, receipt.member.rawValue, receipt.message.rawValue, receipt.readAt.milliseconds, position,
        ])
        guard position != nil else { return [] }
        var messages: Set<MessageID> = [receipt.message]
        if before != nil, let old: MessageID = try known?.identifier("message") { messages.insert(old) }
        // Nobody is shown at what they said themselves.
        return try messages.filter { try !isBy(receipt.member, $0) }
    }

    private func isBy(_ member: MemberID, _ message: MessageID) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(
                sql: "SELECT u.id = ? FROM message m JOIN user u ON u.key = m.sender WHERE m.room = ? AND m.id = ?"),
            arguments: [member.rawValue, record.key, message.rawValue]) ?? false
    }

    /// Tells of each message who stands there. What all others have read costs no more than what a hundred have.
    /// - Parameter messages: in the order of their positions.
    func addReaders(to messages: inout [Message]) throws {
        guard let first = messages.first?.position, let last = messages.last?.position else { return }
        let statement = try db.cachedStatement(
            sql: """
                SELECT member, message, readAt, position FROM receipt
                WHERE room = ? AND position >= ? AND position <= ? ORDER BY position, readAt DESC
                """)
        var place = messages.startIndex
        var start = first
        while start <= last {
            var next: Int64?
            let rows = try Row.fetchCursor(statement, arguments: [record.key, start, last])
            while let row = try rows.next() {
                let position: Int64 = try row.value("position")
                while place < messages.endIndex, messages[place].position < position { place += 1 }
                guard place < messages.endIndex else { return }
                guard messages[place].position == position else { continue }
                let member: MemberID = try row.identifier("member")
                // Whoever said it has read it, which its place tells already.
                guard member != messages[place].sender else { continue }
                guard messages[place].readers.count < Message.mostReaders else {
                    next = position + 1
                    break
                }
                messages[place].readers.append(
                    ReadReceipt(member: member, message: messages[place].id, readAt: try row.date("readAt")))
            }
            guard let next else { return }
            start = next
        }
    }
}
