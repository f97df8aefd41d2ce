/// Toggles Markdown rules on a selection (SLK-29, SLK-30).
struct MarkdownFormatting {
    let document: ComposerDocument
    let selection: TextRange

    /// Returns the change that toggles a rule and preserves the selection, or `nil` if there is nothing to do.
    func toggling(_ rule: MarkdownRule) -> TextChange? {
        let format: FormatEdits? =
            switch rule.form {
            case .pair: rule.closes ? pairEdits(rule.symbol) : openingEdits(rule.symbol)
            case .linePrefix: linePrefixEdits(rule.symbol)
            case .fence: fenceEdits(rule.symbol)
            case .link: linkEdits()
            }
        guard let format, !format.edits.isEmpty else { return nil }
        let edits = format.edits.sorted { $0.range.location < $1.range.location }
        // From the end of the text to its start, so that earlier offsets stay valid.
        return TextChange(
            joined(edits).map { [$0] } ?? edits.reversed(), origin: .code, selection: format.selection)
    }

    /// Whether the rule is available at the start of the selection (SLK-30).
    func offers(_ rule: MarkdownRule) -> Bool {
        switch rule.offer {
        case .always: true
        case .atLineStart: startsLine(selection.location) || rule.form == .linePrefix && isBehindPrefix(rule.symbol)
        }
    }

    /// The titles of the rules that are available, in order.
    func offered(of rules: [MarkdownRule]) -> [String] { rules.filter { offers($0) }.map(\.title) }

    private func startsLine(_ offset: Int) -> Bool { document.character(before: offset)?.isLineBreak ?? true }

    /// Whether the selection starts directly after the prefix of a line, where the rule is available for removal.
    private func isBehindPrefix(_ symbol: String) -> Bool {
        let line = document.line(at: selection.location)
        let length = startsLine(line.location) ? prefixLength(of: symbol, in: line) : 0
        return length > 0 && selection.location == line.location + length
    }

    /// Merges more than 64 edits into one that replaces the text between them. Returns `nil` if that would lose spans.
    private func joined(_ edits: [TextEdit]) -> TextEdit? {
        guard edits.count > 64, let first = edits.first, let last = edits.last else { return nil }
        let range = TextRange(start: first.range.location, end: last.range.end)
        guard !document.spans.contains(where: { $0.range.intersects(range) }) else { return nil }
        let old = Array(document.text(in: range).utf16)
        var new: [UInt16] = []
        var position = 0
        for edit in edits {
            new += old[position..<(edit.range.location - range.location)]
            new += edit.replacement.utf16
            position = edit.range.end - range.location
        }
        return TextEdit(range: range, replacement: String(decoding: new, as: UTF16.self))
    }

    // MARK: Pairs

    private func openingEdits(_ symbol: String) -> FormatEdits {
        let edit = TextEdit(range: .caret(selection.location), replacement: symbol)
        let moved = TextRange(location: selection.location + symbol.utf16.count, length: selection.length)
        return FormatEdits(edits: [edit], selection: moved)
    }

    private func pairEdits(_ symbol: String) -> FormatEdits? {
        let size = symbol.utf16.count
        guard !selection.isEmpty else { return emptyPairEdits(symbol) }
        let segments = selectedSegments().map { PairSegment($0, symbol: symbol, in: document) }
        guard let first = segments.first, let last = segments.last else { return nil }
        if segments.allSatisfy(\.isWrapped) {
            let edits = segments.flatMap { segment in
                [segment.content.location - size, segment.content.end].map {
                    TextEdit(range: TextRange(location: $0, length: size), replacement: "")
                }
            }
            let removed = size * (2 * segments.count - 1)
            let selection = TextRange(start: first.content.location - size, end: last.content.end - removed)
            return FormatEdits(edits: edits, selection: selection)
        }
        let open = segments.filter { !$0.isWrapped }
        let edits = open.flatMap { segment in
            [segment.content.location, segment.content.end].map { TextEdit(range: .caret($0), replacement: symbol) }
        }
        let start = first.content.location + (first.isWrapped ? 0 : size)
        let end = last.content.end + size * (2 * open.count - (last.isWrapped ? 0 : 1))
        return FormatEdits(edits: edits, selection: TextRange(start: start, end: end))
    }

