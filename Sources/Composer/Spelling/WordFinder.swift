/// Finds the words of a text that a dictionary can check. Skips whatever is not prose: addresses, names after a prefix,
/// paths, emoji codes, words with digits or in capitals, and scripts without spaces between words.
struct WordFinder {
    struct Word: Equatable, Sendable {
        let range: TextRange
        let text: String
    }

    /// Longer tokens are not words.
    private static let maxLength = 64

    private(set) var words: [Word] = []
    private var token: [Character] = []
    /// The offsets of the token's characters, and of its end.
    private var offsets: [Int] = []

    /// - Parameters:
    ///   - text: starts and ends at word boundaries.
    ///   - start: its offset in the document.
    init(_ text: String, from start: Int) {
        var offset = start
        for character in text {
            if character.isBlank {
                finishToken(at: offset)
            } else {
                token.append(character)
                offsets.append(offset)
            }
            offset += character.utf16.count
        }
        finishToken(at: offset)
    }

    private mutating func finishToken(at end: Int) {
        guard !token.isEmpty else { return }
        offsets.append(end)
        if !isAddress { addWords() }
        token.removeAll(keepingCapacity: true)
        offsets.removeAll(keepingCapacity: true)
    }

    private mutating func addWords() {
        var start = 0
        while start < token.count {
            guard token[start].beginsWord else {
                start += 1
                continue
            }
            var end = start + 1
            while end < token.count {
                let continues = end + 1 < token.count && token[end].joinsWord && token[end + 1].beginsWord
                guard token[end].beginsWord || continues else { break }
                end += 1
            }
            let text = String(token[start..<end])
            if !isEmojiCode(start..<end), Self.isProse(token[start..<end]) {
                words.append(Word(range: TextRange(start: offsets[start], end: offsets[end]), text: text))
            }
            start = end
        }
    }

    // MARK: What is left out

    private static func isProse(_ word: ArraySlice<Character>) -> Bool {
        guard (2...maxLength).contains(word.count) else { return false }
        var (hasCapitals, hasOthers) = (false, false)
        for scalar in word.lazy.flatMap(\.unicodeScalars) {
            switch scalar.properties.generalCategory {
            case .decimalNumber, .letterNumber, .otherNumber: return false
            case .uppercaseLetter: hasCapitals = true
            case .lowercaseLetter, .otherLetter, .titlecaseLetter: hasOthers = true
            default: break
            }
            if scalar.isOfUnspacedScript { return false }
        }
        return hasOthers || !hasCapitals
    }

    /// Whether the token is an address, a path or a name.
    private var isAddress: Bool {
        guard let first = token.first else { return false }
        let second = token.dropFirst().first
        switch first {
        case "/", "\\": return true
        case "~" where second == "/": return true
        case "#", ":", "@": if second?.beginsWord ?? false { return true }
        default: break
        }
        for (index, character) in token.enumerated() {
            switch character {
            case "@": return true
            case "\\": return true
            case ":" where token[index...].starts(with: "://"): return true
            case "_" where index > 0 && index + 1 < token.count:
                if token[index - 1].beginsWord, token[index + 1].beginsWord { return true }
            default: break
            }
        }
        return isDomain
    }

    /// Whether it starts like `example.org`, ignoring brackets.
    private var isDomain: Bool {
        guard let start = token.firstIndex(where: \.beginsWord) else { return false }
        var name = token[start...].prefix { $0.isASCII && ($0.beginsWord || $0 == "." || $0 == "-") }
        while let last = name.last, !last.beginsWord { name.removeLast() }
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex, name[dot - 1].beginsWord else { return false }
        let label = name[(dot + 1)...]
        return (2...24).contains(label.count) && label.allSatisfy { ("a"..."z").contains($0) }
    }

    /// Whether the word is part of a code such as `:thumbs-up:`.
    private func isEmojiCode(_ word: Range<Int>) -> Bool {
        func isOfCode(_ character: Character) -> Bool {
            character.beginsWord || character == "_" || character == "-" || character == "+"
        }
        let before = token[..<word.lowerBound].last { !isOfCode($0) }
        let behind = token[word.upperBound...].first { !isOfCode($0) }
        return before == ":" && behind == ":"
    }

    // MARK: Boundaries

    /// Whether a range of a document is a whole word.
    static func isWhole(_ range: TextRange, in document: ComposerDocument) -> Bool {
        guard document.aligned(range) == range, !range.isEmpty else { return false }
        if let before = document.character(before: range.location) {
            if before.beginsWord { return false }
            let joint = range.location - before.utf16.count
            if before.joinsWord, document.character(before: joint)?.beginsWord ?? false { return false }
        }
        if let behind = document.character(at: range.end) {
            if behind.beginsWord { return false }
            let next = document.character(at: range.end + behind.utf16.count)
            if behind.joinsWord, next?.beginsWord ?? false { return false }
        }
        return document.character(at: range.location)?.beginsWord ?? false
    }
}

extension Character {
    /// Whether it is a letter, a digit or a mark, in any script.
    var beginsWord: Bool { unicodeScalars.first!.isWordScalar }

    /// Whether it belongs to a word between two letters: apostrophes, the Catalan and the Hebrew dots.
    var joinsWord: Bool {
        switch self {
        case "'", "\u{2019}", "\u{B7}", "\u{5F3}", "\u{5F4}": true
        default: false
        }
    }
}

extension Unicode.Scalar {
    /// Whether it belongs to a script without spaces between words, which word lists cannot check.
    fileprivate var isOfUnspacedScript: Bool {
        switch value {
        case ..<0xE00: false
        case 0xE00...0xEFF, 0x1000...0x109F, 0x1780...0x17FF, 0x3040...0x30FF, 0x31F0...0x31FF: true
        default: properties.isIdeographic
        }
    }
}
