/// A pattern of push rules: `*` is any text, `?` one character; case makes no difference.
struct Glob: Equatable, Sendable {
    private enum Part: Equatable, Sendable {
        case character(Character)
        case one
        case any
    }

    /// In bytes: nothing that rules ask for is as long, and the time is that of the pattern's length times the text's.
    static let longest = 255

    private let parts: [Part]
    /// Whether a part of the text is enough that has no letter, digit or underscore beside it.
    private let isInWords: Bool
    /// Then it matches nothing.
    private var isTooLong = false

    init(_ pattern: String, inWords: Bool = false) {
        var parts: [Part] = []
        isTooLong = pattern.utf8.count > Self.longest
        let pattern = isTooLong ? "" : pattern
        for character in pattern.lowercased() {
            switch character {
            // Two say no more than one.
            case "*": if parts.last != .any { parts.append(.any) }
            case "?": parts.append(.one)
            default: parts.append(.character(character))
            }
        }
        self.parts = parts
        isInWords = inWords
    }

    init(literal: String, inWords: Bool = false) {
        isTooLong = literal.utf8.count > Self.longest
        parts = isTooLong ? [] : literal.lowercased().map { .character($0) }
        isInWords = inWords
    }

    func matches(_ text: String) -> Bool {
        if isTooLong { return false }
        let text = Array(text.lowercased())
        guard isInWords else { return Self.match(parts, text) }
        guard !parts.isEmpty else { return false }
        return matchesWords(of: text)
    }

    /// Whether the pattern matches a run of whole words: all its places at once, so that the time is that of the text's
    /// length times the pattern's, whatever they are.
    private func matchesWords(of text: [Character]) -> Bool {
        var states = [Bool](repeating: false, count: parts.count + 1)
        for place in 0...text.count {
            if place == 0 || !Self.isWord(text[place - 1]) { states[0] = true }
            spread(&states)
            if states[parts.count], place == text.count || !Self.isWord(text[place]) { return true }
            guard place < text.count else { break }
            step(&states, over: text[place])
        }
        return false
    }

    private static func match(_ parts: [Part], _ text: [Character]) -> Bool {
        let glob = Glob(parts: parts)
        var states = [Bool](repeating: false, count: parts.count + 1)
        states[0] = true
        glob.spread(&states)
        for character in text {
            glob.step(&states, over: character)
            glob.spread(&states)
        }
        return states[parts.count]
    }

    private init(parts: [Part]) {
        self.parts = parts
        isInWords = false
    }

    /// `*` may be nothing.
    private func spread(_ states: inout [Bool]) {
        for place in parts.indices where states[place] && parts[place] == .any { states[place + 1] = true }
    }

    private func step(_ states: inout [Bool], over character: Character) {
        for place in stride(from: parts.count, through: 0, by: -1) {
            let stays = place < parts.count && parts[place] == .any && states[place]
            let comes: Bool
            if place > 0, states[place - 1] {
                switch parts[place - 1] {
                case .one: comes = true
                case .character(let wanted): comes = wanted == character
                case .any: comes = false
                }
            } else {
                comes = false
            }
            states[place] = stays || comes
        }
    }

    private static func isWord(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }
}
