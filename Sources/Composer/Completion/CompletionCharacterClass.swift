/// The character classes of completion, in the order in which they are tested (HKW-40).
enum CompletionCharacterClass: Hashable, CaseIterable {
    case blank
    /// A single-character prefix.
    case control
    case punctuation
    /// Letters, digits, symbols, emoji.
    case normal

    /// - Parameter controls: the single-character prefixes.
    init(_ character: Character, controls: Set<Character>) {
        if character.isBlank || character == "\0" {
            self = .blank
        } else if controls.contains(character) {
            self = .control
        } else if character.isPunctuationMark {
            self = .punctuation
        } else {
            self = .normal
        }
    }

    var isSeparator: Bool { self == .blank || self == .punctuation }
}

extension Character {
    /// Whether the character is punctuation (general category P), in any script.
    var isPunctuationMark: Bool {
        switch unicodeScalars.first!.properties.generalCategory {
        case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation,
            .finalPunctuation, .otherPunctuation:
            true
        default: false
        }
    }

    /// Whether the character is an opening bracket or quotation mark, after which a prefix may start.
    var opens: Bool {
        switch unicodeScalars.first!.properties.generalCategory {
        case .openPunctuation, .initialPunctuation: true
        default: "\"'¿¡".contains(self)
        }
    }
}

extension CompletionBoundary {
    /// Whether a prefix may follow this character; `nil` stands for the start of the text.
    ///
    /// - Parameter endsMention: whether the character is the last one of a mention.
    func allows(_ character: Character?, endsMention: Bool, controls: Set<Character>) -> Bool {
        guard let character, !character.isBlank else { return true }
        switch self {
        case .whitespace: return false
        case .openPunctuation: return character.opens && !endsMention
        case .punctuation:
            return endsMention || CompletionCharacterClass(character, controls: controls) == .punctuation
        case .notAlphanumeric: return endsMention || !character.isWordCharacter
        case .anywhere: return true
        }
    }
}
