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
    private let text: String
    private var token: [Letter] = []

    /// A grapheme cluster.
    private struct Letter {
        /// The first scalar, which decides what the cluster is.
        let scalar: Unicode.Scalar
        let beginsWord: Bool
        /// The offset in the document, in UTF-16 code units.
        let offset: Int
        /// The offset in the text, in bytes.
        let byte: Int
        let isASCII: Bool
    }

    /// - Parameters:
    ///   - text: starts and ends at word boundaries.
    ///   - start: its offset in the document.
    init(_ text: String, from start: Int) {
        self.text = text
        var offset = start
        var byte = 0
        for character in text {
            let scalar = character.unicodeScalars.first!
            let bytes = character.utf8.count
            if scalar.isBlank, character.isBlank {
                finishToken(at: offset, byte)
            } else {
                token.append(
                    Letter(
                        scalar: scalar, beginsWord: scalar.isWordScalar, offset: offset, byte: byte,
                        isASCII: bytes == 1))
            }
            offset += bytes == 1 ? 1 : character.utf16.count
            byte += bytes
        }
        finishToken(at: offset, byte)
    }

    private mutating func finishToken(at offset: Int, _ byte: Int) {
        guard !token.isEmpty else { return }
        if !isAddress { addWords(before: offset, byte) }
        token.removeAll(keepingCapacity: true)
    }

    /// - Parameters:
    ///   - endOffset: the end of the token in the document.
    ///   - endByte: the end of the token in the text.
    private mutating func addWords(before endOffset: Int, _ endByte: Int) {
        var start = 0
        while start < token.count {
            guard token[start].beginsWord else {
                start += 1
                continue
            }
            var end = start + 1
            while end < token.count {
                let continues = end + 1 < token.count && token[end].scalar.joinsWord && token[end + 1].beginsWord
                guard token[end].beginsWord || continues else { break }
                end += 1
            }
            let isLast = end == token.count
            if (2...Self.maxLength).contains(end - start), !isEmojiCode(start..<end) {
                let word = substring(token[start].byte, isLast ? endByte : token[end].byte)
                let range = TextRange(start: token[start].offset, end: isLast ? endOffset : token[end].offset)
                if Self.isProse(word) { words.append(Word(range: range, text: String(word))) }
            }
            start = end
        }
    }

    private func substring(_ start: Int, _ end: Int) -> Substring {
        let start = text.utf8.index(text.startIndex, offsetBy: start)
        return text[start..<text.utf8.index(text.startIndex, offsetBy: end)]
    }

    // MARK: What is left out

    private static func isProse(_ word: Substring) -> Bool {
        var (hasCapitals, hasOthers) = (false, false)
        for scalar in word.unicodeScalars {
            switch scalar.value {
            case 0x61...0x7A: hasOthers = true
            case 0x41...0x5A: hasCapitals = true
            case 0x30...0x39: return false
            case ..<0x80: continue
            default:
                switch scalar.properties.generalCategory {
                case .decimalNumber, .letterNumber, .otherNumber: return false
                case .uppercaseLetter: hasCapitals = true
                case .lowercaseLetter, .otherLetter, .titlecaseLetter: hasOthers = true
                default: break
                }
                if scalar.isOfUnspacedScript { return false }
            }
        }
        return hasOthers || !hasCapitals
    }

    /// Whether the token is an address, a path or a name.
    private var isAddress: Bool {
        guard let first = token.first else { return false }
        let second = token.dropFirst().first
        switch first.scalar {
        case "/", "\\": return true
        case "~" where second?.scalar == "/": return true
        case "#", ":", "@": if second?.beginsWord ?? false { return true }
        default: break
        }
        var hasDot = false
        for index in token.indices {
            switch token[index].scalar {
            case "@", "\\": return true
            case ":" where index + 2 < token.count:
                if token[index + 1].scalar == "/", token[index + 2].scalar == "/" { return true }
            case "_" where index > 0 && index + 1 < token.count:
                if token[index - 1].beginsWord, token[index + 1].beginsWord { return true }
            case ".": hasDot = true
            default: break
            }
        }
        return hasDot && isDomain
    }

    /// Whether it starts like `example.org`, ignoring brackets.
    private var isDomain: Bool {
        guard let start = token.firstIndex(where: \.beginsWord) else { return false }
        var name = token[start...].prefix { $0.isASCII && ($0.beginsWord || $0.scalar == "." || $0.scalar == "-") }
        while let last = name.last, !last.beginsWord { name.removeLast() }
        guard let dot = name.lastIndex(where: { $0.scalar == "." }), dot > name.startIndex, name[dot - 1].beginsWord
        else { return false }
        let label = name[(dot + 1)...]
        return (2...24).contains(label.count) && label.allSatisfy { ("a"..."z").contains($0.scalar) }
    }

    /// Whether the word is part of a code such as `:thumbs-up:`.
    private func isEmojiCode(_ word: Range<Int>) -> Bool {
        func isOfCode(_ letter: Letter) -> Bool {
            letter.beginsWord || letter.scalar == "_" || letter.scalar == "-" || letter.scalar == "+"
        }
        let before = token[..<word.lowerBound].last { !isOfCode($0) }
        guard before?.scalar == ":" else { return false }
        return token[word.upperBound...].first { !isOfCode($0) }?.scalar == ":"
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

    /// Whether it belongs to a word between two letters.
    var joinsWord: Bool { unicodeScalars.first!.joinsWord }
}

extension Unicode.Scalar {
    /// Whether it belongs to a word between two letters: apostrophes, the Catalan and the Hebrew dots.
    fileprivate var joinsWord: Bool {
        switch self {
        case "'", "\u{2019}", "\u{B7}", "\u{5F3}", "\u{5F4}": true
        default: false
        }
    }

    /// Whether it belongs to a script without spaces between words, which word lists cannot check.
    fileprivate var isOfUnspacedScript: Bool {
        switch value {
        case ..<0xE00: false
        case 0xE00...0xEFF, 0x1000...0x109F, 0x1780...0x17FF, 0x3040...0x30FF, 0x31F0...0x31FF: true
        default: properties.isIdeographic
        }
    }
}
