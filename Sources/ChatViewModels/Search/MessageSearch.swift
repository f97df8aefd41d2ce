import ChatCore
import Foundation

/// A paginated search.
///
/// Names are resolved once. ``next(limit:)`` skips empty pages, so it returns results or the end.
nonisolated struct MessageSearch: Sendable {
    /// A page of results.
    struct Page: Sendable {
        var messages: [Message]
        var senders: [MemberID: Member]
        var hasMore: Bool
    }

    let terms: SearchTerms
    private let service: any SearchService
    private var query: SearchQuery
    private var isAtEnd = false

    /// - Parameters:
    ///   - room: the only room to search, or `nil` for all.
    ///   - rooms: all rooms with their names.
    /// - Throws: ``Rejection`` if a name matches nobody, or an error of the service.
    init(
        _ syntax: SearchSyntax, in room: RoomID?, rooms: [(id: RoomID, name: String)], service: any SearchService
    ) async throws {
        self.service = service
        var problems = syntax.problems
        query = SearchQuery(text: syntax.text, matching: .terms, room: room)
        query.from = syntax.from
        query.until = syntax.until
        query.contents = syntax.contents
        for name in syntax.senders {
            let members = try await service.members(named: name)
            if members.isEmpty { problems.append(.unknownSender(name)) }
            query.senders = (query.senders ?? []).union(members)
        }
        for name in syntax.rooms {
            guard room == nil else {
                problems.append(.roomAlreadySpecified)
                break
            }
            let nameTerms = SearchTerms(name)
            let found = rooms.filter { nameTerms.matchesWordStarts(of: $0.name) && !nameTerms.isEmpty }.map(\.id)
            if found.isEmpty { problems.append(.unknownRoom(name)) }
            query.rooms = (query.rooms ?? []).union(found)
        }
        terms = SearchTerms(syntax.text)
        guard problems.isEmpty else { throw Rejection(problems: problems) }
        // An empty query would match every message.
        isAtEnd = syntax.isEmpty
    }

    struct Rejection: Error, Equatable {
        var problems: [SearchSyntax.Problem]
    }

    /// Returns the next page of at most `limit` messages; it is empty only at the end.
    mutating func next(limit: Int) async throws -> Page {
        query.limit = limit
        while !isAtEnd {
            try Task.checkCancellation()
            let page = try await service.search(query)
            query.after = page.next
            isAtEnd = page.next == nil
            if !page.messages.isEmpty {
                return Page(messages: page.messages, senders: page.senders, hasMore: !isAtEnd)
            }
        }
        return Page(messages: [], senders: [:], hasMore: false)
    }
}
