/// Derives the token at the caret from the document alone (SLK-18 to SLK-20, HKW-69).
struct TokenFinder {
    /// The maximum query length in characters (HKW-69).
    static let maxQueryLength = 60
    /// The number of scalars examined on each side of the caret, to bound the cost of a key press.
    private static let reach = 200

    let options: CompletionOptions
    let caret: Int
    let rules: CompletionRules
    private let document: ComposerDocument
    /// The text before the caret in its line, back to the last mention.
    private let head: [Character]
    private let headStart: Int
    private let followsMention: Bool

    /// Returns `nil` inside a mention, where there is nothing to complete.
    ///
    /// - Parameter withSpaces: whether to find queries that contain white space; otherwise only the word at the caret
    ///   is examined, to keep key presses cheap while no list is open.
    init?(
        _ document: ComposerDocument, caret: Int, options: CompletionOptions, rules: CompletionRules, withSpaces: Bool
    ) {
        self.document = document
        self.caret = caret
        self.options = options
        self.rules = rules
        var start = document.storage.lastOffset(before: caret, limit: Self.reach) { scalar in
            withSpaces ? scalar.isLineBreak : scalar.isBlank
        }
        var followsMention = false
        for span in document.spans where span.mention != nil {
            if span.range.location < caret, caret < span.range.end { return nil }
            if span.range.end <= caret, span.range.end >= start {
                start = span.range.end
                followsMention = true
            }
        }
        headStart = start
        self.followsMention = followsMention
        head = Array(document.text(in: TextRange(start: start, end: caret)))
    }

    /// The text after the caret, up to white space or a mention.
    private var tail: String {
        var end = document.storage.firstOffset(from: caret, limit: Self.reach) { $0.isBlank }
        for span in document.spans where span.mention != nil && span.range.location >= caret {
            end = min(end, span.range.location)
        }
        return document.text(in: TextRange(start: caret, end: end))
    }

    /// The start of the white-space-delimited word that ends at the caret.
    var wordStart: Int { caret - head.reversed().prefix { !$0.isBlank }.reduce(0) { $0 + $1.utf16.count } }

    /// The start of an implicit token that ends at the caret.
    var implicitStart: Int { caret - implicitWord.reduce(0) { $0 + $1.utf16.count } }

    private var implicitWord: ReversedCollection<[Character]>.SubSequence {
        head.reversed().prefix { CompletionCharacterClass($0, controls: rules.controls) == .normal }
    }

    // MARK: Explicit tokens

    /// Returns the token whose prefix is nearest to the caret (MIB-24); of prefixes with the same end, the longest
    /// wins.
    ///
    /// - Parameters:
    ///   - spaces: the maximum number of blanks in the query; `nil` uses the limit of the rule.
    ///   - anyLength: whether to ignore the minimum query length of the rule.
    func explicit(spaces: Int? = nil, anyLength: Bool = false) -> CompletionToken? {
        guard !head.isEmpty else { return nil }
        for end in stride(from: head.count, through: max(0, head.count - Self.maxQueryLength - 1), by: -1) {
            for (rule, prefix) in rules.longestFirst where end >= prefix.count {
                let start = end - prefix.count
                guard head[start..<end].elementsEqual(prefix), let token = token(rule, start, end, spaces, anyLength)
                else { continue }
                return token
            }
        }
        return nil
    }

    private func token(_ rule: CompletionRule, _ start: Int, _ end: Int, _ spaces: Int?, _ anyLength: Bool)
        -> CompletionToken?
    {
        let location = headStart + head[..<start].reduce(0) { $0 + $1.utf16.count }
        guard rule.position == .anywhere || location == 0, isBoundary(rule, before: start, location) else { return nil }
        let typed = String(head[end...])
        let query = typed + queryTail(typed)
        let token = CompletionToken(
            rule: rule, kind: .explicit, range: TextRange(start: location, end: caret + rangeTail.utf16.count),
            query: query)
        guard token.blanks <= spaces ?? options.spaces(of: rule), !(query.first?.isBlank ?? false),
            query.count <= Self.maxQueryLength, anyLength || query.count >= rule.minQuery, !query.contains(rule.prefix),
            !TokenSafety.isSmiley(prefix: rule.prefix, query: query[...])
        else { return nil }
        let word = String(head[..<start].reversed().prefix { !$0.isBlank }.reversed())
        return TokenSafety.isInAddress(prefix: rule.prefix, after: word[...]) ? nil : token
    }

