import ChatCore
import Foundation

/// One search as it was typed, page by page.
///
/// Names are looked up once. Pages that hold nothing are passed over, so that ``next()`` gives something or the end.
nonisolated struct MessageSearch: Sendable {
    /// What came of a page.
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
    ///   - room: the only room that is searched; nil for all.
    ///   - rooms: all rooms by their names.
    /// - Throws: ``Rejection`` where names are of nobody, or what the service throws.
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
        // Every message of a room is no answer to nothing.
        isAtEnd = syntax.isEmpty
    }

    struct Rejection: Error, Equatable {
        var problems: [SearchSyntax.Problem]
    }

    /// The next page with something in it, of at most `limit` messages.
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
