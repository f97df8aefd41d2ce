/// Input methods: a preedit is shown and never part of the document; a commit is one edit (HKW-31).
extension ComposerEngine {
    mutating func showPreedit(_ text: String) {
        let text = text.withoutNUL()
        guard text != preedit else { return }
        preedit = text
        observe(.preeditChanged)
    }

    /// One insertion at the caret, or one replacement of the selection.
    mutating func commit(_ text: String) {
        dropPreedit()
        edit(selection, text, .inputMethod)
    }

    /// What is shown becomes text: before sending, or when the user goes elsewhere (SLK-63).
    mutating func commitPreedit() {
        guard !preedit.isEmpty else { return }
        commit(preedit)
    }

    mutating func dropPreedit() {
        showPreedit("")
    }
}
