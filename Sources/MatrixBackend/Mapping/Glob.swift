/// A glob pattern in a push rule: `*` matches any text, `?` one character; case-insensitive.
struct Glob: Equatable, Sendable {
    private enum Token: Equatable, Sendable {
        case character(Character)
        case one
        case any
    }

    /// In bytes; longer patterns match nothing. Matching takes time proportional to the pattern's length times the
    /// text's.
    static let maxLength = 255

    private let tokens: [Token]
    /// What the whole text has to be for a pattern without wildcards. Users may have a rule for each of their rooms, so
    /// this is compared at once.
    private let literal: String?
    /// Whether the pattern may match part of the text, if it is delimited by word boundaries.
    private let isInWords: Bool
    /// A pattern that is too long matches nothing.
    private var isTooLong = false

    init(_ pattern: String, inWords: Bool = false) {
        var tokens: [Token] = []
        isTooLong = pattern.utf8.count > Self.maxLength
        let pattern = isTooLong ? "" : pattern
        for character in pattern.lowercased() {
            switch character {
            // Consecutive asterisks are equivalent to one.
            case "*": if tokens.last != .any { tokens.append(.any) }
            case "?": tokens.append(.one)
            default: tokens.append(.character(character))
            }
        }
        self.tokens = tokens
        let hasWildcards = pattern.contains { $0 == "*" || $0 == "?" }
        literal = inWords || hasWildcards ? nil : pattern.lowercased()
        isInWords = inWords
    }

    init(literal: String, inWords: Bool = false) {
        isTooLong = literal.utf8.count > Self.maxLength
        tokens = isTooLong ? [] : literal.lowercased().map { .character($0) }
        self.literal = inWords ? nil : literal.lowercased()
        isInWords = inWords
    }

    func matches(_ text: String) -> Bool {
        if isTooLong { return false }
        if let literal { return text.lowercased() == literal }
        let text = Array(text.lowercased())
        guard isInWords else { return Self.match(tokens, text) }
        guard !tokens.isEmpty else { return false }
        return matchesWords(of: text)
    }

    /// Whether the pattern matches a run of whole words. All start positions are simulated at once, as an NFA, so the
    /// time is at most the text's length times the pattern's.
    private func matchesWords(of text: [Character]) -> Bool {
        var states = [Bool](repeating: false, count: tokens.count + 1)
        for index in 0...text.count {
            if index == 0 || !Self.isWord(text[index - 1]) { states[0] = true }
            spread(&states)
            if states[tokens.count], index == text.count || !Self.isWord(text[index]) { return true }
            guard index < text.count else { break }
            step(&states, over: text[index])
        }
        return false
    }

    private static func match(_ tokens: [Token], _ text: [Character]) -> Bool {
        let glob = Glob(tokens: tokens)
        var states = [Bool](repeating: false, count: tokens.count + 1)
        states[0] = true
        glob.spread(&states)
        for character in text {
            glob.step(&states, over: character)
            glob.spread(&states)
        }
        return states[tokens.count]
    }

    private init(tokens: [Token]) {
        self.tokens = tokens
        literal = nil
        isInWords = false
    }

    /// Follows the empty transitions: `*` matches the empty text.
    private func spread(_ states: inout [Bool]) {
        for index in tokens.indices where states[index] && tokens[index] == .any { states[index + 1] = true }
    }

    private func step(_ states: inout [Bool], over character: Character) {
        for index in stride(from: tokens.count, through: 0, by: -1) {
            let stays = index < tokens.count && tokens[index] == .any && states[index]
            let comes: Bool
            if index > 0, states[index - 1] {
                switch tokens[index - 1] {
                case .one: comes = true
                case .character(let expected): comes = expected == character
                case .any: comes = false
                }
            } else {
                comes = false
            }
            states[index] = stays || comes
        }
    }

    private static func isWord(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }
}
