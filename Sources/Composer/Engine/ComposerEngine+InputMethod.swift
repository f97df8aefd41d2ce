/// Input methods: the preedit text is displayed but isn't part of the document; a commit is one edit (HKW-31).
extension ComposerEngine {
    mutating func showPreedit(_ text: String) {
        let text = text.withoutNUL()
        guard text != preedit else { return }
        preedit = text
        observe(.preeditChanged)
    }

    /// Inserts the committed text at the caret, or replaces the selection, as one edit.
    mutating func commit(_ text: String) {
        dropPreedit()
        edit(selection, text, .inputMethod)
    }

    /// Commits the preedit text, before sending or when the caret moves elsewhere (SLK-63).
    mutating func commitPreedit() {
        guard !preedit.isEmpty else { return }
        commit(preedit)
    }

    mutating func dropPreedit() {
        showPreedit("")
    }
}