    /// Without a selection: inserts a pair around the caret, or removes an empty pair around it.
    private func emptyPairEdits(_ symbol: String) -> FormatEdits {
        let size = symbol.utf16.count
        let caret = selection.location
        let around = PairSegment(.caret(caret), symbol: symbol, in: document)
        if around.isWrapped {
            let pair = TextEdit(range: TextRange(location: caret - size, length: 2 * size), replacement: "")
            return FormatEdits(edits: [pair], selection: .caret(caret - size))
        }
        let pair = TextEdit(range: .caret(caret), replacement: symbol + symbol)
        return FormatEdits(edits: [pair], selection: .caret(caret + size))
    }

    /// The selection, trimmed, split at empty lines, which delimiters can't span, and extended to whole mentions.
    private func selectedSegments() -> [TextRange] {
        var segments: [TextRange] = []
        var start: Int?
        var end = 0
        for line in selectedLines() {
            let clippedLine = TextRange(
                start: max(line.location, selection.location), end: min(line.end, selection.end))
            if let trimmed = trimmed(clippedLine) {
                start = start ?? trimmed.location
                end = trimmed.end
            } else if let from = start {
                segments.append(TextRange(start: from, end: end))
                start = nil
            }
        }
        if let from = start { segments.append(TextRange(start: from, end: end)) }
        return segments.map { segment in
            let start = document.mention(around: segment.location)?.range.location ?? segment.location
            return TextRange(start: start, end: document.mention(around: segment.end)?.range.end ?? segment.end)
        }
    }

    private func trimmed(_ range: TextRange) -> TextRange? {
        guard !range.isEmpty else { return nil }
        let start = document.storage.firstOffset(from: range.location) { !$0.isBlank }
        let end = document.storage.lastOffset(before: range.end) { !$0.isBlank }
        return start < min(end, range.end) ? TextRange(start: start, end: end) : nil
    }

    /// The lines that the selection touches, without their line breaks; a line that starts at the end of the
    /// selection doesn't count. Scans the selected text once.
    private func selectedLines() -> [TextRange] {
        var lineStart = document.line(at: selection.location, limit: .max).location
        var lines: [TextRange] = []
        var position = lineStart
        var isAfterReturn = false
        for scalar in document.text(in: TextRange(start: position, end: selection.end)).unicodeScalars {
            let next = position + scalar.utf16.count
            if scalar.isLineBreak {
                if !(isAfterReturn && scalar == "\n") { lines.append(TextRange(start: lineStart, end: position)) }
                lineStart = next
            }
            isAfterReturn = scalar == "\r"
            position = next
        }
        if lineStart < selection.end || lines.isEmpty { lines.append(document.line(at: lineStart, limit: .max)) }
        return lines
    }

    // MARK: Lines

    private func linePrefixEdits(_ symbol: String) -> FormatEdits {
        let lines = selectedLines()
        let candidates = lines.count == 1 ? lines : lines.filter { trimmed($0) != nil }
        let found = candidates.map { prefixLength(of: symbol, in: $0) }
        let removes = !found.isEmpty && found.allSatisfy { $0 > 0 }
        var edits: [TextEdit] = []
        for (line, length) in zip(candidates, found) where removes || length == 0 {
            let range = TextRange(location: line.location, length: removes ? length : 0)
            edits.append(TextEdit(range: range, replacement: removes ? "" : symbol))
        }
        let start = moved(selection.location, by: edits)
        let end = selection.isEmpty ? start : moved(selection.end, by: edits)
        return FormatEdits(edits: edits, selection: TextRange(start: start, end: max(start, end)))
    }

