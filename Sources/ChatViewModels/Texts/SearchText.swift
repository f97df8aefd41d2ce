public import ChatCore
import Foundation

/// The texts of searches, in one room or in all.
public struct SearchText {
    private let wording: Wording
    private var translator: Translator { wording.translator }

    public init(_ wording: Wording) {
        self.wording = wording
    }

    public func text(for problem: SearchSyntax.Problem) -> String {
        switch problem {
        case .missingValue(let key):
            translator("Enter a value after “{filter}:”", ["filter": key])
        case .date(let value):
            translator(
                "“{value}” is not a valid date. Use 2024, 2024-05, 2024-05-31, today, or yesterday.", ["value": value])
        case .content(let value):
            translator("Unknown filter “has:{value}”. Use link, file, image, video, or audio.", ["value": value])
        case .unknownSender(let name): translator("No one named “{name}”", ["name": name])
        case .unknownRoom(let name): translator("No room named “{name}”", ["name": name])
        case .roomAlreadySpecified: translator("“in:” only works when searching all rooms")
        }
    }

    /// Returns the text of the first problem, or else of the error; empty if there is neither.
    public func text(for problems: [SearchSyntax.Problem], _ error: ChatError?) -> String {
        if let problem = problems.first { return text(for: problem) }
        return error == nil ? "" : translator("Could not search messages")
    }

    public var filters: String {
        translator("Filter with from:name, in:room, before:2024-05, after:yesterday, has:image")
    }

    /// Returns the position among the matches, such as "3 of 17"; empty before a search. Returns `nil` while a running
    /// search has no match yet, to keep the previous text: otherwise, it would flicker on every key press.
    public func count(_ state: RoomSearchViewModel.State) -> String? {
        guard let current = state.current else {
            return state.isSearching ? nil : state.hasNoResults ? translator("No results") : ""
        }
        let total = state.matches.count
        return translator(
            "{number} of {total}", ["number": String(current + 1), "total": state.hasMore ? "\(total)+" : "\(total)"])
    }
}
