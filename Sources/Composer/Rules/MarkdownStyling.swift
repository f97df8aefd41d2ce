/// Markdown highlighting while typing. Doesn't change the text and isn't used for the sent message.
///
/// Styling a paragraph takes time linear in its length. Recognizes the rules of ``MarkdownRule``, and `__` and `*` as
/// variants of `**` and `_`.
public struct MarkdownStyling: Sendable {
    public enum Style: Hashable, Sendable, CaseIterable {
        /// A delimiter, drawn dim.
        case marker
        case bold, italic, strike, code, link
        /// The text after a quote marker.
        case quote
        /// A line inside a fenced code block.
        case codeBlock
    }

    public struct Run: Hashable, Sendable {
        /// In UTF-16 code units from the start of the paragraph.
        public var range: TextRange
        public var style: Style

        public init(_ style: Style, _ range: TextRange) {
            self.style = style
            self.range = range
        }
    }

    /// The maximum length of a styled paragraph, in UTF-16 code units; longer ones stay plain.
    public static let limit = 10_000

    private struct Pair {
        let symbol: [Character]
        let style: Style
    }

    /// Longest delimiter first.
    private let pairs: [Pair]
    private let prefixes: [(symbol: [Character], look: Style?)]
    private let fence: [Character]?
    private let hasLinks: Bool

    public init(rules: [MarkdownRule]) {
        var pairs: [Pair] = []
        for rule in rules where rule.form == .pair {
            guard let style = Self.stylesBySymbol[rule.symbol] ?? rule.kind.flatMap(Self.style) else { continue }
            pairs.append(Pair(symbol: Array(rule.symbol), style: style))
            if let other = Self.synonyms[rule.symbol], !rules.contains(where: { $0.symbol == other }) {
                pairs.append(Pair(symbol: Array(other), style: style))
            }
        }
        self.pairs = pairs.sorted { $0.symbol.count > $1.symbol.count }
        prefixes = rules.filter { $0.form == .linePrefix }.map { rule in
            (Array(rule.symbol), rule.symbol.hasPrefix(">") ? .quote : nil)
        }
        fence = rules.first { $0.form == .fence }.map { Array($0.symbol) }
        hasLinks = rules.contains { $0.form == .link }
    }

    private static let stylesBySymbol: [String: Style] = ["**": .bold, "~~": .strike, "`": .code]
    private static func style(of kind: MarkdownRule.Kind) -> Style? {
        switch kind {
        case .bold: .bold
        case .italic: .italic
        case .strikethrough: .strike
        case .code: .code
        case .codeBlock, .quote, .list, .link: nil
        }
    }

    private static let synonyms = ["**": "__", "_": "*"]

    /// Returns the styled ranges of a paragraph.
    ///
    /// - Parameters:
    ///   - paragraph: the text without its line break.
    ///   - isInFence: whether the paragraph starts inside a fenced code block.
    /// - Returns: the runs, and whether the next paragraph starts inside a fenced code block.
    public func runs(in paragraph: String, isInFence: Bool) -> (runs: [Run], isInFence: Bool) {
        let length = paragraph.utf16.count
        let whole = TextRange(location: 0, length: length)
        guard length <= Self.limit else { return ([], isInFence) }
        let text = ParagraphText(paragraph)
        if let fence, text.starts(with: fence, at: 0) {
            return (length > 0 ? [Run(.marker, whole)] : [], !isInFence)
        }
        if isInFence { return (length > 0 ? [Run(.codeBlock, whole)] : [], true) }
        var runs: [Run] = []
        var start = 0
        for prefix in prefixes where text.starts(with: prefix.symbol, at: 0) {
            start = prefix.symbol.count
            runs.append(Run(.marker, text.range(0..<start)))
            if let style = prefix.look, start < text.count { runs.append(Run(style, text.range(start..<text.count))) }
            break
        }
        return (runs + inlineRuns(text, from: start), false)
    }

    // MARK: Within a line

