import ChatCore
import ChatStore
import Foundation

/// History that is not stored is fetched into its gap: from the gap's newer end, from its older end, or in the middle,
/// around a message or a date.
extension MatrixBackend {
    /// Events per request when filling a gap, and around a target within one.
    private static let fillSize = 100
    private static let contextSize = 60
    /// Consecutive chunks without a message after which a page stays short: state events may go on for long.
    static let maxFills = 20

    /// Fetches a target and its context, unless they are stored.
    /// - Throws: ``ChatError`` if the target is a message that does not exist, or if the server cannot be reached.
    func reach(_ target: TimelineTarget, in room: RoomID) async throws {
        await withCheckedContinuation { entered.wait(for: room, $0) }
        guard var gap = try await gap(before: target, in: room) else { return }
        do {
            if try await fetch(target, in: room) { return }
            // The server has no such endpoint, or timestamps do not match a gap: fill from the newer end, within a
            // limit.
            for _ in 0..<Self.maxFills {
                try await fill(gap, in: room)
                guard let next = try await self.gap(before: target, in: room) else { return }
                gap = next
            }
        } catch {
            if case .date = target { return }
            throw ChatError.translated(error)
        }
    }

    /// Requests the context of a target and inserts it into the gap that it belongs to.
    /// - Returns: Whether the target is stored now.
    private func fetch(_ target: TimelineTarget, in room: RoomID) async throws -> Bool {
        let context: HistoryContext
        do {
            let id: MessageID
            switch target {
            case .message(let message): id = message
            case .date(let date):
                // No event is that late, so the newest message is the target.
                guard let event = try await client.event(at: date, in: room) else { return true }
                id = event
            }
            if try await !store.messages([id], in: room).isEmpty { return true }
            context = try await client.context(of: id, in: room, limit: Self.contextSize)
        } catch MatrixError.rejected(let status, "M_UNRECOGNIZED", _) where status == 404 || status == 405 {
            return false
        }
        // Use the median: timestamps of single events are set by their servers and may be arbitrary.
        let times = context.events.map(\.sentAt).sorted()
        guard let gap = try await gap(around: times[times.count / 2], in: room) else { return false }
        let chunk = TimelineChunk(
            events: try await eventParser(of: room).timeline(context.events), older: context.older, newer: context.newer
        )
        return try await insertChunk(chunk, in: gap, of: room, state: context.state, isContiguous: false)
    }

    /// Fetches forward from the older end of a gap.
    /// - Returns: `false` if the gap has no forward token or the chunk was not inserted.
    func fetchForward(_ gap: TimelineGap, in room: RoomID) async throws -> Bool {
        guard let token = gap.forward else { return false }
        let page = try await client.history(of: room, before: token, limit: Self.fillSize, forwards: true)
        let chunk = TimelineChunk(events: try await eventParser(of: room).timeline(page.events), newer: page.next)
        return try await insertChunk(chunk, in: gap, of: room, state: page.state, isContiguous: true)
    }

    private func insertChunk(
        _ chunk: TimelineChunk, in gap: TimelineGap, of room: RoomID, state: [MatrixEvent], isContiguous: Bool
    ) async throws -> Bool {
        let members = try await newMembers(in: state, of: room)
        return try await serialized {
            let roomChange = try await store.insertChunk(
                chunk, in: gap, of: room, members: members, isContiguous: isContiguous)
            guard let roomChange else { return false }
            await publish(roomChange)
            roomsChanged()
            return true
        }
    }

    /// Fetches a chunk from the newer end of a gap.
    /// - Returns: The time of the oldest event, or `nil` for an empty chunk; and the number of messages.
    @discardableResult
    func fill(_ gap: TimelineGap, in room: RoomID) async throws -> (earliest: Date?, messages: Int) {
        let page = try await page(before: gap, in: room)
        let events = try await eventParser(of: room).timeline(page.events.reversed())
        let members = try await newMembers(in: page.state, of: room)
        try await serialized {
            guard let roomChange = try await store.fill(gap, in: room, with: events, members: members, next: page.next)
            else { return }
            await publish(roomChange)
            try await removeState(deletedBy: page.events, in: room)
            roomsChanged()
        }
        return (page.events.last?.sentAt, events.count { if case .message = $0 { true } else { false } })
    }

    private func page(before gap: TimelineGap, in room: RoomID) async throws -> HistoryPage {
        guard let event = gap.eventBehind else {
            return try await client.history(of: room, before: gap.token, limit: Self.fillSize)
        }
        let context = try await client.context(of: event, in: room, limit: 1)
        let before = context.events.prefix { $0.id != event }
        return HistoryPage(events: before.reversed(), state: context.state, next: context.older)
    }

    private func eventParser(of room: RoomID) async throws -> EventParser {
        let known = try await store.knownRooms([KnownRoom.Request(room)], ownUserID: ownUserID).rooms[room]
        guard let known else { throw ChatError.notFound }
        var parser = batchBuilder.eventParser(of: room, known.state, ownName: known.ownMember?.displayName)
        // Nothing notifies a user who is not in the room.
        if known.ownMember == nil { parser.rules = nil }
        return parser
    }

    /// Resets stored state whose redaction was found in fetched history.
    private func removeState(deletedBy events: [MatrixEvent], in room: RoomID) async throws {
        var update = RoomUpdate(id: room)
        update.redactions = events.filter { $0.type == "m.room.redaction" }
        guard !update.deleted.isEmpty else { return }
        let builder = batchBuilder
        let known = try await store.knownRooms([builder.request(for: update)], ownUserID: ownUserID)
        guard known.rooms[room]?.origins.isEmpty == false, let batch = builder.batch(of: update, known: known) else {
            return
        }
        for roomChange in try await store.apply(SyncBatch(rooms: [batch])) { await publish(roomChange) }
    }

    /// Returns members that are not stored yet. Stored ones are from the sync and newer than state that comes with
    /// history.
    private func newMembers(in state: [MatrixEvent], of room: RoomID) async throws -> [Member] {
        let knownIDs = Set(try await store.members(of: room).map(\.id))
        return ParsedRoomState(ownUserID: ownUserID, state: state).members.filter { !knownIDs.contains($0.id) }
    }

    // MARK: Gaps

    /// Returns the gap to fill next on the way back to a target; `nil` if the target is stored or not on the server.
    private func gap(before target: TimelineTarget, in room: RoomID) async throws -> TimelineGap? {
        switch target {
        case .message(let id):
            guard LocalEchoes.transaction(of: id) == nil, try await store.messages([id], in: room).isEmpty else {
                return nil
            }
            return try await store.gaps(in: room).last
        case .date(let date):
            return try await gap(in: room) {
                $0.map { $0 < date } ?? true
            } behind: {
                $0 > date
            }
        }
    }

    /// Returns the gap that contains a point in time.
    private func gap(around date: Date, in room: RoomID) async throws -> TimelineGap? {
        try await gap(in: room) {
            $0.map { $0 <= date } ?? true
        } behind: {
            $0 >= date
        }
    }

    /// Returns the newest gap whose preceding message (`nil` if there is none) and following message satisfy the
    /// conditions.
    private func gap(
        in room: RoomID, front: (Date?) -> Bool, behind: (Date) -> Bool
    ) async throws -> TimelineGap? {
        for gap in try await store.gaps(in: room).reversed() {
            let next = try await store.messages(in: room, after: gap.position - 1, limit: 1).messages.first
            guard next.map({ behind($0.sentAt) }) ?? true else { continue }
            let last = try await store.messages(in: room, before: gap.position, limit: 1).messages.last
            if front(last?.sentAt) { return gap }
        }
        return nil
    }
}
