import ChatCore
import Observation

/// Loads the range of messages in memory: pages at its ends, and other ranges to jump to. One request at a time.
@Observable
final class TimelinePager {
    /// What changed in ``loaded``, with the positions of the rows to lay out. Delivered synchronously and in order.
    nonisolated enum Output: Equatable, Sendable {
        case replaced
        /// A page was added at one end.
        case added([Message], at: [Int64])
        case changed([Message], at: [Int64])
        case removed([MessageID], loaded: [Message], at: [Int64])
        /// Messages far from the scroll position left memory.
        case dropped([Message])
        /// The destination of a jump was loaded.
        case jumped(TimelineJump)
        /// A request has ended, successfully or not.
        case finished(isLoaded: Bool)
        case failed(ChatError)
    }

    private(set) var range = TimelineRange()
    @ObservationIgnored private(set) var loaded = LoadedMessages()

    @ObservationIgnored private let roomID: RoomID
    @ObservationIgnored private let service: any TimelineService
    @ObservationIgnored private let bodies: MessageBodies
    /// The number of messages requested per page.
    @ObservationIgnored private let pageSize: Int
    /// How many messages to keep on each side of the scroll position. Trimming starts above twice this number.
    @ObservationIgnored private let reach: Int
    /// Incremented to invalidate the request in flight.
    @ObservationIgnored private var generation = 0
    /// Updates received while a page is loading. The page may predate them, so they are applied again on top of it.
    @ObservationIgnored private var missedUpdates: [TimelineUpdate] = []
    /// A page requested while another request was in flight.
    @ObservationIgnored private var nextEdge: TimelineEdge?
    /// The failure of the last page, which is reported once.
    @ObservationIgnored private var reportedFailure: ChatError?
    /// The jump in flight.
    @ObservationIgnored private var currentJump: TimelineJump?
    /// A jump to perform once the room has loaded.
    @ObservationIgnored private var postponedJump: TimelineJump?
    /// The message at the scroll position; `nil` for the newest one.
    @ObservationIgnored private var anchor: MessageID?
    @ObservationIgnored private let onOutput: (Output) -> Void

    init(
        roomID: RoomID, service: any TimelineService, bodies: MessageBodies, pageSize: Int = 60, reach: Int = 480,
        onOutput: @escaping (Output) -> Void
    ) {
        self.roomID = roomID
        self.service = service
        self.bodies = bodies
        self.pageSize = pageSize
        self.reach = reach
        self.onOutput = onOutput
    }

    // MARK: The range

    /// Starts over with the newest page, or with the page around a message that the newest one lacks. A jump in
    /// flight is postponed; call ``dequeueJump()`` afterwards.
    /// - Returns: whether the message can be shown.
    func open(_ newest: TimelinePage, around target: MessageID?) async -> Bool {
        postponeCurrentJump()
        let (page, isFound) = await openingPage(newest, around: target)
        await bodies.prepare(page.messages)
        // Requests made meanwhile belong to the range being replaced.
        postponeCurrentJump()
        range.isLoaded = true
        replace(with: page)
        return isFound
    }

    /// Hides all messages up to now.
    func clear() {
        currentJump = nil
        invalidateRequest()
        replace(with: TimelinePage(messages: [], hasOlder: false))
    }

    func apply(_ update: TimelineUpdate) {
        if range.loading != nil { missedUpdates.append(update) }
        change(by: update)
    }

    /// Sets the message around which to keep others in memory; `nil` for the newest one.
    func setAnchor(_ message: MessageID?) { anchor = message }

    private func openingPage(
        _ newest: TimelinePage, around target: MessageID?
    ) async -> (page: TimelinePage, isFound: Bool) {
        guard let target, newest.hasOlder, !newest.messages.contains(where: { $0.id == target }) else {
            return (newest, true)
        }
        // If the message is gone or cannot be read, use the newest page instead.
        let page = try? await service.messages(in: roomID, around: .message(target), limit: pageSize)
        return (page ?? newest, page != nil)
    }

    private func replace(with page: TimelinePage) {
        loaded = LoadedMessages(page)
        refreshRange()
        onOutput(.replaced)
    }

    private func change(by update: TimelineUpdate) {
        switch update {
        case .changed(let messages):
            let positions = loaded.merge(messages)
            refreshRange()
            onOutput(.changed(messages, at: positions))
            trim()
        case .removed(let ids):
            let messages = ids.compactMap(loaded.message)
            let positions = loaded.remove(ids)
            refreshRange()
            onOutput(.removed(ids, loaded: messages, at: positions))
        default: break
        }
    }

    /// Drops messages far from the anchor, except while a page is loading, which must join the current range.
    private func trim() {
        guard range.loading == nil, loaded.messages.count > 2 * reach else { return }
        let position = anchor.flatMap(loaded.position) ?? loaded.messages.last?.position ?? 0
        let dropped = loaded.trim(around: position, reach: reach)
        refreshRange()
        onOutput(.dropped(dropped))
    }

