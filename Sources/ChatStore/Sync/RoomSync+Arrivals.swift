public import ChatCore
import GRDB

/// The new messages to notify of.
extension RoomSync {
    /// Returns which of the newly inserted messages the user has not read.
    /// - Parameters:
    ///   - events: The events of the batch, with their push rule actions.
    ///   - changed: The messages after the whole batch.
    func arrivals(
        of events: [TimelineEvent], _ inserted: [Message], as changed: [Message], isNewRoom: Bool, in record: RoomRecord
    ) throws -> [MessageArrival] {
        let new = Set(inserted.map(\.id))
        let levels = Dictionary(
            events.compactMap(\.notifying).filter { new.contains($0.message) }, uniquingKeysWith: { _, last in last })
        guard !levels.isEmpty else { return [] }
        // Read the position again: the batch may have moved it.
        let read = try RoomRecord.find(record.key, in: db)?.fullyReadPosition
        // The content of a newly joined room, up to the user's own join, is history.
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
    /// The message and its notification level, if it notifies.
    var notifying: (message: MessageID, level: NotificationLevel)? {
        guard case .message(let message) = self, message.event == nil, message.notificationLevel != .none else {
            return nil
        }
        return (message.id, message.notificationLevel)
    }
}

extension ChatStore {
    /// Returns the current versions of those messages that still exist and are unread.
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
