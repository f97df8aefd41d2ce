public import ChatCore
import GRDB

/// The messages that notifications tell of.
extension RoomSync {
    /// Returns which of the newly inserted messages the user has not read.
    /// - Parameters:
    ///   - events: The events of the batch, with what push rules say of them.
    ///   - changed: The messages as they are after the whole batch.
    func arrivals(
        of events: [TimelineEvent], _ inserted: [Message], as changed: [Message], isNewRoom: Bool, in record: RoomRecord
    ) throws -> [MessageArrival] {
        let new = Set(inserted.map(\.id))
        let levels = Dictionary(
            events.compactMap(\.notifying).filter { new.contains($0.message) }, uniquingKeysWith: { _, last in last })
        guard !levels.isEmpty else { return [] }
        // Read the position again: the batch may have moved it.
        let read = try RoomRecord.find(record.key, in: db)?.fullyReadPosition
        // What a room contains that has just become known is history, up to the user's own join.
        if isNewRoom, read == nil { return [] }
        return try changed.compactMap { message in
            guard let level = levels[message.id], message.position > read ?? .min, !message.isDeleted,
                let sender = try MemberTable(db: db).member(message.sender, of: record), sender.kind != .own
            else { return nil }
            return MessageArrival(message: message, senderName: sender.displayName, level: level)
        }
    }
}

extension TimelineEvent {
    /// The message and what push rules say of it, if they notify.
    var notifying: (message: MessageID, level: NotificationLevel)? {
        guard case .message(let message) = self, message.event == nil, message.notificationLevel != .none else {
            return nil
        }
        return (message.id, message.notificationLevel)
    }
}

extension ChatStore {
    /// Returns those of the arrived messages that are still there and unread, as they are now.
    public func unread(among arrivals: [MessageArrival]) async throws -> [MessageArrival] {
        guard !arrivals.isEmpty else { return [] }
        return try await read { db in
            try arrivals.compactMap { arrival in
                let (id, room) = (arrival.message.id, arrival.message.roomID)
                guard let record = try RoomRecord.find(room, in: db),
                    let message = try MessageQuery(room: record).find(id, in: db), !message.isDeleted,
                    message.position > record.fullyReadPosition ?? .min
                else { return nil }
                var arrival = arrival
                arrival.message = message
                return arrival
            }
        }
    }
}
