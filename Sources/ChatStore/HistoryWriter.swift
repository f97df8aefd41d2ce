import ChatCore
import GRDB

/// Puts history before a position of one room, the newest first.
struct HistoryWriter {
    /// Before which all that comes next goes.
    private(set) var position: Int64
    /// The messages that were put there, the newest first.
    private(set) var new: [TimelineEvent] = []
    private var messages: MessageWriter
    private let record: RoomRecord
    private let db: Database

    init(to record: RoomRecord, before position: Int64, _ db: Database) throws {
        self.record = record
        self.db = db
        self.position = position
        messages = try MessageWriter(to: record, allowingFormerMembers: true, before: position, in: db)
    }

    /// - Parameter event: one that is not known.
    /// - Returns: the messages that have other readers than before.
    mutating func prepend(_ event: TimelineEvent) throws -> Set<MessageID> {
        guard let id = event.id else { return [] }
        let eventPosition: Int64
        if let message = event.message {
            position = try messages.prepend(message).position
            eventPosition = position
            new.append(event)
            try RoomSync(db: db).noteEntry(message, in: record)
        } else {
            // Later than the message that is going to be there.
            eventPosition = position - 1
            try EventPositions(record: record, db: db).note(id, at: eventPosition)
        }
        return try ReceiptStore(record: record, db: db).resolve(at: id, eventPosition)
    }

    func finish() throws { try messages.finish() }
}
