import ChatCore

/// Requests pages at the ends of the loaded range, and other ranges to jump to, one request at a time.
final class TimelinePager {
    /// Delivered synchronously and in order.
    nonisolated enum Output: Equatable, Sendable {
        /// A request was sent (``loading``).
        case began
        /// No request is in flight any more.
        case ended
        case page(TimelinePage, at: TimelineEdge)
        /// The range around the destination of a jump.
        case range(TimelinePage, for: TimelineJump)
        /// A request has ended, successfully or not.
        case finished(isLoaded: Bool)
        case failed(ChatError)
        /// A page whose request had to wait can be requested now.
        case free(TimelineEdge)
    }

    /// The request in flight.
    private(set) var loading: TimelineRange.Loading?
    private let roomID: RoomID
    private let service: any TimelineService
    private let bodies: MessageBodies
    /// The number of messages requested per page.
    private let pageSize: Int
    /// Incremented to invalidate the request in flight.
    private var generation = 0
    /// The page whose request waits for the one in flight.
    private var nextEdge: TimelineEdge?
    /// The failure of the last page, which is reported once.
    private var reportedFailure: ChatError?
    /// The jump in flight.
    private var currentJump: TimelineJump?
    /// A jump to perform once the room has loaded.
    private var postponedJump: TimelineJump?
    private let onOutput: (Output) -> Void

    init(
        roomID: RoomID, service: any TimelineService, bodies: MessageBodies, pageSize: Int = 60,
        onOutput: @escaping (Output) -> Void
    ) {
        self.roomID = roomID
        self.service = service
        self.bodies = bodies
        self.pageSize = pageSize
        self.onOutput = onOutput
    }

    // MARK: Pages

    /// Returns the page to open a room with: the newest one, or the one around a message that the newest one lacks.
    func openingPage(_ newest: TimelinePage, around target: MessageID?) async -> (page: TimelinePage, isFound: Bool) {
        var found: TimelinePage? = newest
        if let target, newest.hasOlder, !newest.messages.contains(where: { $0.id == target }) {
            // If the message is gone or unreadable, use the newest page instead.
            found = try? await service.messages(in: roomID, around: .message(target), limit: pageSize)
        }
        let page = found ?? newest
        await bodies.prepare(page.messages)
        return (page, found != nil)
    }

    /// Requests the page at one end of the loaded messages, once a request in flight has finished.
    func load(_ edge: TimelineEdge, of loaded: LoadedMessages) {
        guard loading == nil else {
            // The request in flight may already be for this page.
            if loading != .page(edge) { nextEdge = edge }
            return
        }
        switch edge {
        case .older: if let start = loaded.start { request(.page(edge), .before(start)) }
        case .newer: if let end = loaded.end { request(.page(edge), .after(end)) }
        }
    }

    /// Cancels the request in flight.
    func cancel() {
        currentJump = nil
        invalidateRequest()
    }

    // MARK: Jumps

    /// Requests the range around the jump's destination, which is not loaded.
    /// - Parameter unreadLineAfter: the message above the unread line, if there is a line.
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

    /// Cancels the jump in flight or postponed, after the user has jumped to what is loaded. The view may wait for a
    /// page that the jump replaced or postponed, so that page is answered.
    func dropJump() {
        postponedJump = nil
        guard currentJump != nil else { return }
        let edge = nextEdge
        cancel()
        onOutput(.finished(isLoaded: false))
        if let edge { onOutput(.free(edge)) }
    }

    /// Postpones a jump until the room has loaded.
    func postpone(_ jump: TimelineJump) { postponedJump = jump }

    /// Cancels the jump in flight, and postpones it until the room has loaded.
    func postponeJump() {
        postponedJump = currentJump ?? postponedJump
        cancel()
    }

    /// Returns the jump that was postponed, at most once.
    func dequeueJump() -> TimelineJump? {
        defer { postponedJump = nil }
        return postponedJump
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
        nextEdge = nil
        guard loading != nil else { return }
        loading = nil
        onOutput(.ended)
    }

    private func request(_ loading: TimelineRange.Loading, _ read: Read, jump: TimelineJump? = nil) {
        self.loading = loading
        onOutput(.began)
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
        _ ended: TimelineRange.Loading, _ result: Result<TimelinePage, any Error>, _ jump: TimelineJump?
    ) {
        loading = nil
        currentJump = nil
        onOutput(.ended)
        switch result {
        case .success(let page):
            reportedFailure = nil
            if case .page(let edge) = ended { onOutput(.page(page, at: edge)) }
            if let jump { onOutput(.range(page, for: jump)) }
            onOutput(.finished(isLoaded: true))
        case .failure(let error):
            onOutput(.finished(isLoaded: false))
            report(ChatError(error), of: ended)
        }
        if let edge = nextEdge {
            nextEdge = nil
            onOutput(.free(edge))
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
