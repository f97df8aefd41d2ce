import ChatCore
import Foundation
import GRDB

/// How far the members of one room have read, but for the user.
///
/// A reader stands at a message, or behind it where what was read is no message: whoever stands between two messages is
/// shown at the first.
struct ReceiptBook {
    let record: RoomRecord
    let db: Database

    private var places: EventPlaces { EventPlaces(record: record, db: db) }
    private var awaited: AwaitedMarks { AwaitedMarks(record: record, db: db) }

    /// Takes in receipts. They go forward only; one for what is not known waits for it.
    /// - Returns: the messages that have other readers than before.
    func take(_ receipts: [ReadReceipt]) throws -> Set<MessageID> {
        var changed: Set<MessageID> = []
        for receipt in receipts {
            if let place = try places.place(of: receipt.message) {
                changed.formUnion(try move(receipt, to: place))
            } else {
                try awaited.add(receipt)
            }
        }
        return changed
    }

    /// Who says something has read all that was said before.
    func note(_ message: NewMessage, at position: Int64) throws -> Set<MessageID> {
        try move(ReadReceipt(member: message.sender, message: message.id, readAt: message.sentAt), to: position)
    }

    /// Receipts that waited for something stand at it.
    /// - Returns: the messages that have other readers than before.
    func settle(at event: MessageID, _ place: Int64) throws -> Set<MessageID> {
        try awaited.take(at: event).reduce(into: []) { changed, receipt in
            changed.formUnion(try move(receipt, to: place))
        }
    }

    /// The message at which those are shown who have read farther than it, but not as far as to a position; nil if there
    /// is none of either.
    func bearer(before position: Int64) throws -> MessageID? {
        guard let last = try places.lastMessage(before: position) else { return nil }
        let stands = try Bool.fetchOne(
            db.cachedStatement(
                sql: "SELECT 1 FROM receipt WHERE room = ? AND position > ? AND position < ? LIMIT 1"),
            arguments: [record.key, last.position, position])
        return stands == nil ? nil : last.id
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
        let messages = try [before, position].compactMap { place in
            try place.flatMap { try places.lastMessage(before: $0 + 1)?.id }
        }
        // Nobody is shown at what they said themselves.
        return try Set(messages).filter { try !isBy(receipt.member, $0) }
    }

    private func isBy(_ member: MemberID, _ message: MessageID) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(
                sql: "SELECT u.id = ? FROM message m JOIN user u ON u.key = m.sender WHERE m.room = ? AND m.id = ?"),
            arguments: [member.rawValue, record.key, message.rawValue]) ?? false
    }

    /// Tells of each message who stands there. What all others have read costs no more than what a hundred have.
    /// - Parameter messages: in the order of their positions, with none of the room's between them left out.
    func addReaders(to messages: inout [Message]) throws {
        guard let first = messages.first?.position, let last = messages.last?.position else { return }
        let statement = try db.cachedStatement(
            sql: """
                SELECT member, message, readAt, position FROM receipt
                WHERE room = ? AND position >= ? AND position < ? ORDER BY position, readAt DESC
                """)
        let end = try places.nextMessage(after: last) ?? .max
        var place = messages.startIndex
        var start = first
        while start < end {
            var next: Int64?
            let rows = try Row.fetchCursor(statement, arguments: [record.key, start, end])
            while let row = try rows.next() {
                let position: Int64 = try row.value("position")
                while place + 1 < messages.endIndex, messages[place + 1].position <= position { place += 1 }
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
            guard let next else { break }
            start = next
        }
        // Several places may be one message's.
        for place in messages.indices where messages[place].readers.count > 1 {
            messages[place].readers.sort { $0.readAt > $1.readAt }
        }
    }
}
