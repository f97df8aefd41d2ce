/// Values in right-to-left sentences, each in an isolate (UAX #9): what surrounds it does not move its punctuation.
enum Isolation {
    private static let firstStrongIsolate: Unicode.Scalar = "\u{2068}"
    private static let popDirectionalIsolate: Unicode.Scalar = "\u{2069}"
    private static let rightToLeftMark: Unicode.Scalar = "\u{200F}"
    private static let openers: ClosedRange<UInt32> = 0x2066...0x2068
    private static let controls: ClosedRange<UInt32> = 0x2066...0x2069
    /// Embeddings and overrides, which an isolate confines.
    private static let embeddings: ClosedRange<UInt32> = 0x202A...0x202E

    /// Appends a value, isolated where it would otherwise be drawn differently than by itself.
    ///
    /// A translation may join left-to-right text to a placeholder: “has:{value}”, or “/{name}” behind U+200E. The two are
    /// one word, so this text is inside the isolate, too: an isolate of the value alone would be drawn before it.
    static func append(
        _ value: String, to sentence: inout String.UnicodeScalarView, before rest: inout Substring.UnicodeScalarView
    ) {
        let value = balanced(value.unicodeScalars)
        guard isNeeded(for: value) else {
            sentence += value
            return
        }
        // A line has the direction of its first letter, and Pango also looks for that within isolates: a sentence that a
        // left-to-right value begins would be drawn from left to right.
        if !sentence.contains(where: { $0.direction == .rightToLeft }) {
            sentence.insert(rightToLeftMark, at: sentence.startIndex)
        }
        sentence.insert(firstStrongIsolate, at: startOfWord(ending: sentence))
        sentence += value
        let end = endOfWord(beginning: rest)
        sentence += rest[..<end]
        sentence.append(popDirectionalIsolate)
        rest = rest[end...]
    }

    /// Returns the text without isolates if they are not properly nested: one that a user's name leaves open would
    /// extend to the end of the sentence.
    private static func balanced(_ text: String.UnicodeScalarView) -> String.UnicodeScalarView {
        var depth = 0
        for scalar in text where controls.contains(scalar.value) {
            depth += openers.contains(scalar.value) ? 1 : -1
            if depth < 0 { break }
        }
        return depth == 0 ? text : String.UnicodeScalarView(text.filter { !controls.contains($0.value) })
    }

    /// Numbers are drawn the same, and so are texts in a right-to-left script. Among these are sentences with isolates
    /// of their own, such as a list of names, whose order an isolate without letters of its own would reverse.
    private static func isNeeded(for value: String.UnicodeScalarView) -> Bool {
        var depth = 0
        var isOfLanguage = false
        for scalar in value {
            if controls.contains(scalar.value) {
                depth += openers.contains(scalar.value) ? 1 : -1
                isOfLanguage = true
            } else if depth == 0 {
                if scalar.direction == .leftToRight || embeddings.contains(scalar.value) { return true }
                if scalar.direction == .rightToLeft { isOfLanguage = true }
            }
        }
        return !isOfLanguage && !value.allSatisfy(isOfNumber)
    }

    /// Digits and what groups them.
    private static func isOfNumber(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .decimalNumber || ",.٬٫".unicodeScalars.contains(scalar)
    }

    /// The start of the left-to-right text at the end of a sentence that is part of what follows.
    private static func startOfWord(ending sentence: String.UnicodeScalarView) -> String.Index {
        var start = sentence.endIndex
        for index in sentence.indices.reversed() {
            if separates(sentence[index]) { break }
            if sentence[index].direction == .leftToRight { start = index }
        }
        return start
    }

    private static func endOfWord(beginning rest: Substring.UnicodeScalarView) -> String.Index {
        var end = rest.startIndex
        for index in rest.indices {
            if separates(rest[index]) { break }
            if rest[index].direction == .leftToRight { end = rest.index(after: index) }
        }
        return end
    }

    /// Whether it ends a word: spaces, right-to-left letters, other values, and tags, which must stay whole.
    private static func separates(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || scalar.direction == .rightToLeft || controls.contains(scalar.value)
            || "{}<>".unicodeScalars.contains(scalar)
    }
}

/// The direction in which a script is written.
enum ScriptDirection {
    case leftToRight, rightToLeft
}

extension Unicode.Scalar {
    /// The direction that it gives to the text around it: that of letters and of directional marks, `nil` for digits,
    /// punctuation, symbols and spaces.
    var direction: ScriptDirection? {
        switch value {
        case 0x200E: return .leftToRight
        case 0x200F, 0x61C: return .rightToLeft
        default: break
        }
        switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .letterNumber,
            .spacingMark, .privateUse:
            return isInRightToLeftBlock ? .rightToLeft : .leftToRight
        default: return nil
        }
    }

    /// Hebrew, Arabic, Syriac, Thaana, NKo and others, with their presentation forms and supplements.
    private var isInRightToLeftBlock: Bool {
        switch value {
        case 0x590...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
        default: false
        }
    }
}
