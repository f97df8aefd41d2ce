/// The mention before the caret that the last Backspace highlighted, and that the next one acts on (HKW-56).
struct MentionHighlight: Sendable {
    private var armed: Span.ID?
    /// Whether the current transaction highlighted it.
    private var isNew = false

    /// The mention that contains the caret, or else the highlighted one.
    func mention(in document: ComposerDocument, selection: TextRange) -> Span.ID? {
        guard selection.isEmpty else { return nil }
        if let around = document.mention(around: selection.location) { return around.id }
        return armed.flatMap { id in document.spans.contains { $0.id == id && $0.mention != nil } ? id : nil }
    }

    mutating func arm(_ id: Span.ID) {
        armed = id
        isNew = true
    }

    /// Ends a transaction: a highlight lasts until the next change of text or selection.
    mutating func endTransaction(hasChanges: Bool) {
        if hasChanges, !isNew { armed = nil }
        isNew = false
    }
}
