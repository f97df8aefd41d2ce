public import ChatCore
import GRDB

/// The new messages and mentions to notify of.
extension RoomSync {
    /// Returns which of the newly inserted messages the user has not read, and the messages that edits have made
    /// mentions.
    /// - Parameters:
    ///   - events: The events of the batch.
    ///   - mentions: See ``mentions(among:in:)``.
    ///   - includingRead: Whether a mention in a message that was read notifies. It does not count as unread.
    ///   - changed: The messages after the whole batch.
    func arrivals(
        of events: [TimelineEvent], _ inserted: [Message], mentions: Set<MessageID>, includingRead: Bool,
        as changed: [Message], isNewRoom: Bool, in record: RoomRecord
    ) throws -> [MessageArrival] {
        let new = Set(inserted.map(\.id)).intersection(events.compactMap(\.notifyingMessage))
        guard !new.isEmpty || !mentions.isEmpty else { return [] }
        // Read the position again: the batch may have moved it.
        let read = try RoomRecord.find(record.key, in: db)?.fullyReadPosition
        // The content of a newly joined room, up to the user's own join, is history.
        if isNewRoom, read == nil { return [] }
        let edited = try messages(mentions.subtracting(changed.map(\.id)), of: record)
        return try (edited + changed).compactMap { message -> MessageArrival? in
            let isUnread = message.position > read ?? .min
            guard new.contains(message.id) && isUnread || mentions.contains(message.id) && (isUnread || includingRead),
                !message.isDeleted, let sender = try MemberTable(db: db).member(message.sender, of: record),
                sender.kind != .own
            else { return nil }
            // As stored: an edit may mention the user in a message that does not.
            let level = try storedLevel(at: message.position, in: record)
            return level == .none
                ? nil
                : MessageArrival(
                    message: message, senderName: sender.displayName, level: level, wasRead: !isUnread)
        }
    }

    /// Returns the stored messages that edits among these events would make mentions.
    func unmentioned(by events: [TimelineEvent], in record: RoomRecord) throws -> Set<MessageID> {
        let targets = Set(events.compactMap(\.mentioningTarget))
        return try targets.filter { try isMention($0, in: record) == false }
    }

    /// Returns which of the messages that were no mentions before a batch have become ones.
    func mentions(among unmentioned: Set<MessageID>, in record: RoomRecord) throws -> Set<MessageID> {
        try unmentioned.filter { try isMention($0, in: record) == true }
    }

    /// - Returns: `nil` for an unknown message.
    private func isMention(_ message: MessageID, in record: RoomRecord) throws -> Bool? {
        guard let position = try EventPositions(record: record, db: db).message(message) else { return nil }
        return try storedLevel(at: position, in: record) == .mention
    }

    private func storedLevel(at position: Int64, in record: RoomRecord) throws -> NotificationLevel {
        try AttentionTable(db: db).level(of: MessageKey(room: record.key, position: position).raw)
    }
}

extension TimelineEvent {
    /// The message, unless it is a room event, which never notifies.
    fileprivate var notifyingMessage: MessageID? {
        guard case .message(let message) = self, message.event == nil else { return nil }
        return message.id
    }

    /// The message that an edit makes a mention.
    fileprivate var mentioningTarget: MessageID? {
        guard case .change(let change) = self, case .edit = change.kind, change.isMention else { return nil }
        return change.target
    }
}

extension ChatStore {
    /// Returns the current versions of those messages that still exist, are unread and are not hidden.
    public func unread(among arrivals: [MessageArrival]) async throws -> [MessageArrival] {
        guard !arrivals.isEmpty else { return [] }
        return try await read { db in
            try arrivals.compactMap { arrival in
                let (id, room) = (arrival.message.id, arrival.message.roomID)
                guard let record = try RoomRecord.find(room, in: db),
                    let message = try MessageQuery(room: record).findShown(id, in: db), !message.isDeleted,
                    message.position > record.fullyReadPosition ?? .min
                else { return nil }
                var arrival = arrival
                arrival.message = message
                return arrival
            }
        }
    }
}
