import ChatCore
import ChatStore
import Foundation

/// Fills gaps with history from the server: from a gap's newer end, from its older end, or in the middle.
struct GapFiller: Sendable {
    /// What a request at the newer end of a gap returned.
    struct Chunk: Equatable {
        /// The time of the oldest event, or `nil` without events.
        var earliest: Date?
        /// The number of messages.
        var messages = 0
    }

    private static let eventsPerRequest = 100

    let client: MatrixClient
    let context: AccountContext
    let writer: RoomWriter
    let parser: HistoryParser

    private var store: ChatStore { writer.store }

    /// Fetches a chunk from the newer end of a gap.
    @discardableResult
    func fill(_ gap: TimelineGap, in room: RoomID) async throws -> Chunk {
        let ignored = context.ignoredUsers
        let page = try await page(before: gap, in: room)
        let events = try await writer.serialized {
            // First: a page that is stored is not requested again.
            try await removeState(deletedBy: page.events, in: room)
            let members = try await newMembers(in: page.state, of: room)
            let events = try await parser.timeline(page.events.reversed(), in: room, before: gap.position)
            let change = try await store.fill(
                gap, in: room, with: events, members: members, next: page.next, without: ignored)
            guard let change else { return events }
            await writer.publish(change)
            writer.rooms.refresh(room)
            return events
        }
        return Chunk(
            earliest: page.events.last?.sentAt,
            messages: events.count { if case .message = $0 { true } else { false } })
    }

    /// Fetches forward from the older end of a gap.
    /// - Returns: `false` if the gap has no forward token or the chunk was not inserted.
    func fillForward(_ gap: TimelineGap, in room: RoomID) async throws -> Bool {
        guard let token = gap.forward else { return false }
        let ignored = context.ignoredUsers
        let page = try await client.history(of: room, before: token, limit: Self.eventsPerRequest, forwards: true)
        return try await insert(
            page.events, TimelineChunk(events: [], newer: page.next), in: gap, of: room, state: page.state,
            isContiguous: true, without: ignored)
    }

    /// Inserts what was found in the middle of a gap.
    /// - Parameter ignored: The ignored users when it was requested.
    /// - Returns: `false` if the gap has changed meanwhile.
    func insert(
        _ found: HistoryContext, in gap: TimelineGap, of room: RoomID, without ignored: Set<MemberID>
    ) async throws -> Bool {
        try await insert(
            found.events, TimelineChunk(events: [], older: found.older, newer: found.newer), in: gap, of: room,
            state: found.state, isContiguous: false, without: ignored)
    }

    /// - Parameter chunk: Receives the parsed events.
    private func insert(
        _ events: [MatrixEvent], _ chunk: TimelineChunk, in gap: TimelineGap, of room: RoomID, state: [MatrixEvent],
        isContiguous: Bool, without ignored: Set<MemberID>
    ) async throws -> Bool {
        try await writer.serialized {
            // As in ``fill(_:in:)``.
            try await removeState(deletedBy: events, in: room)
            let members = try await newMembers(in: state, of: room)
            var chunk = chunk
            chunk.events = try await parser.timeline(events, in: room, before: gap.position)
            let change = try await store.insertChunk(
                chunk, in: gap, of: room, members: members, isContiguous: isContiguous, without: ignored)
            guard let change else { return false }
            await writer.publish(change)
            writer.rooms.refresh(room)
            return true
        }
    }

    /// Requests the history right before an event, or before now without one.
    /// - Parameter token: The token of the page that begins with the event, or `nil` if there is none yet.
    func history(before event: MessageID?, token: String?, in room: RoomID) async throws -> HistoryPage {
        guard let event, token == nil else {
            return try await client.history(of: room, before: token, limit: Self.eventsPerRequest)
        }
        let found = try await client.context(of: event, in: room, limit: 1)
        let newest = Array(found.events.prefix { $0.id != event }.reversed())
        guard let older = found.older else { return HistoryPage(events: newest, state: found.state, next: nil) }
        var page = try await client.history(of: room, before: older, limit: Self.eventsPerRequest)
        page.events = newest + page.events
        page.state += found.state
        return page
    }

    /// Inserts events that the server left out between stored ones, because their senders were ignored; see
    /// ``ChatStore/complete(_:with:before:older:by:members:)``.
    func complete(
        _ room: RoomID, with events: [MatrixEvent], state: [MatrixEvent], before end: HistoryEnd, older token: String?,
        by senders: Set<MemberID>
    ) async throws -> HistoryCompletion {
        try await writer.serialized {
            // As in ``fill(_:in:)``.
            try await removeState(deletedBy: events, in: room)
            let members = try await newMembers(in: state, of: room)
            let position: Int64? =
                if case .message(let message) = end { try await store.position(of: message, in: room) } else { nil }
            let parsed = try await parser.timeline(events, in: room, before: position)
            let completion = try await store.complete(
                room, with: parsed, before: end, older: token, by: senders, members: members)
            if let change = completion.change {
                await writer.publish(change)
                writer.rooms.refresh(room)
            }
            return completion
        }
    }

    private func page(before gap: TimelineGap, in room: RoomID) async throws -> HistoryPage {
        guard let event = gap.eventBehind else {
            return try await client.history(of: room, before: gap.token, limit: Self.eventsPerRequest)
        }
        let found = try await client.context(of: event, in: room, limit: 1)
        let before = found.events.prefix { $0.id != event }
        return HistoryPage(events: before.reversed(), state: found.state, next: found.older)
    }

    /// Resets stored state whose redaction was found in fetched history.
    private func removeState(deletedBy events: [MatrixEvent], in room: RoomID) async throws {
        var update = RoomUpdate(id: room)
        update.redactions = events.filter { $0.type == "m.room.redaction" }
        guard !update.deleted.isEmpty else { return }
        let builder = context.batchBuilder
        let known = try await store.knownRooms([builder.request(for: update)], ownUserID: context.ownUserID)
        guard known.rooms[room]?.origins.isEmpty == false, let batch = builder.batch(of: update, known: known) else {
            return
        }
        try await writer.write(SyncBatch(rooms: [batch]))
        writer.rooms.refresh(room)
    }

    /// Returns members that are not stored yet. Stored ones are from the sync and newer than state that comes with
    /// history.
    private func newMembers(in state: [MatrixEvent], of room: RoomID) async throws -> [Member] {
        let members = ParsedRoomState(ownUserID: context.ownUserID, state: state).members
        return members.isEmpty ? [] : try await store.unknown(members, of: room)
    }
}
