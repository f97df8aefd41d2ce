/// How deleting treats mentions as units: highlighting, trimming, removing (HKW-55 to HKW-60, MIB-30).
struct MentionDeletion {
    let document: ComposerDocument
    let options: CompletionOptions

    /// What a deletion does to mentions.
    enum Step: Equatable {
        case highlight(Span.ID)
        case replace(Replacement)
    }

    /// A range of mentions, and what replaces them.
    struct Replacement: Equatable {
        var range: TextRange
        var mentions: [Mention]
        /// Whether the next Backspace acts on the first of them.
        var staysHighlighted = false

        var text: String { mentions.map(\.text).joined() }

        /// Puts the caret after the first mention.
        var change: TextChange {
            var location = range.location
            let marks = mentions.map { mention in
                let markRange = TextRange(location: location, length: mention.text.utf16.count)
                location = markRange.end
                return WrittenText.Mark(.mention(mention.target), over: markRange, short: mention.short)
            }
            let caret = range.location + (mentions.first?.text.utf16.count ?? 0)
            return TextChange(
                replacing: range, with: text, origin: .typed, selection: .caret(caret), marks: marks)
        }
    }

    // MARK: Backspace and Delete without a selection

    /// - Parameter highlighted: the mention that is highlighted already.
    /// - Returns: `nil` if no mention is at the caret.
    func step(at caret: Int, backward: Bool, byWord: Bool, highlighted: Span.ID?) -> Step? {
        let touching = document.spans.first { span in
            guard span.mention != nil else { return false }
            return backward
                ? span.range.location < caret && caret <= span.range.end
                : span.range.location <= caret && caret < span.range.end
        }
        guard let span = touching, let mention = span.mention else { return nil }
        func replace(with shorter: Mention?, staysHighlighted: Bool = false) -> Step {
            .replace(
                Replacement(
                    range: span.range, mentions: shorter.map { [$0] } ?? [], staysHighlighted: staysHighlighted))
        }
        switch options.mentionBackspace {
        case _ where byWord: return replace(with: nil)
        case .highlightTrimDelete:
            guard highlighted == span.id else { return .highlight(span.id) }
            let trimmed = trimmed(mention)
            return replace(with: trimmed, staysHighlighted: trimmed != nil)
        case .trimOrDelete: return replace(with: trimmed(mention))
        case .byParts: return replace(with: backward ? withoutLastWord(mention) : nil)
        case .whole: return replace(with: nil)
        }
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

    // MARK: Deleting a range

    /// Extends the deletion of a range to whole mentions at its ends, which may leave their short forms (HKW-59).
    ///
    /// - Returns: `nil` if only the range is deleted: it cuts no mention, or lies within a single one, which becomes
    ///   text (HKW-60).
    func replacement(deleting range: TextRange) -> Replacement? {
        let crossed = document.spans.filter {
            $0.mention != nil && $0.range.intersects(range) && !range.covers($0.range)
        }
        let trims = options.mentionBackspace == .trimOrDelete
        guard let first = crossed.first, let last = crossed.last, trims || !first.range.covers(range) else {
            return nil
        }
        let start = min(range.location, first.range.location)
        return Replacement(
            range: TextRange(start: start, end: max(range.end, last.range.end)),
            mentions: trims ? crossed.compactMap(\.mention).compactMap { trimmed($0) } : [])
    }
}
