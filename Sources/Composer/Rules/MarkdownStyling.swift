/// What of a paragraph is Markdown: for drawing it while it is written. The text itself stays as it is, and what is
/// sent is not made from this.
///
/// A paragraph costs its length. Rules of ``MarkdownRule`` are looked for; of `**` and `_` also the forms `__` and `*`.
public struct MarkdownStyling: Sendable {
    public enum Look: Hashable, Sendable, CaseIterable {
        /// A symbol: drawn dim.
        case marker
        case bold, italic, strike, code, link
        /// The text behind a quote's symbol.
        case quote
        /// A line of a block between fences.
        case codeBlock
    }

    public struct Run: Hashable, Sendable {
        /// In UTF-16 units of the paragraph.
        public var range: TextRange
        public var look: Look

        public init(_ look: Look, _ range: TextRange) {
            self.look = look
            self.range = range
        }
    }

    /// Longer paragraphs are left plain, in UTF-16 units.
    public static let limit = 10_000

    private struct Pair {
        let symbol: [Character]
        let look: Look
    }

    /// The longest symbols first.
    private let pairs: [Pair]
    private let prefixes: [(symbol: [Character], look: Look?)]
    private let fence: [Character]?
    private let hasLinks: Bool

    public init(rules: [MarkdownRule]) {
        var pairs: [Pair] = []
        for rule in rules where rule.form == .pair {
            guard let look = Self.looks[rule.symbol] ?? Self.titles[rule.title] else { continue }
            pairs.append(Pair(symbol: Array(rule.symbol), look: look))
            if let other = Self.synonyms[rule.symbol], !rules.contains(where: { $0.symbol == other }) {
                pairs.append(Pair(symbol: Array(other), look: look))
            }
        }
        self.pairs = pairs.sorted { $0.symbol.count > $1.symbol.count }
        prefixes = rules.filter { $0.form == .linePrefix }.map { rule in
            (Array(rule.symbol), rule.symbol.hasPrefix(">") ? .quote : nil)
        }
        fence = rules.first { $0.form == .fence }.map { Array($0.symbol) }
        hasLinks = rules.contains { $0.form == .link }
    }

    private static let looks: [String: Look] = ["**": .bold, "~~": .strike, "`": .code]
    private static let titles: [String: Look] = [
        "Bold": .bold, "Italic": .italic, "Italics": .italic, "Strike": .strike, "Code": .code,
    ]
    private static let synonyms = ["**": "__", "_": "*"]

    /// - Parameters:
    ///   - paragraph: without its line break.
    ///   - isInFence: whether a block that a fence opened is open where it starts.
    /// - Returns: the runs, and whether a block is open behind it.
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
            if let look = prefix.look, start < text.count { runs.append(Run(look, text.range(start..<text.count))) }
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
        var place = start
        while place < text.count {
            if text[place] == "\\" {
                place += 2
                continue
            }
            if hasLinks, text[place] == "[", let link = links.link(at: place) {
                runs += [
                    Run(.marker, text.range(place..<place + 1)), Run(.link, text.range(place + 1..<link.middle)),
                    Run(.marker, text.range(link.middle..<link.end)),
                ]
                // The address holds no Markdown; the words before it may.
                runs += inlineRuns(text.prefix(link.middle), from: place + 1)
                place = link.end
                continue
            }
            guard let index = pairs.firstIndex(where: { text.starts(with: $0.symbol, at: place) }) else {
                place += 1
                continue
            }
            let pair = pairs[index]
            let size = pair.symbol.count
            if pair.look == .code {
                if place < noCodeFrom, let end = text.find(pair.symbol, from: place + size), end > place + size {
                    runs += Self.runs(pair.look, text, place, end, size)
                    place = end + size
                } else {
                    noCodeFrom = place
                    place += size
                }
                continue
            }
            if let opener = open.lastIndex(where: { $0.pair == index }), text.closes(pair.symbol, at: place),
                open[opener].at + size < place
            {
                runs += Self.runs(pair.look, text, open[opener].at, place, size)
                open.removeSubrange(opener...)
            } else if text.opens(pair.symbol, at: place) {
                open.append((index, place))
            }
            place += size
        }
        return runs
    }

    private static func runs(_ look: Look, _ text: ParagraphText, _ open: Int, _ close: Int, _ size: Int) -> [Run] {
        [
            Run(.marker, text.range(open..<open + size)), Run(look, text.range(open + size..<close)),
            Run(.marker, text.range(close..<close + size)),
        ]
    }
}

/// A paragraph's characters, with where each stands.
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

    subscript(place: Int) -> Character { characters[place] }

    func range(_ places: Range<Int>) -> TextRange {
        TextRange(start: offsets[places.lowerBound], end: offsets[places.upperBound])
    }

    func starts(with symbol: [Character], at place: Int) -> Bool {
        guard place + symbol.count <= count else { return false }
        for (index, character) in symbol.enumerated() where characters[place + index] != character { return false }
        return true
    }

    func find(_ symbol: [Character], from place: Int) -> Int? {
        guard place <= count else { return nil }
        return (place..<max(place, count)).first { starts(with: symbol, at: $0) }
    }

    /// Whether a symbol there can open: something follows it, and underscores do not open within a word.
    func opens(_ symbol: [Character], at place: Int) -> Bool {
        let next = place + symbol.count
        guard next < count, !characters[next].isWhitespace else { return false }
        return symbol[0] != "_" || place == 0 || !characters[place - 1].isWordCharacter
    }

    /// Whether a symbol there can close: something stands before it, and underscores do not close within a word.
    func closes(_ symbol: [Character], at place: Int) -> Bool {
        guard place > 0, !characters[place - 1].isWhitespace else { return false }
        let next = place + symbol.count
        return symbol[0] != "_" || next >= count || !characters[next].isWordCharacter
    }
}

/// Finds `[words](address)` with one pass over the paragraph, however many brackets it holds.
private struct LinkFinder {
    private let text: ParagraphText
    private var middle = 0
    private var end = 0

    init(_ text: ParagraphText) {
        self.text = text
    }

    mutating func link(at place: Int) -> (middle: Int, end: Int)? {
        if middle <= place { middle = text.find(["]", "("], from: place + 2) ?? .max }
        guard middle < text.count else { return nil }
        if end <= middle { end = (text.find([")"], from: middle + 2) ?? .max - 1) + 1 }
        return end <= text.count ? (middle, end) : nil
    }
}
