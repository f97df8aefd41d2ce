import ChatCore
import ChatStore
import Foundation

/// History that is not kept: it is asked for where it is missing, from the near end of a gap, from the far one, or in the
/// middle of it, around a message or a day.
extension MatrixBackend {
    /// Messages asked for at once to fill a gap, and around a place within one.
    private static let fillSize = 100
    private static let contextSize = 60
    /// Answers without a message in a row, after which a page stays as it is: state may go on for long.
    static let maxFills = 20

    /// Sees that a target is kept, with what is around it, as far as that can be had.
    /// - Throws: ``ChatError`` if it is a message and there is none, or the server does not answer.
    func reach(_ target: TimelineTarget, in room: RoomID) async throws {
        await withCheckedContinuation { entered.wait(for: room, $0) }
        guard var gap = try await gap(before: target, in: room) else { return }
        do {
            if try await fetch(target, in: room) { return }
            // The server can't look it up, or tells times that do not fit: from the end, as far as can be had in a while.
            for _ in 0..<Self.maxFills {
                try await fill(gap, in: room)
                guard let next = try await self.gap(before: target, in: room) else { return }
                gap = next
            }
        } catch {
            if case .date = target { return }
            throw Self.chatError(error)
        }
    }

    /// Asks for what is around a target, and puts it where it belongs among what is kept.
    /// - Returns: whether it is kept now.
    private func fetch(_ target: TimelineTarget, in room: RoomID) async throws -> Bool {
        let context: HistoryContext
        do {
            let id: MessageID
            switch target {
            case .message(let message): id = message
            case .date(let date):
                // Nothing is that late: the newest message is what is looked for.
                guard let event = try await client.event(at: date, in: room) else { return true }
                id = event
            }
            if try await !store.messages([id], in: room).isEmpty { return true }
            context = try await client.context(of: id, in: room, limit: Self.contextSize)
        } catch MatrixError.rejected(let status, "M_UNRECOGNIZED", _) where status == 404 || status == 405 {
            return false
        }
        // Single events may have been given any time by their servers.
        let times = context.events.map(\.sentAt).sorted()
        guard let gap = try await gap(around: times[times.count / 2], in: room) else { return false }
        let chunk = TimelineChunk(
            events: try await eventParser(of: room).timeline(context.events), older: context.older, newer: context.newer
        )
        return try await insertChunk(chunk, in: gap, of: room, state: context.state, isContiguous: false)
    }

    /// Goes on from what is in front of a gap, forwards.
    /// - Returns: whether that is known to the server, and something came of it.
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

    /// Asks the server for a piece of what is missing, from its end.
    /// - Returns: when the first of it happened, nil if it has nothing but goes on; and how many messages it has.
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
        let creation = RoomCreation(try await store.setting(ParsedRoomState.creationSetting, of: room))
        let rules = try await pushRoom(room).map { (pushRules, $0) }
        return EventParser(ownUserID: ownUserID, translator: translator, rules: rules, creation: creation)
    }

    /// Members who are not known. Who is known is as the sync told it: this may be old.
    private func newMembers(in state: [MatrixEvent], of room: RoomID) async throws -> [Member] {
        let knownIDs = Set(try await store.members(of: room).map(\.id))
        return ParsedRoomState(ownUserID: ownUserID, state: state).members.filter { !knownIDs.contains($0.id) }
    }

    // MARK: Which gap

    /// What is to be filled first on the way back to a target; nil if that is known, or can't be.
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

    /// The gap in which something of that time is.
    private func gap(around date: Date, in room: RoomID) async throws -> TimelineGap? {
        try await gap(in: room) {
            $0.map { $0 <= date } ?? true
        } behind: {
            $0 >= date
        }
    }

    /// The newest gap that satisfies conditions on the time of what is in front of it, if anything is, and of what is behind.
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
