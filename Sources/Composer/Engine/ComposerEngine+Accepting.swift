/// Accepting a completion (SLK-24, HKW-53, HKW-54, MIB-28).
extension ComposerEngine {
    private var options: CompletionOptions { configuration.completion }

    /// - Parameter row: `nil` accepts the selected row, or else the first.
    mutating func acceptRow(_ row: Int?) {
        guard let session = completing.session else { return }
        guard let row = row ?? session.rowToAccept else { return issueQuery(atOnce: true) }
        guard session.items.indices.contains(row) else { return }
        accept(session.items[row])
    }

    /// Replaces the open token by an entity, or without one the token at the caret or the selection, for lists of the
    /// host (HKW-70).
    mutating func accept(_ entity: CompletionEntity) {
        let name = entity.name.withoutNUL()
        guard !name.isEmpty else { return }
        let finder = selection.isEmpty ? finder() : nil
        let token = completing.session?.token ?? finder?.explicit(spaces: 0, anyLength: true)
        guard mayAccept(entity, for: token?.rule.prefix ?? "") else { return }
        var range = token?.range ?? selection
        if let token, token.kind == .implicit { range = swallowing(range, token.query, name) }
        let insertion = insertion(of: entity, named: name, rule: token?.rule)
        let text = insertion.text + space(after: range, of: insertion.text)
        guard admit(range, text, .typed) == text else { return }
        closeCompletion()
        write(insertion, text, over: range)
        completing.closed = .init(start: range.location, exhausted: nil)
        // The inserted space ends the word like a typed one: the next word may start completion (HKW-45).
        let isBlankBefore = document.character(before: selection.location)?.isBlank ?? false
        completing.detection.handle(.ended(canRestart: isBlankBefore), at: selection.location)
        observe(.completionAccepted)
        if let token { emit(.completion(.accepted(entity, prefix: token.rule.prefix))) }
        if insertion.mention != nil { observe(.mentionCreated) }
        transaction.isCompletionHandled = true
    }

    /// The text and mention that an accepted entity inserts.
    private struct Insertion {
        var text: String
        var mention: Mention?
    }

    private func insertion(of entity: CompletionEntity, named name: String, rule: CompletionRule?) -> Insertion {
        if let replacement = entity.replacement?.withoutNUL(), !replacement.isEmpty {
            return Insertion(text: replacement)
        }
        let prefix = rule?.keepPrefix ?? options.keepPrefix ? rule?.prefix ?? "" : ""
        let template = rule?.template ?? prefix + "{name}"
        let text = template.replacing("{name}", with: name)
        guard rule?.mentionTokens ?? options.mentionTokens else { return Insertion(text: text) }
        let short = entity.short?.withoutNUL()
        return Insertion(
            text: text,
            mention: Mention(
                entity.target ?? .custom(entity.id), text: text,
                short: short.map { template.replacing("{name}", with: $0) }))
    }

    /// The white space to insert after the accepted text; an existing space is reused rather than doubled.
    private func space(after range: TextRange, of text: String) -> String {
        let next = document.character(at: range.end)
        switch options.afterAccept {
        case .nothing: return ""
        case .space: return " "
        case .oneSpace: return next?.isInlineSpace ?? false ? "" : " "
        case .spaceAtParagraphEnd: return next?.isLineBreak ?? true ? " " : ""
        }
    }

    /// Inserts as one undo step and moves the caret past the following space.
    private mutating func write(_ insertion: Insertion, _ text: String, over range: TextRange) {
        let length = insertion.text.utf16.count
        let reusesSpace = options.afterAccept == .oneSpace && text == insertion.text
        history.beginTransaction()
        replace(range, with: text, origin: .typed)
        if reusesSpace { selection = .caret(document.clusterBoundary(after: range.location + length)) }
        if let mention = insertion.mention {
            _ = document.addMention(mention, over: TextRange(location: range.location, length: length))
        }
        recordSpans()
        history.endTransaction()
    }

    /// Records the current spans and selection as the end of the current undo step.
    mutating func recordSpans() {
        history.record([], grouping: .atomic, from: undoSnapshot, to: undoSnapshot, at: now)
    }

    /// If the query is a later word of the name and the preceding words are already in the text, replaces them as
    /// well: `bruce wayn` becomes `Bruce Wayne` (HKW-53).
    private func swallowing(_ range: TextRange, _ query: String, _ name: String) -> TextRange {
        let words = name.split(whereSeparator: \.isBlank).map { String($0) }
        guard let wordIndex = words.firstIndex(where: { $0.lowercased().hasPrefix(query.lowercased()) }), wordIndex > 0
        else {
            return range
        }
        let before = words[..<wordIndex].joined(separator: " ") + " "
        let start = range.location - before.utf16.count
        guard start >= 0, document.clusterStart(at: start) == start else { return range }
        let written = TextRange(start: start, end: range.location)
        let isWhole = document.character(before: start).map { !$0.isWordCharacter } ?? true
        let touchesMention = document.mentions.contains { $0.range.intersects(written) }
        guard isWhole, !touchesMention, document.text(in: written).lowercased() == before.lowercased() else {
            return range
        }
        return TextRange(start: start, end: range.end)
    }
}