    private func isBoundary(_ rule: CompletionRule, before headIndex: Int, _ location: Int) -> Bool {
        let boundary = rule.boundary ?? options.boundary
        let previous = headIndex > 0 ? head[headIndex - 1] : document.character(before: location)
        // `@@` and `::` don't start completion (HKW-39).
        let length = rule.prefix.count
        if headIndex >= length, head[(headIndex - length)..<headIndex].elementsEqual(rule.prefix) { return false }
        return boundary.allows(previous, endsMention: headIndex == 0 && followsMention, controls: rules.controls)
    }

    /// The text after the caret that belongs to the query: the rest of the word (SLK-18), or only directly after a
    /// newly typed prefix (HKW-37).
    private func queryTail(_ typed: String) -> String {
        switch options.queryExtent {
        case .caret: ""
        case .word: rangeTail
        case .typed: typed.isEmpty ? rangeTail : ""
        }
    }

    /// The rest of the word after the caret, which acceptance replaces as well (SLK-20, HKW-54).
    private var rangeTail: String {
        if options.queryExtent == .word { return tail }
        return String(tail.prefix { $0.isWordCharacter || $0 == "_" })
    }

    // MARK: Implicit tokens

    /// Returns the word before the caret if enough of it was typed without interruption (HKW-38).
    func implicit(since: Int) -> CompletionToken? {
        guard options.implicitLength > 0 else { return nil }
        let word = implicitWord
        let start = caret - word.reduce(0) { $0 + $1.utf16.count }
        guard start >= since, word.count >= options.implicitLength, word.count <= Self.maxQueryLength else {
            return nil
        }
        let before = String(head.dropLast(word.count).reversed().prefix { !$0.isBlank }.reversed())
        guard !before.contains("://"), !before.hasSuffix("@") else { return nil }
        return implicit(from: start)
    }

    /// Returns the implicit token between `start` and the caret.
    func implicit(from start: Int) -> CompletionToken? {
        guard start >= headStart, start < caret else { return nil }
        let query = document.text(in: TextRange(start: start, end: caret))
        let token = CompletionToken(
            rule: .implicit, kind: .implicit, range: TextRange(start: start, end: caret + rangeTail.utf16.count),
            query: query)
        guard token.blanks <= options.querySpaces, query.count <= Self.maxQueryLength else { return nil }
        return token
    }
}

/// The completion rules, prepared for lookup on each key press.
struct CompletionRules: Sendable {
    /// The rules and the control characters, each with its prefix, longest prefix first, otherwise in their given
    /// order.
    let longestFirst: [(rule: CompletionRule, prefix: [Character])]
    /// The single-character prefixes.
    let controls: Set<Character>

    init(_ options: CompletionOptions) {
        let all = options.rules + options.controlCharacters.map { CompletionRule(prefix: $0) }
        let sorted = all.enumerated().sorted { left, right in
            let (one, other) = (left.element.prefix.count, right.element.prefix.count)
            return one == other ? left.offset < right.offset : one > other
        }
        longestFirst = sorted.map { ($0.element, Array($0.element.prefix)) }.filter { !$0.prefix.isEmpty }
        controls = Set(longestFirst.filter { $0.prefix.count == 1 }.map { $0.prefix[0] })
    }

    func rule(for prefix: String) -> CompletionRule? { longestFirst.first { $0.rule.prefix == prefix }?.rule }
}

extension CompletionOptions {
    /// Whether any rule can open completion.
    var isOffered: Bool { !rules.isEmpty || !controlCharacters.isEmpty || implicitLength > 0 }

    func spaces(of rule: CompletionRule) -> Int { rule.spaces ?? querySpaces }
}
