public import ChatCore
import Foundation

/// What the user does with a search field, in one room or in all.
public nonisolated enum SearchAction: Equatable, Sendable {
    /// Opens the search with the previous query.
    case open
    case close
    case type(String)
}

/// A search field, and the outcome of its query.
public nonisolated struct SearchFieldState: Equatable, Sendable {
    /// The step that follows an action.
    enum Step {
        case start(SearchSyntax)
        case stop
    }

    public private(set) var isOpen = false
    public private(set) var text = ""
    /// Why the query is invalid.
    public private(set) var problems: [SearchSyntax.Problem] = []
    /// The error of a failed search.
    public private(set) var error: ChatError?
    /// Whether more results can be loaded.
    public internal(set) var hasMore = false
    public internal(set) var isSearching = false

    /// Whether the query is empty.
    public var isUnasked: Bool { SearchSyntax(text).isEmpty }
    /// Whether the search has ended without an error, so that an empty result means that nothing matches.
    var isAnswered: Bool { !isSearching && error == nil && problems.isEmpty && !isUnasked }

    /// - Returns: the next step, or `nil` if nothing changed.
    mutating func apply(_ action: SearchAction, now: Date) -> Step? {
        switch action {
        case .open: isOpen ? nil : begin(text, now: now)
        case .close: isOpen ? end() : nil
        case .type(let typed): isOpen && typed != text ? begin(typed, now: now) : nil
        }
    }

    /// Repeats a query that failed.
    mutating func retry(now: Date) -> Step? {
        isOpen && error != nil && !isSearching ? begin(text, now: now) : nil
    }

    /// Ends the search with results. The error of an earlier attempt is gone.
    mutating func succeed() { fail([], nil) }

    mutating func fail(_ problems: [SearchSyntax.Problem], _ error: ChatError?) {
        (isSearching, self.problems, self.error) = (false, problems, error)
    }

    private mutating func begin(_ text: String, now: Date) -> Step {
        let syntax = SearchSyntax(text, now: now)
        self = SearchFieldState()
        (isOpen, self.text, problems) = (true, text, syntax.problems)
        isSearching = RunningSearch.isSearchable(syntax)
        return .start(syntax)
    }

    /// Keeps the text for the next time.
    private mutating func end() -> Step {
        let text = text
        self = SearchFieldState()
        self.text = text
        return .stop
    }
}
