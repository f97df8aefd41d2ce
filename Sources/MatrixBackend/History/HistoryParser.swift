import ChatCore
import ChatStore

/// Reads events of a room that is stored, by what is known of it.
///
/// Call it in the same operation of ``RoomWriter/serialized(_:)`` that stores the result, as ``EventOpener`` says.
struct HistoryParser: Sendable {
    let opener: EventOpener
    let context: AccountContext
    let store: ChatStore

    /// - Parameter events: Oldest first.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    func timeline(_ events: [MatrixEvent], in room: RoomID) async throws -> [TimelineEvent] {
        let parser = try await parser(of: room)
        return parser.timeline(try await opener.opened(events, in: room))
    }

    /// Reads events that were sealed, each by itself.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    func readAgain(_ events: [MatrixEvent], in room: RoomID) async throws -> [ReadAgain] {
        let parser = try await parser(of: room)
        // They come in no order of their own.
        let events = events.sorted { $0.sentAt < $1.sentAt }
        return try await opener.opened(events, in: room).map { ReadAgain($0.id, as: parser.timeline([$0])) }
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
