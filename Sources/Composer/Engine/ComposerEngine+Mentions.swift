/// Mentions as units: highlighting, deleting, trimming (HKW-55 to HKW-60, MIB-30).
extension ComposerEngine {
    private var options: CompletionOptions { configuration.completion }

    /// The mention that contains the caret or that the next Backspace acts on; drawn as selected (HKW-56).
    public var highlightedMention: Span.ID? {
        guard selection.isEmpty else { return nil }
        if let around = document.mention(around: selection.location) { return around.id }
        return armedMention.flatMap { id in document.mentions.contains { $0.id == id } ? id : nil }
    }

    // MARK: Backspace and Delete without a selection

    /// - Returns: whether there was a mention at the caret and the key was handled.
    mutating func deleteMention(backward: Bool, byWord: Bool) -> Bool {
        let caret = selection.location
        let touching = document.mentions.first { span in
            backward
                ? span.range.location < caret && caret <= span.range.end
                : span.range.location <= caret && caret < span.range.end
        }
        guard let span = touching, let mention = span.mention else { return false }
        switch options.mentionBackspace {
        case _ where byWord: shorten(span, to: nil)
        case .highlightTrimDelete:
            if highlightedMention == span.id {
                shorten(span, to: trimmed(mention), preservesHighlight: true)
            } else {
                armedMention = span.id
                transaction.preservesArmedMention = true
            }
        case .trimOrDelete: shorten(span, to: trimmed(mention))
        case .byParts: shorten(span, to: backward ? withoutLastWord(mention) : nil)
        case .whole: shorten(span, to: nil)
        }
        return true
    }

    /// Returns the trimmed mention, or `nil` if it can't be trimmed (HKW-58).
    private func trimmed(_ mention: Mention) -> Mention? {
        var trimmed = mention
        switch options.mentionTrim {
        case .none: return nil
        case .short: trimmed.text = mention.short?.withoutNUL() ?? ""
        case .firstWord: trimmed.text = String(mention.text.prefix { !$0.isBlank })
        }
        let isShorter = trimmed.text.utf16.count < mention.text.utf16.count
        return trimmed.text.isEmpty || !isShorter ? nil : trimmed
    }

    /// Returns the mention without its last word, or `nil` if it has only one (MIB-30).
    private func withoutLastWord(_ mention: Mention) -> Mention? {
        guard let blank = mention.text.lastIndex(where: \.isBlank) else { return nil }
        var shorter = mention
        shorter.text = String(mention.text[..<blank])
        while shorter.text.last?.isBlank ?? false { shorter.text.removeLast() }
        return shorter.text.isEmpty ? nil : shorter
    }

    /// Replaces a mention by a shorter one or by nothing, as one undo step.
    private mutating func shorten(_ span: Span, to shorter: Mention?, preservesHighlight: Bool = false) {
        let text = shorter?.text ?? ""
        guard admit(span.range, text, .typed) == text else { return }
        let newSpans = replace(span.range, with: shorter.map { [$0] } ?? [])
        observe(shorter == nil ? .mentionDeleted : .mentionTrimmed)
        guard preservesHighlight, let newSpan = newSpans.first else { return }
        armedMention = newSpan.id
        transaction.preservesArmedMention = true
    }

    /// Replaces a range by consecutive mentions and moves the caret after the first.
    private mutating func replace(_ range: TextRange, with mentions: [Mention]) -> [Span] {
        history.beginTransaction()
        defer { history.endTransaction() }
        let caret = range.location + (mentions.first?.text.utf16.count ?? 0)
        replace(range, with: mentions.map(\.text).joined(), origin: .typed, selecting: .caret(caret))
        var spans: [Span] = []
        var location = range.location
        for mention in mentions {
            let mentionRange = TextRange(location: location, length: mention.text.utf16.count)
            if let span = document.addMention(mention, over: mentionRange) { spans.append(span) }
            location = mentionRange.end
        }
        recordSpans()
        return spans
    }

    // MARK: Deleting a range

    /// Deletes a range at the user's request. Extends it to whole mentions at its ends, which may leave their short
    /// forms (HKW-59). Deleting within a single mention turns it into text (HKW-60).
    mutating func deleteRange(_ range: TextRange, grouping: UndoGrouping = .atomic) {
        let crossed = document.mentions.filter { $0.range.intersects(range) && !range.covers($0.range) }
        let trims = options.mentionBackspace == .trimOrDelete
        let isWithinOne = crossed.first?.range.covers(range) ?? true
        guard !crossed.isEmpty, trims || !isWithinOne, !isObservationSuspended else {
            guard admit(range, "", .typed) != nil else { return }
            let isWhole = document.mentions.contains { range.covers($0.range) }
            replace(range, with: "", origin: .typed, grouping: grouping)
            if isWhole { observe(.mentionDeleted) }
            return
        }
        let start = min(range.location, crossed[0].range.location)
        let wide = TextRange(start: start, end: max(range.end, crossed[crossed.count - 1].range.end))
        let trimmedMentions = trims ? crossed.compactMap(\.mention).compactMap { trimmed($0) } : []
        let text = trimmedMentions.map(\.text).joined()
        guard admit(wide, text, .typed) == text else { return }
        _ = replace(wide, with: trimmedMentions)
        observe(trimmedMentions.isEmpty ? .mentionDeleted : .mentionTrimmed)
    }

    // MARK: By code

    /// Adds a mention, undoably, if its text equals that of the range. Turns overlapping mentions into text and
    /// closes completion (HKW-67).
    mutating func addMention(_ mention: Mention, over range: TextRange) {
        closeCompletion()
        guard document.contains(range), !range.isEmpty, document.aligned(range) == range,
            document.text(in: range).unicodeScalars.elementsEqual(mention.text.unicodeScalars)
        else { return reject(.mention(mention)) }
        changeSpans { engine in
            engine.document.removeSpans { $0.mention != nil && $0.range.intersects(range) }
            _ = engine.document.addMention(mention, over: range)
        }
    }
}
