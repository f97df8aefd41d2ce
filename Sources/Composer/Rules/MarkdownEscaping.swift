/// Writes a literal text as Markdown that reads the same, for pasting it into a Markdown text.
struct MarkdownEscaping {
    /// Whether no letter precedes in the line: what does may be the marker of a quote or list, behind which another
    /// one can follow.
    private let isLineStart: Bool
    /// The number of digits before the text, which a period or parenthesis would turn into the marker of a list.
    private let digitCount: Int

    /// - Parameter before: the part of the line before the text.
    init(after before: String) {
        isLineStart = !before.contains(where: \.isLetter)
        digitCount = isLineStart ? before.reversed().prefix { $0.isASCII && $0.isNumber }.count : 0
    }

    /// Returns the text with a backslash before each character that might be markup, except in mentions, whose text is
    /// literal in Markdown as well.
    func escaped(_ text: WrittenText) -> WrittenText {
        var isLineStart = isLineStart
        var digitCount = digitCount
        var mentions = text.marks.filter { $0.mention != nil }.map(\.range)[...]
        var escaped = String.UnicodeScalarView()
        var offset = 0
        // The offsets of the escaped characters.
        var escapes: [Int] = []
        for scalar in text.source.unicodeScalars {
            while let mention = mentions.first, mention.end <= offset { mentions.removeFirst() }
            let isMention = mentions.first.map { $0.location <= offset } ?? false
            if !isMention, Self.isMarkup(scalar, isLineStart: isLineStart, isAfterDigit: digitCount > 0) {
                escapes.append(offset)
                escaped.append("\\")
            }
            escaped.append(scalar)
            offset += scalar.utf16.count
            switch scalar {
            case "\n", "\r": (isLineStart, digitCount) = (true, 0)
            case " ", "\t": break
            case "0"..."9" where !isMention && (isLineStart || digitCount > 0):
                (isLineStart, digitCount) = (false, digitCount + 1)
            default: (isLineStart, digitCount) = (false, 0)
            }
        }
        let source = String(escaped)
        let marks = text.marks.map { mark in
            var mark = mark
            mark.range = TextRange(
                start: mark.range.location + Self.count(escapes, before: mark.range.location),
                end: mark.range.end + Self.count(escapes, before: mark.range.end))
            return mark
        }
        return WrittenText(source, marks: marks) ?? WrittenText(source)
    }

    private static func isMarkup(_ scalar: Unicode.Scalar, isLineStart: Bool, isAfterDigit: Bool) -> Bool {
        switch scalar {
        case "\\", "`", "*", "_", "~", "[", "]", "<", "&", "|", "#", "!": true
        case ">", "+", "-", "=", ":": isLineStart
        case ".", ")": isAfterDigit
        default: false
        }
    }

    /// The number of these offsets, in ascending order, that are less than a limit.
    private static func count(_ offsets: [Int], before limit: Int) -> Int {
        var (low, high) = (0, offsets.count)
        while low < high {
            let middle = (low + high) / 2
            if offsets[middle] < limit { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
