import ChatCore

/// A word of a search as the word index has it: exactly one token of FTS5's tokenizer `unicode61`.
///
/// A quoted text that the tokenizer separates would be a phrase, for which the index has no positions (`detail=none`).
struct IndexedWord: Equatable {
    /// The maximum number of words of a text.
    private static let maxCount = 32

    let text: String
    /// Whether it is only the beginning of a token.
    let isBeginning: Bool

    /// Returns the words of a text, of which the last one may go on.
    static func all(in text: String) -> [IndexedWord] {
        var words: [IndexedWord] = []
        var word: [Unicode.Scalar] = []
        var isUnknown = false
        func end(isBeginning: Bool = false) {
            if !word.isEmpty {
                words.append(IndexedWord(text: String(String.UnicodeScalarView(word)), isBeginning: isBeginning))
            }
            word = []
        }
        for scalar in text.unicodeScalars {
            switch ScalarClass(scalar) {
            case .letter: if !isUnknown { word.append(scalar) }
            case .diacritic: break
            case .separator:
                end()
                isUnknown = false
            case .unknown:
                // It either separates two words or is within one, whose end nobody knows.
                end(isBeginning: true)
                isUnknown = true
            }
        }
        end()
        return words.prefix(maxCount).enumerated().map { index, word in
            index == min(words.count, maxCount) - 1 ? IndexedWord(text: word.text, isBeginning: true) : word
        }
    }

    /// Returns the condition of an FTS5 expression for any text that a search does not distinguish from a term that is
    /// too short for a trigram, or `nil` if the index has no words of it.
    static func conditionOfEquivalents(of term: String) -> String? {
        let unmarked = String(String.UnicodeScalarView(term.unicodeScalars.filter { !EquivalentScalars.isIgnored($0) }))
        var alternatives = [all(in: term)]
        // The index has a word without the marks that separate it.
        if all(in: unmarked) != alternatives[0] { alternatives.append(all(in: unmarked)) }
        guard alternatives.allSatisfy({ !$0.isEmpty }) else { return nil }
        let conditions = alternatives.map { "(\($0.map(\.conditionOfEquivalents).joined(separator: " AND ")))" }
        return "(\(conditions.joined(separator: " OR ")))"
    }

    /// Returns the words of a text, with their marks, that have marks at which the index separates them: it has only the
    /// parts between the marks, in no order.
    static func wordsWithMarks(in text: String) -> [String] {
        text.unicodeScalars
            .split { !ScalarClass.isInWord($0) }
            .filter { word in word.contains { ScalarClass.isMark($0) && ScalarClass($0) != .diacritic } }
            .map { String(String.UnicodeScalarView($0)) }
    }

    /// The condition of an FTS5 expression.
    var condition: String { term(text) }

    /// The condition for any text that a search does not distinguish, if the word is too short for a trigram.
    private var conditionOfEquivalents: String {
        let letters = Array(text.unicodeScalars)
        guard letters.count < 3 else { return condition }
        // The index has Latin letters without their diacritics.
        let spellings = LetterSpellings(letters) { letter in
            let all = EquivalentScalars.all(of: letter)
            return all[0].isASCII ? [all[0]] : all
        }.all
        return "(\(spellings.map { term($0) }.joined(separator: " OR ")))"
    }

    private func term(_ text: String) -> String { SearchExpression.quoted(text) + (isBeginning ? "*" : "") }

    /// What the tokenizer does with a scalar.
    private enum ScalarClass {
        case letter
        /// Belongs to the word before it and is dropped.
        case diacritic
        case separator
        /// Depends on the version of Unicode that SQLite's tables are made from: 6.1 up to now, in which what is not
        /// assigned belongs to words.
        case unknown

        init(_ scalar: Unicode.Scalar) {
            switch scalar.properties.generalCategory {
            case _ where Self.isReclassified(scalar): self = .unknown
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
                .letterNumber, .otherNumber:
                self = .letter
            // Letters to the tokenizer, but tokens that begin with one stand for rooms and senders.
            case .privateUse: self = .unknown
            case .unassigned: self = .unknown
            case _ where Self.isDiacritic(scalar): self = .diacritic
            default:
                let age = scalar.properties.age ?? (major: .max, minor: 0)
                self = (age.major, age.minor) <= (6, 1) ? .separator : .unknown
            }
        }

        static func isInWord(_ scalar: Unicode.Scalar) -> Bool {
            isMark(scalar) || ScalarClass(scalar) == .letter || ScalarClass(scalar) == .diacritic
        }

        /// Whether a scalar is a combining mark, or the zero width joiner, which joins letters as they do.
        static func isMark(_ scalar: Unicode.Scalar) -> Bool {
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .spacingMark, .enclosingMark: true
            default: scalar == "\u{200D}"
            }
        }

        /// Whether a scalar has become a letter or a mark since Unicode 6.1: of Mongolian, New Tai Lue and Vedic.
        private static func isReclassified(_ scalar: Unicode.Scalar) -> Bool {
            switch scalar.value {
            case 0x1885...0x1886, 0x19B0...0x19C9, 0x1CF2...0x1CF3: true
            default: false
            }
        }

        /// As `sqlite3Fts5UnicodeIsdiacritic`; all other marks are separators.
        private static func isDiacritic(_ scalar: Unicode.Scalar) -> Bool {
            guard (0x0300...0x0331).contains(scalar.value) else { return false }
            return (0x0003_61F8_0802_9FDF as UInt64) >> UInt64(scalar.value - 0x0300) & 1 != 0
        }
    }
}