    private func inlineRuns(_ text: ParagraphText, from start: Int) -> [Run] {
        var runs: [Run] = []
        var open: [(pair: Int, at: Int)] = []
        var links = LinkFinder(text)
        var noCodeFrom = Int.max
        var position = start
        while position < text.count {
            if text[position] == "\\" {
                position += 2
                continue
            }
            if hasLinks, text[position] == "[", let link = links.link(at: position) {
                runs += [
                    Run(.marker, text.range(position..<position + 1)),
                    Run(.link, text.range(position + 1..<link.middle)),
                    Run(.marker, text.range(link.middle..<link.end)),
                ]
                // The URL contains no Markdown; the link text may.
                runs += inlineRuns(text.prefix(link.middle), from: position + 1)
                position = link.end
                continue
            }
            guard let index = pairs.firstIndex(where: { text.starts(with: $0.symbol, at: position) }) else {
                position += 1
                continue
            }
            let pair = pairs[index]
            let size = pair.symbol.count
            if pair.style == .code {
                if position < noCodeFrom, let end = text.find(pair.symbol, from: position + size), end > position + size
                {
                    runs += Self.runs(pair.style, text, position, end, size)
                    position = end + size
                } else {
                    noCodeFrom = position
                    position += size
                }
                continue
            }
            if let opener = open.lastIndex(where: { $0.pair == index }), text.closes(pair.symbol, at: position),
                open[opener].at + size < position
            {
                runs += Self.runs(pair.style, text, open[opener].at, position, size)
                open.removeSubrange(opener...)
            } else if text.opens(pair.symbol, at: position) {
                open.append((index, position))
            }
            position += size
        }
        return runs
    }

    private static func runs(_ style: Style, _ text: ParagraphText, _ open: Int, _ close: Int, _ size: Int) -> [Run] {
        [
            Run(.marker, text.range(open..<open + size)), Run(style, text.range(open + size..<close)),
            Run(.marker, text.range(close..<close + size)),
        ]
    }
}

/// The characters of a paragraph with their UTF-16 offsets.
private struct ParagraphText {
    private let characters: [Character]
    private let offsets: [Int]
    let count: Int

    init(_ text: String) {
        characters = Array(text)
        var offset = 0
        offsets =
            characters.map { character in
                defer { offset += character.utf16.count }
                return offset
            } + [text.utf16.count]
        count = characters.count
    }

    private init(_ other: ParagraphText, count: Int) {
        characters = other.characters
        offsets = other.offsets
        self.count = count
    }

    func prefix(_ count: Int) -> ParagraphText { ParagraphText(self, count: min(count, self.count)) }

    subscript(position: Int) -> Character { characters[position] }

    func range(_ positions: Range<Int>) -> TextRange {
        TextRange(start: offsets[positions.lowerBound], end: offsets[positions.upperBound])
    }

    func starts(with symbol: [Character], at position: Int) -> Bool {
        guard position + symbol.count <= count else { return false }
        for (index, character) in symbol.enumerated() where characters[position + index] != character { return false }
        return true
    }

    func find(_ symbol: [Character], from position: Int) -> Int? {
        guard position <= count else { return nil }
        return (position..<max(position, count)).first { starts(with: symbol, at: $0) }
    }

    /// Whether a delimiter can open here: it precedes a non-space, and `_` doesn't open within a word.
    func opens(_ symbol: [Character], at position: Int) -> Bool {
        let next = position + symbol.count
        guard next < count, !characters[next].isWhitespace else { return false }
        return symbol[0] != "_" || position == 0 || !characters[position - 1].isWordCharacter
    }

    /// Whether a delimiter can close here: it follows a non-space, and `_` doesn't close within a word.
    func closes(_ symbol: [Character], at position: Int) -> Bool {
        guard position > 0, !characters[position - 1].isWhitespace else { return false }
        let next = position + symbol.count
        return symbol[0] != "_" || next >= count || !characters[next].isWordCharacter
    }
}

/// Finds `[text](address)` in one pass over the paragraph, regardless of the number of brackets.
private struct LinkFinder {
    private let text: ParagraphText
    private var middle = 0
    private var end = 0

    init(_ text: ParagraphText) {
        self.text = text
    }

    mutating func link(at position: Int) -> (middle: Int, end: Int)? {
        if middle <= position { middle = text.find(["]", "("], from: position + 2) ?? .max }
        guard middle < text.count else { return nil }
        if end <= middle { end = (text.find([")"], from: middle + 2) ?? .max - 1) + 1 }
        return end <= text.count ? (middle, end) : nil
    }
}
