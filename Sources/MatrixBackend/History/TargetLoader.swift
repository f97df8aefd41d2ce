import ChatCore
import ChatStore
import Foundation

/// Fetches the history around a message or a date.
struct TargetLoader: Sendable {
    private static let contextSize = 60

    let client: MatrixClient
    let store: ChatStore
    let entered: EnteredRooms
    let filler: GapFiller

    /// Fetches a target and its context, unless they are stored.
    /// - Throws: ``ChatError`` if the target is a message that does not exist, or if the server cannot be reached: what
    ///   is stored around a date may be from years before or after it.
    func load(_ target: TimelineTarget, in room: RoomID) async throws {
        await entered.wait(for: room)
        guard var gap = try await gap(before: target, in: room) else { return }
        do {
            if try await fetch(target, in: room) { return }
            // The server has no such endpoint, or timestamps do not match a gap: fill from the newer end, within a
            // limit.
            for _ in 0..<TimelineReader.maxFills {
                try await filler.fill(gap, in: room)
                guard let next = try await self.gap(before: target, in: room) else { return }
                gap = next
            }
        } catch MatrixError.rejected(let status, let code, _)
            where target.isDate && MatrixClient.isAbsence(status, code)
        {
            // The server has named an event that the user may not see: what is nearest to the date is stored.
        } catch {
            throw ChatError.translated(error)
        }
    }

    /// Requests the context of a target and inserts it into the gap that it belongs to.
    /// - Returns: Whether the target is stored now.
    private func fetch(_ target: TimelineTarget, in room: RoomID) async throws -> Bool {
        let found: HistoryContext
        let ignored: Set<MemberID>
        do {
            let id: MessageID
            switch target {
            case .message(let message): id = message
            case .date(let date):
                // No event is that late, so the newest message is the target.
                guard let event = try await client.event(at: date, in: room) else { return true }
                id = event
            }
            if try await store.position(of: id, in: room) != nil { return true }
            ignored = filler.context.ignoredUsers
            found = try await client.context(of: id, in: room, limit: Self.contextSize)
        } catch MatrixError.rejected(let status, "M_UNRECOGNIZED", _) where status == 404 || status == 405 {
            return false
        }
        // Use the median: timestamps of single events are set by their servers and may be arbitrary.
        let times = found.events.map(\.sentAt).sorted()
        guard let gap = try await gap(around: times[times.count / 2], in: room) else { return false }
        return try await filler.insert(found, in: gap, of: room, without: ignored)
    }

    /// Returns the gap to fill next on the way back to a target; `nil` if the target is stored or not on the server.
    private func gap(before target: TimelineTarget, in room: RoomID) async throws -> TimelineGap? {
        switch target {
        case .message(let id):
            guard LocalEchoes.transaction(of: id) == nil, try await store.position(of: id, in: room) == nil else {
                return nil
            }
            return try await store.lastGap(in: room)
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

extension TimelineTarget {
    fileprivate var isDate: Bool { if case .date = self { true } else { false } }
}
