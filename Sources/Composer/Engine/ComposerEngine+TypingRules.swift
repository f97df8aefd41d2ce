/// Rules that apply to typing, never to paste, undo or changes by code (SLK-37).
extension ComposerEngine {
    // MARK: Line breaks

    /// Inserts a line break. Continues a quote or list, and ends it on an empty item (SLK-30, SLK-32).
    mutating func insertNewline(over range: TextRange) {
        let item = range.isEmpty && !isObservationSuspended ? listItem(at: range.location) : nil
        guard let item else { return insertBreak("\n", over: range) }
        let contentStart = item.line.location + item.item.length
        let content = document.text(in: TextRange(start: contentStart, end: item.line.end))
        guard content.nonBlankScalarCount == 0 else {
            return insertBreak("\n" + item.item.outer + item.item.nextMarker, over: range)
        }
        // On an empty item, a list inside a quote falls back to the quote; otherwise the marker is removed.
        let replacement = item.item.marker.isEmpty || !item.item.isQuote ? "" : item.item.outer
        let marker = TextRange(start: item.line.location, end: item.line.end)
        guard let admitted = admit(marker, replacement, .typed) else { return }
        replace(marker, with: admitted, origin: .typed)
    }

    private mutating func insertBreak(_ text: String, over range: TextRange) {
        guard let admitted = admit(range, text, .typed) else { return }
        let isPlain = range.isEmpty && admitted == "\n"
        replace(
            range, with: admitted, origin: .typed,
            grouping: isPlain ? .typing(startsBlank: true, endsBlank: true) : .atomic)
    }

    private func listItem(at caret: Int) -> (item: ListItem, line: TextRange)? {
        guard configuration.continuesLists, configuration.markdown.contains(where: { $0.form == .linePrefix }) else {
            return nil
        }
        let line = document.line(at: caret)
        let startsLine = line.location == 0 || document.character(before: line.location)?.isLineBreak ?? false
        let head = document.text(in: TextRange(location: line.location, length: min(line.length, 200)))
        guard startsLine, let item = ListItem(line: head[...]), caret >= line.location + item.length else { return nil }
        guard hasLinePrefix(item.marker.isEmpty ? [">"] : ["-", "*", "+"]), !isInFence(at: line.location) else {
            return nil
        }
        return (item, line)
    }

    private func hasLinePrefix(_ starts: [Character]) -> Bool {
        configuration.markdown.contains { rule in
            rule.form == .linePrefix && rule.symbol.first.map(starts.contains) ?? false
        }
    }

    /// Whether a line is inside a code fence that was opened in the preceding 16,384 UTF-16 code units.
    private func isInFence(at lineStart: Int) -> Bool {
        guard let fence = configuration.markdown.first(where: { $0.form == .fence }) else { return false }
        let before = document.text(in: TextRange(start: max(0, lineStart - 16_384), end: lineStart))
        let fences = before.split(whereSeparator: \.isNewline).filter { line in
            line.drop { $0 == " " }.hasPrefix(fence.symbol)
        }
        return !fences.count.isMultiple(of: 2)
    }

    // MARK: Double spaces

    /// Handles a second space after a word: closes an open delimiter or inserts a period (SLK-31).
    mutating func applySpaceRules(after typed: String) {
        guard configuration.doubleSpaceCloses || configuration.doubleSpacePeriod else { return }
        guard let space = typed.first, typed.count == 1, space.isInlineSpace, selection.isEmpty else { return }
        let caret = selection.location
        let second = document.clusterBoundary(before: caret)
        guard second > 0, let first = document.character(before: second), first.isInlineSpace else { return }
        let wordEnd = document.clusterBoundary(before: second)
        guard let last = document.character(before: wordEnd), !last.isBlank else { return }
        let spaces = TextRange(start: wordEnd, end: caret)
        if configuration.doubleSpaceCloses, let symbol = openSymbol(at: wordEnd) {
            return substitute(spaces, by: symbol + " ")
        }
        let touchesMention = document.mentions.contains { $0.range.end == wordEnd }
        let isCompleting = completing.session != nil
        if configuration.doubleSpacePeriod, !touchesMention, !isCompleting,
            last.isWordCharacter || ")]\"'”’".contains(last)
        {
            substitute(spaces, by: ". ")
        }
    }

    private func openSymbol(at wordEnd: Int) -> String? {
        let line = document.line(at: wordEnd)
        let symbols = configuration.markdown.filter { $0.closes && ($0.form == .pair || $0.form == .fence) }.map(
            \.symbol)
        guard !symbols.isEmpty, !isInFence(at: line.location) else { return nil }
        let paragraph = document.text(in: TextRange(start: line.location, end: wordEnd))
        let finder = OpenSymbolFinder(paragraph: paragraph, symbols: configuration.markdown.map(\.symbol))
        return finder.innermost(of: symbols)
    }

    /// A separate undo step, so that one undo restores the text as typed.
    private mutating func substitute(_ range: TextRange, by text: String) {
        guard fitsLimit(adding: text.count - 2) else { return }
        replace(range, with: text, origin: .code)
    }

    /// Whether an automatic change stays within the hard limit.
    func fitsLimit(adding units: Int) -> Bool {
        guard let limit = configuration.limit, configuration.limitPolicy == .hard, units > 0 else { return true }
        return configuration.limitedCount(of: document) + units <= limit
    }
}
