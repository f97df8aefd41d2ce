/// What a character is to completion, in the order in which it is asked (HKW-40).
enum CompletionCharacterClass: Hashable, CaseIterable {
    case blank
    /// A prefix of a single character.
    case control
    case punctuation
    /// Letters, digits, symbols, emoji.
    case normal

    /// - Parameter controls: the prefixes of one character.
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
    /// Punctuation of any kind, in any script.
    var isPunctuationMark: Bool {
        switch unicodeScalars.first!.properties.generalCategory {
        case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation,
            .finalPunctuation, .otherPunctuation:
            true
        default: false
        }
    }

    /// A bracket or quotation mark that something may begin behind.
    var opens: Bool {
        switch unicodeScalars.first!.properties.generalCategory {
        case .openPunctuation, .initialPunctuation: true
        default: "\"'¿¡".contains(self)
        }
    }
}

extension CompletionBoundary {
    /// Whether a prefix may follow this character; nil is the start of the text.
    ///
    /// - Parameter endsMention: the character is the last of a mention.
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
