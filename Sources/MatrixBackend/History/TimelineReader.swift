import ChatCore
import ChatStore
import Foundation

/// Reads pages of timelines, including unsent messages and changes. A page never spans a gap: the gap is filled
/// first, or the page ends there.
struct TimelineReader: Sendable {
    /// The number of consecutive chunks without a message after which a page is left short: there may be long runs
    /// of state events.
    static let maxFills = 20

    let ownUserID: MemberID
    let fetcher: MessageFetcher
    let clock: any Clock<Duration>
    let store: ChatStore
    let unsent: UnsentMessages
    let filler: GapFiller
    let targets: TargetLoader
    /// Whether the server can be reached.
    let isOnline: @Sendable () -> Bool

    func messages(in room: RoomID, before position: Int64, limit: Int) async throws -> TimelinePage {
        var fills = 0
        while true {
            let whole = try await store.messages(in: room, before: position, limit: limit)
            let page = whole.after(try await store.lastGap(in: room, upTo: position))
            let gap = try await store.lastGap(in: room, upTo: page.messages.first?.position ?? position)
            // The page is complete, has no gap before it, or the limit of requests is reached.
            guard page.messages.count < limit, limit > 0, let gap, fills < Self.maxFills else {
                return unsent.displayed(page, of: room, before: position)
            }
            fills += 1
            do {
                try await filler.fill(gap, in: room)
            } catch {
                // Return the stored messages; the gap is requested again with the next page.
                guard !page.messages.isEmpty else { throw ChatError.translated(error) }
                return unsent.displayed(page, of: room, before: position)
            }
        }
    }

    func messages(in room: RoomID, after position: Int64, limit: Int) async throws -> TimelinePage {
        for _ in 0..<Self.maxFills {
            let whole = try await store.messages(in: room, after: position, limit: limit)
            guard let gap = try await store.firstGap(in: room, after: position), let last = whole.messages.last,
                last.position >= gap.position
            else { return unsent.displayed(whole, of: room) }
            let page = whole.before(gap)
            if !page.messages.isEmpty { return unsent.displayed(page, of: room) }
            // The gap follows directly: fill it from its older end, or else from its newer end.
            do {
                if try await !filler.fillForward(gap, in: room) { try await filler.fill(gap, in: room) }
            } catch {
                throw ChatError.translated(error)
            }
        }
        throw ChatError.storage(reason: "the history goes on for too long")
    }

    func messages(in room: RoomID, around target: TimelineTarget, limit: Int) async throws -> TimelinePage {
        try await targets.load(target, in: room)
        let whole = try await store.messages(in: room, around: target, limit: limit)
        var page = whole
        let middle: Int64? =
            switch target {
            // The message may be hidden.
            case .message(let id): try await store.position(of: id, in: room)
            case .date(let date): (whole.messages.first { $0.sentAt >= date } ?? whole.messages.last)?.position
            }
        if let middle {
            page = page.after(try await store.lastGap(in: room, upTo: middle))
            if let next = try await store.firstGap(in: room, after: middle) { page = page.before(next) }
        }
        return unsent.displayed(page, of: room)
    }

    /// Fetches the entire history, newest first, or as much of it as the server returns now.
    /// - Returns: The position from which the history is complete, or `nil` if all of it is. There is a message, if any
    ///   follows: the page that ends after it has it without a request, whereas what follows an earlier position begins
    ///   in the gap.
    func fetchAll(of room: RoomID, progress: @Sendable (Int) -> Void) async throws -> Int64? {
        var fetched = 0
        var before: TimelineGap?
        while let gap = try await store.lastGap(in: room) {
            try Task.checkCancellation()
            // A gap that does not shrink will not shrink with another request.
            guard isOnline(), gap != before else { return try await start(after: gap, in: room) }
            do {
                fetched += try await filler.fill(gap, in: room).messages
                before = gap
            } catch MatrixError.busy(let retryAfter) {
                try await clock.sleep(for: min(max(retryAfter, .seconds(1)), .seconds(60)), tolerance: nil)
            } catch is CancellationError {
                throw CancellationError()
            } catch is MatrixError {
                return try await start(after: gap, in: room)
            }
            progress(fetched)
        }
        return nil
    }

    /// Returns the position of the first message after a gap, or that of the gap if there is none.
    private func start(after gap: TimelineGap, in room: RoomID) async throws -> Int64 {
        let page = try await store.messages(in: room, after: gap.position - 1, limit: 1)
        return page.messages.first?.position ?? gap.position
    }

    /// - Throws: ``ChatError`` if the server could not be asked for one of them: it is not known to be missing.
    func messages(_ ids: [MessageID], in room: RoomID) async throws -> [Message] {
        let found =
            try await store.messages(ids, in: room)
            + unsent.withEchoes { $0.messages(in: room) }.filter { ids.contains($0.id) }
        let foundIDs = Set(found.map(\.id))
        var messages = unsent.displayed(found)
        for id in ids where !foundIDs.contains(id) && LocalEchoes.transaction(of: id) == nil {
            // The replied-to message may be far before everything stored.
            if let message = try await asking({ try await fetcher.message(id, in: room) }) { messages.append(message) }
        }
        return messages
    }

    func revisions(of message: MessageID, in room: RoomID) async throws -> [MessageRevision] {
        if LocalEchoes.transaction(of: message) != nil { return [] }
        let revisions = try await store.revisions(of: message, in: room)
        guard let stored = try await store.messages([message], in: room).first else { return revisions }
        let displayed = unsent.displayed(stored)
        guard displayed.wording != stored.wording, !displayed.isDeleted else { return revisions }
        // Append the current text, whose edit is still queued.
        return revisions + [MessageRevision(stored.wording, writtenAt: stored.editedAt ?? stored.sentAt)]
    }

    /// Returns a link to a message.
    /// - Returns: A matrix.to link with `via` servers: room IDs do not name any.
    func link(to message: MessageID, in room: RoomID) async throws -> String {
        guard LocalEchoes.transaction(of: message) == nil, try await store.messages([message], in: room).first != nil
        else {
            throw ChatError.notFound
        }
        let members = try await store.members(of: room).filter { !$0.hasLeft }.map(\.id)
        return MatrixLink.link(to: message, in: room, by: [ownUserID] + members)
    }
}