    private func refreshRange() {
        var next = range
        next.hasOlder = loaded.start != nil
        next.isDetached = loaded.end != nil
        next.isEmpty = next.isLoaded && loaded.messages.isEmpty && !next.hasOlder && !next.isDetached
        if next != range { range = next }
    }

    // MARK: Pages

    /// Loads the page at one end, once a request in flight has finished.
    func load(_ edge: TimelineEdge) {
        guard range.isLoaded, range.loading == nil else {
            // The request in flight may already be for this page.
            if range.loading != .page(edge) { nextEdge = edge }
            return
        }
        switch edge {
        case .older: if let start = loaded.start { request(.page(edge), .before(start)) }
        case .newer: if let end = loaded.end { request(.page(edge), .after(end)) }
        }
    }

    private func add(_ page: TimelinePage, at edge: TimelineEdge) {
        let positions = edge == .older ? loaded.prepend(page) : loaded.append(page)
        refreshRange()
        onOutput(.added(page.messages, at: positions))
    }

    // MARK: Jumps

    /// Replaces the range with the one around the jump's destination, which is not loaded.
    /// - Parameter unreadLineAfter: the message that the unread line follows, if there is a line.
    func load(_ jump: TimelineJump, unreadLineAfter: MessageID?) {
        let read: Read
        switch jump.destination {
        case .message(let id): read = .around(.message(id))
        case .date(let date): read = .around(.date(date))
        case .firstUnread:
            guard let unreadLineAfter else { return }
            read = .around(.message(unreadLineAfter))
        case .oldest: read = .after(.min)
        case .newest: read = .before(.max)
        }
        invalidateRequest()
        currentJump = jump
        request(.jump(jump.destination), read, jump: jump)
    }

    /// Drops the jump in flight, so that it is not performed when the room opens again.
    func forgetJump() { currentJump = nil }

    /// Postpones a jump until the room has loaded.
    func postpone(_ jump: TimelineJump) { postponedJump = jump }

    /// Returns the jump that was postponed, at most once.
    func dequeueJump() -> TimelineJump? {
        defer { postponedJump = nil }
        return postponedJump
    }

    private func postponeCurrentJump() {
        postponedJump = postponedJump ?? currentJump
        currentJump = nil
        invalidateRequest()
    }

    // MARK: Requests

    private nonisolated enum Read: Sendable {
        case before(Int64)
        case after(Int64)
        case around(TimelineTarget)

        func page(from service: any TimelineService, of room: RoomID, limit: Int) async throws -> TimelinePage {
            switch self {
            case .before(let position): try await service.messages(in: room, before: position, limit: limit)
            case .after(let position): try await service.messages(in: room, after: position, limit: limit)
            case .around(let target): try await service.messages(in: room, around: target, limit: limit)
            }
        }
    }

    private func invalidateRequest() {
        generation += 1
        if range.loading != nil { range.loading = nil }
        nextEdge = nil
        missedUpdates = []
    }

    private func request(_ loading: TimelineRange.Loading, _ read: Read, jump: TimelineJump? = nil) {
        range.loading = loading
        missedUpdates = []
        Task { [weak self, service, roomID, pageSize, generation, bodies] in
            let result = await Result {
                let page = try await read.page(from: service, of: roomID, limit: pageSize)
                await bodies.prepare(page.messages)
                return page
            }
            guard let self, self.generation == generation else { return }
            self.finish(loading, result, jump)
        }
    }

    private func finish(
        _ loading: TimelineRange.Loading, _ result: Result<TimelinePage, any Error>, _ jump: TimelineJump?
    ) {
        let missed = missedUpdates
        range.loading = nil
        missedUpdates = []
        currentJump = nil
        switch result {
        case .success(let page):
            reportedFailure = nil
            if case .page(let edge) = loading { add(page, at: edge) } else { replace(with: page) }
            if let jump { onOutput(.jumped(jump)) }
            missed.forEach(change)
            trim()
            onOutput(.finished(isLoaded: true))
        case .failure(let error):
            onOutput(.finished(isLoaded: false))
            report(ChatError(error), of: loading)
        }
        if let edge = nextEdge {
            nextEdge = nil
            load(edge)
        }
    }

    /// The view keeps requesting a page that failed, so report repeated identical failures once.
    private func report(_ error: ChatError, of loading: TimelineRange.Loading) {
        if case .page = loading {
            guard reportedFailure != error else { return }
            reportedFailure = error
        }
        onOutput(.failed(error))
    }
}

nonisolated extension Result where Failure == any Error {
    /// Captures the outcome of asynchronous work.
    init(_ work: () async throws -> Success) async {
        do { self = .success(try await work()) } catch { self = .failure(error) }
    }
}
