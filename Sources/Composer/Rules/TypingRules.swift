/// Rules that apply to typing, never to paste, undo or changes by code (SLK-37).
struct TypingRules {
    let configuration: ComposerConfiguration
    let document: ComposerDocument

    // MARK: Line breaks

    /// A line break over a range. It continues a quote or list, and ends it on an empty item (SLK-30, SLK-32).
    func lineBreak(over range: TextRange) -> TextEdit {
        guard range.isEmpty, let item = listItem(at: range.location) else {
            return TextEdit(range: range, replacement: "\n")
        }
        let contentStart = item.line.location + item.item.length
        let content = document.text(in: TextRange(start: contentStart, end: item.line.end))
        guard content.nonBlankScalarCount == 0 else {
            return TextEdit(range: range, replacement: "\n" + item.item.outer + item.item.nextMarker)
        }
        // On an empty item, a list inside a quote falls back to the quote; otherwise the marker is removed.
        let replacement = item.item.marker.isEmpty || !item.item.isQuote ? "" : item.item.outer
        return TextEdit(range: TextRange(start: item.line.location, end: item.line.end), replacement: replacement)
    }

    private func listItem(at caret: Int) -> (item: ListItem, line: TextRange)? {
        guard document.syntax == .markdown, configuration.continuesLists,
            configuration.markdown.contains(where: { $0.form == .linePrefix })
        else { return nil }
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

    /// Whether an offset is in a code span or a code fence. Literal text has none.
    func isInCode(at offset: Int) -> Bool {
        guard document.syntax == .markdown else { return false }
        let line = document.line(at: offset)
        if isInFence(at: line.location) { return true }
        let styling = MarkdownStyling(rules: configuration.markdown)
        return styling.runs(in: document.text(in: line), isInFence: false).runs.contains { run in
            run.style == .code && run.range.covers(.caret(offset - line.location))
        }
    }

    /// Whether what is typed at an offset becomes code, also in a span that is not closed yet.
    func writesCode(at offset: Int) -> Bool {
        if isInCode(at: offset) { return true }
        guard document.syntax == .markdown,
            configuration.markdown.contains(where: { $0.form == .pair && $0.symbol == "`" })
        else { return false }
        let start = document.line(at: offset).location
        return Self.leavesCodeOpen(document.text(in: TextRange(start: start, end: offset)))
    }

    /// Whether a line opens a code span without closing it.
    private static func leavesCodeOpen(_ line: String) -> Bool {
        /// The number of backticks that opened the span, and that close it.
        var open: Int?
        var rest = line[...]
        while let next = rest.first {
            let count = rest.prefix { $0 == "`" }.count
            if count == 0 {
                // In code, a backslash escapes nothing.
                rest = rest.dropFirst(next == "\\" && open == nil ? 2 : 1)
                continue
            }
            if open == nil { open = count } else if open == count { open = nil }
            rest = rest.dropFirst(count)
        }
        return open != nil
    }

    // MARK: Double spaces

    /// Whether a typed text may be the second of two spaces.
    static func isSpace(_ typed: String) -> Bool { typed.count == 1 && typed.first?.isInlineSpace ?? false }

    /// What replaces a space and the one before it after a word: it closes an open delimiter or inserts a period
    /// (SLK-31). A step of its own, so that one undo restores the text as typed.
    ///
    /// - Parameters:
    ///   - caret: after the space that was typed.
    ///   - isCompleting: whether completion is open, where a query may contain spaces.
    func doubleSpace(before caret: Int, isCompleting: Bool) -> TextChange? {
        guard configuration.doubleSpaceCloses || configuration.doubleSpacePeriod else { return nil }
        let second = document.clusterBoundary(before: caret)
        guard second > 0, let first = document.character(before: second), first.isInlineSpace else { return nil }
        let wordEnd = document.clusterBoundary(before: second)
        guard let last = document.character(before: wordEnd), !last.isBlank,
            let text = substitute(for: last, at: wordEnd, isCompleting: isCompleting),
            configuration.fitsLimit(adding: text.count - 2, to: document)
        else { return nil }
        return TextChange(replacing: TextRange(start: wordEnd, end: caret), with: text, origin: .code)
    }

    private func substitute(for last: Character, at wordEnd: Int, isCompleting: Bool) -> String? {
        if configuration.doubleSpaceCloses, let symbol = openSymbol(at: wordEnd) { return symbol + " " }
        let touchesMention = document.mentions.contains { $0.range.end == wordEnd }
        let endsSentence = last.isWordCharacter || ")]\"'”’".contains(last)
        return configuration.doubleSpacePeriod && !touchesMention && !isCompleting && endsSentence ? ". " : nil
    }

    private func openSymbol(at wordEnd: Int) -> String? {
        guard document.syntax == .markdown else { return nil }
        let line = document.line(at: wordEnd)
        let symbols = configuration.markdown.filter { $0.closes && ($0.form == .pair || $0.form == .fence) }.map(
            \.symbol)
        guard !symbols.isEmpty, !isInFence(at: line.location) else { return nil }
        let paragraph = document.text(in: TextRange(start: line.location, end: wordEnd))
        let finder = OpenSymbolFinder(paragraph: paragraph, symbols: configuration.markdown.map(\.symbol))
        return finder.innermost(of: symbols)
    }
}
