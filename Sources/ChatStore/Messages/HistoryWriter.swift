import ChatCore
import Foundation
import GRDB

/// Inserts history before a position in a room, newest first.
struct HistoryWriter {
    /// The position that the next events go before.
    private(set) var position: Int64
    /// The inserted messages, newest first.
    private(set) var new: [TimelineEvent] = []
    private var messages: MessageWriter
    private let record: RoomRecord
    private let db: Database
    private let isSynced: Bool

    /// - Parameters:
    ///   - isSynced: Whether a sync brought the events, rather than a request for history.
    ///   - now: When the events arrived.
    init(
        to record: RoomRecord, before position: Int64, isSynced: Bool = false, arrivedAt now: Date, _ db: Database
    ) throws {
        self.record = record
        self.db = db
        self.position = position
        self.isSynced = isSynced
        messages = try MessageWriter(
            to: record, allowingFormerMembers: true, before: position, arrivedAt: now, in: db)
    }

    /// Inserts an event before all those inserted so far.
    /// - Parameter event: An event that is not stored.
    /// - Returns: The messages whose receipts changed.
    mutating func prepend(_ event: TimelineEvent) throws -> Set<MessageID> {
        guard let id = event.id else { return [] }
        let eventPosition: Int64
        if let message = event.message {
            position = try messages.prepend(message, isSynced: isSynced).position
            eventPosition = position
            new.append(event)
            try RoomSync(db: db).noteEntry(message, in: record)
        } else {
            // The next message inserted gets this position and precedes the event.
            eventPosition = position - 1
            try EventPositions(record: record, db: db).note(id, at: eventPosition)
        }
        return try ReceiptStore(record: record, db: db).resolve(at: id, eventPosition)
    }

    func finish() throws { try messages.finish() }
}
