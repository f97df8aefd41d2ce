import ChatCore
import ChatStore

/// Parses events of a stored room with the room's known state.
///
/// Call it within the ``RoomWriter/serialized(_:)`` operation that stores the result, like ``EventOpener``.
struct HistoryParser: Sendable {
    let opener: EventOpener
    let context: AccountContext
    let store: ChatStore

    /// - Parameters:
    ///   - events: Oldest first.
    ///   - position: A position of the stored history before which they are, if known.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    func timeline(
        _ events: [MatrixEvent], in room: RoomID, before position: Int64?
    ) async throws -> [TimelineEvent] {
        let parser = try await parser(of: room)
        return parser.timeline(try await opener.opened(events, in: room, before: position))
    }

    /// Parses sealed events again, each separately.
    /// - Returns: The events, and the messages whose notifications play a sound.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    func readAgain(
        _ events: [MatrixEvent], in room: RoomID
    ) async throws -> (again: [ReadAgain], audible: Set<MessageID>) {
        let parser = try await parser(of: room)
        // They are not in any particular order.
        let events = events.sorted { $0.sentAt < $1.sentAt }
        let opened = try await opener.opened(events, in: room)
        let again = opened.map { ReadAgain($0.id, as: parser.timeline([$0])) }
        return (again, parser.audibleMessages(in: opened))
    }

    private func parser(of room: RoomID) async throws -> EventParser {
        let known = try await store.knownRooms([KnownRoom.Request(room)], ownUserID: context.ownUserID).rooms[room]
        guard let known else { throw ChatError.notFound }
        var parser = context.batchBuilder.eventParser(
            of: room, known.state, ownName: known.ownMember?.displayName)
        // Nothing notifies a user who is not in the room.
        if known.ownMember == nil { parser.rules = nil }
        return parser
    }
}
