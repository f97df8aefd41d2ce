import ChatCore
import Foundation

/// The search that is under way while somebody types: begins anew with each key, reads on, and passes on nothing of an
/// earlier one.
final class RunningSearch {
    /// Told of each page in turn; answers whether another one is wanted at once.
    var onPage: ((MessageSearch.Page, SearchTerms) -> Bool)?
    /// Told why there is nothing: what was typed makes no sense, or the search failed.
    var onFailure: (([SearchSyntax.Problem], ChatError?) -> Void)?
    private let service: any SearchService
    private let pageSize: Int
    private var search: MessageSearch?
    private var running: Task<Void, Never>?
    /// Counts searches: an answer to an earlier one is of no use.
    private var generation = 0

    init(service: any SearchService, pageSize: Int) {
        self.service = service
        self.pageSize = pageSize
    }

    isolated deinit { running?.cancel() }

    func stop() {
        generation += 1
        running?.cancel()
        running = nil
        search = nil
    }

    /// Whether a text asks for something that can be looked for.
    static func isSearchable(_ syntax: SearchSyntax) -> Bool { !syntax.isEmpty && syntax.problems.isEmpty }

    /// Ends the search before, and begins this one if it asks for something.
    ///
    /// - Parameters:
    ///   - room: the only room that is searched; nil for all.
    ///   - rooms: all rooms by their names.
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

    /// Asks for what comes after the last page.
    /// - Returns: false if nothing was found yet.
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
                needsMore = onPage?(page, search.terms) ?? false
                // A page may have stopped the search.
                guard self.generation == generation else { return }
            }
        } catch {
            fail(error, generation)
        }
    }

    private func fail(_ error: any Error, _ generation: Int) {
        guard self.generation == generation, !(error is CancellationError) else { return }
        if let rejection = error as? MessageSearch.Rejection {
            onFailure?(rejection.problems, nil)
        } else {
            onFailure?([], ChatError(error))
        }
    }
}
