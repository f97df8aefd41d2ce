import ChatCore
import Foundation

/// A search that restarts as the user types, and discards the results of earlier queries.
final class RunningSearch {
    private let onPage: (MessageSearch.Page, SearchTerms) -> Bool
    private let onFailure: ([SearchSyntax.Problem], ChatError?) -> Void
    private let service: any SearchService
    private let pageSize: Int
    private var search: MessageSearch?
    private var running: Task<Void, Never>?
    /// Incremented by each search: results of earlier ones are discarded.
    private var generation = 0

    /// - Parameters:
    ///   - onPage: receives each page; returns whether to load the next one immediately.
    ///   - onFailure: receives the problems of an invalid query, or the error of a failed search.
    init(
        service: any SearchService, pageSize: Int, onPage: @escaping (MessageSearch.Page, SearchTerms) -> Bool,
        onFailure: @escaping ([SearchSyntax.Problem], ChatError?) -> Void
    ) {
        self.service = service
        self.pageSize = pageSize
        self.onPage = onPage
        self.onFailure = onFailure
    }

    isolated deinit { running?.cancel() }

    func stop() {
        generation += 1
        running?.cancel()
        running = nil
        search = nil
    }

    /// Whether a query is valid and not empty.
    nonisolated static func isSearchable(_ syntax: SearchSyntax) -> Bool { !syntax.isEmpty && syntax.problems.isEmpty }

    /// Cancels the current search and starts this one, if it is searchable.
    ///
    /// - Parameters:
    ///   - room: the only room to search, or `nil` for all.
    ///   - rooms: all rooms with their names.
    func start(_ syntax: SearchSyntax, in room: RoomID?, rooms: [(id: RoomID, name: String)]) {
        stop()
        guard Self.isSearchable(syntax) else { return }
        running = Task { [weak self, generation, service] in
            do {
                let search = try await MessageSearch(syntax, in: room, rooms: rooms, service: service)
                await self?.run(search, generation)
            } catch {
                self?.fail(error, generation)
            }
        }
    }

    /// Loads the next page.
    /// - Returns: `false` if the first page has not arrived yet.
    func readOn() -> Bool {
        guard let search else { return false }
        running = Task { [weak self, generation] in await self?.run(search, generation) }
        return true
    }

    private func run(_ search: MessageSearch, _ generation: Int) async {
        var search = search
        do {
            var needsMore = true
            while needsMore {
                let page = try await search.next(limit: pageSize)
                guard self.generation == generation else { return }
                self.search = search
                needsMore = onPage(page, search.terms)
                // The handler may have stopped the search.
                guard self.generation == generation else { return }
            }
        } catch {
            fail(error, generation)
        }
    }

    private func fail(_ error: any Error, _ generation: Int) {
        guard self.generation == generation, !(error is CancellationError) else { return }
        if let rejection = error as? MessageSearch.Rejection {
            onFailure(rejection.problems, nil)
        } else {
            onFailure([], ChatError(error))
        }
    }
}
