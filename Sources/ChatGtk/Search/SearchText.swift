import ChatCore
import ChatViewModels
import GtkKit

/// Localized search texts.
enum SearchText {
    static func text(for problem: SearchSyntax.Problem) -> String {
        switch problem {
        case .missingValue(let key):
            translated("Something is missing after “{filter}:”").replacing("{filter}", with: key)
        case .date(let value):
            translated("“{value}” is no date: write 2024, 2024-05, 2024-05-31, today or yesterday")
                .replacing("{value}", with: value)
        case .content(let value):
            translated("“has:{value}” is not known: there are link, file, image, video and audio")
                .replacing("{value}", with: value)
        case .unknownSender(let name): translated("Nobody is called “{name}”").replacing("{name}", with: name)
        case .unknownRoom(let name): translated("No room is called “{name}”").replacing("{name}", with: name)
        case .roomAlreadySpecified: translated("“in:” is for a search in all rooms")
        }
    }

    /// Returns the text of the first problem, or else of the error; empty if there is neither.
    static func text(for problems: [SearchSyntax.Problem], _ error: ChatError?) -> String {
        if let problem = problems.first { return text(for: problem) }
        return error == nil ? "" : translated("The messages could not be searched")
    }

    static var filters: String {
        translated("Narrow it down with from:name, in:room, before:2024-05, after:yesterday, has:image")
    }

    /// Returns the position among the matches, such as "3 of 17".
    static func count(_ state: RoomSearchViewModel.State) -> String {
        guard let current = state.current else {
            return state.hasNoResults ? translated("No matches") : ""
        }
        let total = state.matches.count
        return translated("{number} of {total}").replacing("{number}", with: String(current + 1))
            .replacing("{total}", with: state.hasMore ? "\(total)+" : "\(total)")
    }
}
