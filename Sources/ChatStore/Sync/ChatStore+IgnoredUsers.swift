public import ChatCore
import GRDB

/// What a room lacks of users who are no longer ignored.
public struct IncompleteRoom: Equatable, Sendable {
    /// The users whose messages may be missing.
    public var senders: Set<MemberID>
    /// The last stored message, even if it is hidden.
    public var last: MessageID?
}

/// What events of the server precede.
public enum HistoryEnd: Equatable, Sendable {
    /// A stored message.
    case message(MessageID)
    /// The end of the room. `last` was its last stored message before the events were requested.
    case now(last: MessageID?)
}

/// The result of ``ChatStore/complete(_:with:before:older:by:members:)``.
public struct HistoryCompletion: Equatable, Sendable {
    /// What may still lack messages.
    public enum Remainder: Equatable, Sendable {
        case nothing
        /// What precedes this message. The events before it among those that were passed have to be passed again,
        /// behind older ones.
        case before(MessageID)
        /// What precedes the events that were passed. These need not be passed again.
        case older
        /// What precedes this message, which is the last one before a gap.
        case beforeGap(MessageID)
        /// Everything: the stored timeline has changed too much since the events were requested.
        case outdated
    }

    /// `nil` if nothing was missing.
    public var change: RoomChange?
    public var remainder: Remainder
    /// Whether all that was missing among the events is in the store or in gaps now.
    public var isWhole = true
}

extension ChatStore {
    /// Returns the users whose messages are hidden.
    public func ignoredUsers() async throws -> Set<MemberID> {
        try await read { db in try IgnoredUserTable(db: db).users }
    }

    /// Replaces the list of ignored users, whose messages are hidden.
    /// - Parameter isRecent: Whether the server has just begun to leave out the messages of new ones. Otherwise it may
    ///   have done so since the last message that is stored of each.
    /// - Returns: The rooms in which other messages may be shown now.
    @discardableResult
    public func setIgnoredUsers(_ users: Set<MemberID>, isRecent: Bool = true) async throws -> [RoomID] {
        try await writeCache { db in try IgnoredUserTable(db: db).set(users, isRecent: isRecent).map(\.room.id) }
    }

    /// Returns rooms whose history may lack messages of users who were ignored. Most recently active first.
    public func incompleteRooms() async throws -> [RoomID] {
        try await read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT r.id FROM room r WHERE EXISTS (
                        SELECT 1 FROM incompleteHistory h WHERE h.room = r.key AND \(IncompleteHistory.isCompletable))
                        AND \(StagedRooms.isShown)
                    ORDER BY r.lastActivity DESC, r.key DESC
                    """
            ).map { RoomID($0) }
        }
    }

    /// Returns what a room lacks, or `nil` if there is no such room.
    public func incompleteRoom(_ room: RoomID) async throws -> IncompleteRoom? {
        try await read { db in
            guard let record = try RoomRecord.find(room, in: db) else { return nil }
            return IncompleteRoom(
                senders: try IncompleteHistory(record: record, db: db).senders,
                last: try EventPositions(record: record, db: db).lastMessage(before: .max)?.id)
        }
    }

    /// Inserts messages that the server left out between stored ones, because their sender was ignored. The newest
    /// events must not be newer than what the sync has brought.
    ///
    /// - Parameters:
    ///   - events: The server's events right before `end`, oldest first.
    ///   - token: The pagination token for older events; `nil` at the beginning of the room.
    ///   - senders: The users who were no longer ignored when the events were requested.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func complete(
        _ room: RoomID, with events: [TimelineEvent], before end: HistoryEnd, older token: String?,
        by senders: Set<MemberID>, members: [Member] = []
    ) async throws -> HistoryCompletion {
        try await writeCache { db in
            try RoomSync(db: db).complete(
                RoomRecord.get(room, in: db), with: events, before: end, older: token, by: senders, members)
        }
    }

    /// Records that a room lacks nothing of these users that can be had. Those who are ignored again may have been
    /// before everything was requested.
    public func endCompletion(of room: RoomID, by senders: Set<MemberID>) async throws {
        try await writeCache { db in
            guard let record = try RoomRecord.find(room, in: db) else { return }
            try IncompleteHistory(record: record, db: db).remove(senders)
        }
    }
}
