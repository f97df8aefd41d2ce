import ChatCore
import Foundation
import GRDB

/// The read receipts of a room's members, except for the user's own.
///
/// A receipt has the position of its event (see ``EventPositions``) and is shown at the last message up to there that
/// is not hidden.
struct ReceiptStore {
    let record: RoomRecord
    let db: Database

    private var positions: EventPositions { EventPositions(record: record, db: db) }
    private var awaited: AwaitedReceipts { AwaitedReceipts(record: record, db: db) }

    /// The known receipts, each as it was received last.
    var all: [ReadReceipt] {
        get throws {
            try Row.fetchAll(
                db, sql: "SELECT member, message, readAt FROM receipt WHERE room = ?", arguments: [record.key]
            ).map { row in
                ReadReceipt(
                    member: try row.identifier("member"), message: try row.identifier("message"),
                    readAt: try row.date("readAt"))
            }
        }
    }

    /// Applies receipts. They only move forward; one for an unknown event waits for it.
    /// - Returns: The messages whose receipts changed.
    func apply(_ receipts: [ReadReceipt]) throws -> Set<MessageID> {
        var changed: Set<MessageID> = []
        for receipt in receipts {
            if let position = try positions.position(of: receipt.message) {
                changed.formUnion(try move(receipt, to: position))
            } else {
                try awaited.add(receipt)
            }
        }
        return changed
    }

    /// Sending a message implies having read everything before it.
    func note(_ message: NewMessage, at position: Int64) throws -> Set<MessageID> {
        try move(ReadReceipt(member: message.sender, message: message.id, readAt: message.sentAt), to: position)
    }

    /// Moves the receipts that were waiting for an event to its position.
    /// - Returns: The messages whose receipts changed.
    func resolve(at event: MessageID, _ position: Int64) throws -> Set<MessageID> {
        try awaited.removeReceipts(at: event).reduce(into: []) { changed, receipt in
            changed.formUnion(try move(receipt, to: position))
        }
    }

    /// Returns the last message before a position that is not hidden if any receipts lie between the two or at a hidden
    /// message, otherwise `nil`.
    func receiptTarget(before position: Int64) throws -> MessageID? {
        guard let last = try positions.lastShownMessage(before: position), let start = try positions.message(last)
        else { return nil }
        let stands = try Bool.fetchOne(
            db.cachedStatement(
                sql: "SELECT 1 FROM receipt WHERE room = ? AND position > ? AND position < ? LIMIT 1"),
            arguments: [record.key, start, position])
        return stands == nil ? nil : last
    }

    private func move(_ receipt: ReadReceipt, to position: Int64) throws -> Set<MessageID> {
        let before = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT position FROM receipt WHERE room = ? AND member = ?"),
            arguments: [record.key, receipt.member.rawValue])
        if let before, position <= before { return [] }
        try db.cachedStatement(
            sql: """
                INSERT INTO receipt (room, member, message, readAt, position) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (room, member) DO UPDATE
                SET message = excluded.message, readAt = excluded.readAt, position = excluded.position
                """
        ).execute(arguments: [
            record.key, receipt.member.rawValue, receipt.message.rawValue, receipt.readAt.milliseconds, position,
        ])
        let messages = try [before, position].compactMap { candidate in
            try candidate.flatMap { try positions.lastShownMessage(before: $0 + 1) }
        }
        // Receipts are not shown on the member's own messages.
        return try Set(messages).filter { try !isBy(receipt.member, $0) }
    }

    private func isBy(_ member: MemberID, _ message: MessageID) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(
                sql: "SELECT u.id = ? FROM message m JOIN user u ON u.key = m.sender WHERE m.room = ? AND m.id = ?"),
            arguments: [member.rawValue, record.key, message.rawValue]) ?? false
    }

    /// Adds receipts to messages, without those of ignored users. Reads about ``Message/maxReadReceipts`` rows per
    /// message at most.
    /// - Parameter messages: A contiguous part of the timeline, sorted by position.
    func addReadReceipts(to messages: inout [Message]) throws {
        guard let first = messages.first?.position, let last = messages.last?.position else { return }
        let statement = try db.cachedStatement(
            sql: """
                SELECT member, message, readAt, position FROM receipt
                WHERE room = ? AND position >= ? AND position < ?
                    AND NOT EXISTS (
                        SELECT 1 FROM user u JOIN ignoredUser i ON i.user = u.key WHERE u.id = receipt.member)
                ORDER BY position, readAt DESC
                """)
        let end = try positions.nextShownMessage(after: last) ?? .max
        var index = messages.startIndex
        var start = first
        while start < end {
            var next: Int64?
            let rows = try Row.fetchCursor(statement, arguments: [record.key, start, end])
            while let row = try rows.next() {
                let position: Int64 = try row.value("position")
                while index + 1 < messages.endIndex, messages[index + 1].position <= position { index += 1 }
                let member: MemberID = try row.identifier("member")
                // Senders have obviously read their own message.
                guard member != messages[index].sender else { continue }
                guard messages[index].readReceipts.count < Message.maxReadReceipts else {
                    next = position + 1
                    break
                }
                messages[index].readReceipts.append(
                    ReadReceipt(member: member, message: messages[index].id, readAt: try row.date("readAt")))
            }
            guard let next else { break }
            start = next
        }
        // Receipts at several positions may have been added to the same message.
        for index in messages.indices where messages[index].readReceipts.count > 1 {
            messages[index].readReceipts.sort { $0.readAt > $1.readAt }
        }
    }
}
