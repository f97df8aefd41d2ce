import ChatCore
import Foundation

/// Pagination and jumps; one request at a time.
extension TimelineViewModel {
    func loadPage(_ edge: TimelineEdge) {
        guard state.isLoaded, state.loading == nil else {
            // The request in flight may already be for this page.
            if state.loading != .page(edge) { requestedEdge = edge }
            return
        }
        let read: @Sendable (any TimelineService) async throws -> TimelinePage
        switch edge {
        case .older:
            guard let start = loaded.start else { return }
            read = { [roomID, pageSize] in try await $0.messages(in: roomID, before: start, limit: pageSize) }
        case .newer:
            guard let end = loaded.end else { return }
            read = { [roomID, pageSize] in try await $0.messages(in: roomID, after: end, limit: pageSize) }
        }
        load(.page(edge), read) { model, page in
            let added = edge == .older ? model.loaded.prepend(page) : model.loaded.append(page)
            model.layOut(at: added + model.quotes.replies(to: page.messages.map(\.id)), asking: page.messages)
        }
    }

    struct Jump {
        var destination: Destination
        /// Whether to scroll to the destination.
        var isRevealing = true
        /// Runs once the destination is loaded.
        var then: (TimelineViewModel) -> Void = { _ in }
    }

    func jump(_ jump: Jump) {
        let destination = jump.destination
        guard state.isLoaded else {
            // Deferred until the room has loaded.
            awaited = jump
            return
        }
        jumping = nil
        if let effect = effectOfJump(to: destination) {
            if jump.isRevealing { reveal(effect) }
            return jump.then(self)
        }
        let read: @Sendable (any TimelineService) async throws -> TimelinePage
        switch destination {
        case .message(let id): read = around(.message(id))
        case .date(let date): read = around(.date(date))
        case .firstUnread:
            guard let unreadLineAfter else { return }
            read = around(.message(unreadLineAfter))
        case .oldest: read = { [roomID, pageSize] in try await $0.messages(in: roomID, after: .min, limit: pageSize) }
        case .newest: read = { [roomID, pageSize] in try await $0.messages(in: roomID, before: .max, limit: pageSize) }
        }
        // Cancel the request in flight: it belongs to the range being replaced.
        generation += 1
        state.loading = nil
        requestedEdge = nil
        jumping = jump
        load(.jump(destination), read) { model, page in
            model.replace(with: page)
            if jump.isRevealing, let effect = model.effectOfJump(to: destination) { model.reveal(effect) }
            jump.then(model)
        }
    }

    private func around(_ target: TimelineTarget) -> @Sendable (any TimelineService) async throws -> TimelinePage {
        { [roomID, pageSize] in try await $0.messages(in: roomID, around: target, limit: pageSize) }
    }

    /// How to scroll to a destination, or `nil` if it is not loaded.
    private func effectOfJump(to destination: Destination) -> Effect? {
        switch destination {
        case .message(let id): return loaded.position(of: id).flatMap(rows.row).map { .reveal($0) }
        case .firstUnread: return rows.index(of: .unreadLine) == nil ? nil : .reveal(.unreadLine)
        case .oldest: return state.hasOlder ? nil : .revealOldest
        case .newest: return state.isDetached ? nil : .revealNewest
        case .date(let date):
            guard let oldest = loaded.messages.first, loaded.start == nil || oldest.sentAt < date else { return nil }
            guard let first = loaded.messages.first(where: { $0.sentAt >= date }) else {
                return state.isDetached ? nil : .revealNewest
            }
            // Include the day divider if it directly precedes the message.
            let day = TimelineItem.ID.day(CalendarDay(of: first.sentAt))
            guard let row = rows.row(at: first.position) else { return nil }
            return .reveal(rows.index(of: day).map { $0 + 1 } == rows.index(of: row) ? day : row)
        }
    }

    private func load(
        _ loading: Loading, _ read: @escaping @Sendable (any TimelineService) async throws -> TimelinePage,
        _ integrate: @escaping (TimelineViewModel, TimelinePage) -> Void
    ) {
        state.loading = loading
        updatesWhileLoading = []
        Task { [weak self, service, generation, bodies] in
            let result = await Result {
                let page = try await read(service)
                await bodies.prepare(page.messages)
                return page
            }
            // Ignore results from before the timeline was reopened, cleared or left by a jump.
            guard let self, self.generation == generation else { return }
            self.finish(result, integrate)
        }
    }

    private func finish(
        _ result: Result<TimelinePage, any Error>, _ integrate: (TimelineViewModel, TimelinePage) -> Void
    ) {
        let loading = state.loading
        state.loading = nil
        jumping = nil
        let missed = updatesWhileLoading
        updatesWhileLoading = []
        switch result {
        case .success(let page):
            reportedPageFailure = nil
            integrate(self, page)
            missed.forEach(apply)
            trim()
            onEffect?(.loaded(isThere: true))
        case .failure(let error):
            onEffect?(.loaded(isThere: false))
            report(ChatError(error), of: loading)
        }
        if let edge = requestedEdge {
            requestedEdge = nil
            loadPage(edge)
        }
    }

    /// The view keeps requesting a page that failed, so report repeated identical failures once.
    private func report(_ error: ChatError, of loading: Loading?) {
        if case .page? = loading {
            guard reportedPageFailure != error else { return }
            reportedPageFailure = error
        }
        onOutput?(.failed(error))
    }

    /// Drops messages far from the scroll position, except while a page is loading, which must join the current range.
    func trim() {
        guard state.loading == nil, loaded.messages.count > 2 * reach else { return }
        let anchorPosition =
            scrollPosition.flatMap { loaded.position(of: $0.message) } ?? loaded.messages.last?.position ?? 0
        let dropped = loaded.trim(around: anchorPosition, reach: reach)
        quotes.release(dropped)
        layOut(at: dropped.map(\.position))
    }
}

nonisolated extension Result where Failure == any Error {
    /// Captures the outcome of asynchronous work.
    init(_ work: () async throws -> Success) async {
        do { self = .success(try await work()) } catch { self = .failure(error) }
    }
}