    /// The length of the prefix of a line in UTF-16 code units, or 0. The space is optional: `>quote` is a quote as
    /// well.
    private func prefixLength(of symbol: String, in line: TextRange) -> Int {
        let head = document.text(
            in: TextRange(location: line.location, length: min(line.length, symbol.utf16.count + 1)))
        let bare = symbol.trimmingBlanks()
        if head.hasPrefix(symbol), bare != symbol { return symbol.utf16.count }
        guard bare == ">" || bare == symbol, head.hasPrefix(bare) else { return 0 }
        let hasSpace = bare == ">" && head.dropFirst().first == " "
        return bare.utf16.count + (hasSpace ? 1 : 0)
    }

    /// Returns an offset after edits, which must be in ascending order.
    private func moved(_ offset: Int, by edits: [TextEdit]) -> Int {
        var result = offset
        for edit in edits where edit.range.location <= offset {
            result += edit.replacement.utf16.count - min(edit.range.length, offset - edit.range.location)
        }
        return result
    }

    // MARK: Fences and links

    private func fenceEdits(_ symbol: String) -> FormatEdits {
        let opening = symbol + "\n"
        let closing = "\n" + symbol
        let size = opening.utf16.count
        let range = selection
        let before = TextRange(location: range.location - size, length: size)
        let after = TextRange(location: range.end, length: size)
        if document.contains(before), document.contains(after), document.text(in: before) == opening,
            document.text(in: after) == closing
        {
            let edits = [before, after].map { TextEdit(range: $0, replacement: "") }
            return FormatEdits(edits: edits, selection: TextRange(location: before.location, length: range.length))
        }
        let startsLine = document.character(before: range.location)?.isLineBreak ?? true
        let endsLine = document.character(at: range.end)?.isLineBreak ?? true
        let head = (startsLine ? "" : "\n") + opening
        let tail = closing + (endsLine ? "" : "\n")
        let content = TextRange(location: range.location + head.utf16.count, length: range.length)
        if range.isEmpty {
            return FormatEdits(edits: [TextEdit(range: range, replacement: head + tail)], selection: content)
        }
        let edits = [
            TextEdit(range: .caret(range.location), replacement: head),
            TextEdit(range: .caret(range.end), replacement: tail),
        ]
        return FormatEdits(edits: edits, selection: content)
    }

    private func linkEdits() -> FormatEdits? {
        let range = selection
        guard !range.isEmpty else {
            return FormatEdits(
                edits: [TextEdit(range: range, replacement: "[]()")], selection: .caret(range.location + 1))
        }
        if let edits = unlinkEdits() { return edits }
        guard let label = trimmed(range) else { return nil }
        let text = document.text(in: TextRange(location: label.location, length: min(label.length, 2048)))
        let isAddress = text.contains("://") && !text.contains(where: \.isBlank)
        let (head, tail) = isAddress ? ("[](", ")") : ("[", "]()")
        let edits = [
            TextEdit(range: .caret(label.location), replacement: head),
            TextEdit(range: .caret(label.end), replacement: tail),
        ]
        let caret = isAddress ? label.location + 1 : label.end + head.utf16.count + 2
        return FormatEdits(edits: edits, selection: .caret(caret))
    }

    /// If the selection is the text of a link, returns the edits that remove the link.
    private func unlinkEdits() -> FormatEdits? {
        let range = selection
        guard document.character(before: range.location) == "[" else { return nil }
        let line = document.line(at: range.end)
        let rest = document.text(in: TextRange(start: range.end, end: line.end))
        guard rest.hasPrefix("]("), let close = rest.firstIndex(of: ")") else { return nil }
        let length = rest.utf16.distance(from: rest.startIndex, to: close) + 1
        let edits = [
            TextEdit(range: TextRange(location: range.location - 1, length: 1), replacement: ""),
            TextEdit(range: TextRange(location: range.end, length: length), replacement: ""),
        ]
        return FormatEdits(edits: edits, selection: TextRange(location: range.location - 1, length: range.length))
    }
}

/// Non-overlapping edits of a text, and the selection after all of them.
private struct FormatEdits {
    var edits: [TextEdit]
    var selection: TextRange
}
