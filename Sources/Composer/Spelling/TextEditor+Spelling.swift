/// Spelling of the text.
extension TextEditor {
    /// Holds a copy of the document: use it within a single statement, as changing the document would otherwise copy
    /// it.
    private var spellingSite: CheckedText.Site {
        CheckedText.Site(
            document: document, selection: selection, isComposing: !preedit.isEmpty, rules: configuration.markdown)
    }

    mutating func performSpelling(_ event: ComposerEvent) {
        switch event {
        case .checkSpelling(true): checked.start(document, now: transaction.now)
        case .checkSpelling(false): checked.stop(document)
        case .spellingChecked(let id, let misspelled):
            requestSpelling(checked.note(misspelled, of: id, spellingSite, now: transaction.now))
        case .ignoreWord(let word): checked.ignore(word, in: document)
        case .replaceWord(let range, let word): replaceWord(range, with: word)
        default: break
        }
    }

    /// Replaces a misspelled word, as one undo step that keeps the selection.
    private mutating func replaceWord(_ range: TextRange, with word: String) {
        guard checked.misspelling(at: range.location) == range else { return }
        applyIfAdmitted(TextChange(transforming: range, into: word.withoutNUL(), selection: selection)) {
            $0.closeCompletion()
        }
    }

    /// Updates the spelling after a change of the text.
    mutating func followSpelling(_ event: TextEvent) {
        if checked.isOn { checked.apply(event, in: spellingSite, now: transaction.now) }
    }

    mutating func fireSpellingTimer() {
        guard let deadline = checked.deadline, deadline <= transaction.now else { return }
        requestSpelling(checked.check(spellingSite, now: transaction.now))
    }

    private mutating func requestSpelling(_ request: SpellingRequest?) {
        if let request { transaction.emit(.checkSpelling(request)) }
    }

    /// Reports found or corrected words at the end of a transaction.
    mutating func reportSpelling(selectionBefore: TextRange) {
        guard checked.isOn || checked.hasChanged else { return }
        if transaction.edits.isEmpty, selection != selectionBefore { checked.finishWriting(now: transaction.now) }
        for (part, words) in checked.report() { transaction.emit(.misspelled(words, in: part)) }
    }

    /// Call this when spans or the syntax have changed without the text: mentions and code may be elsewhere.
    mutating func respell(since before: ComposerDocument) {
        guard checked.isOn else { return }
        if before.syntax != document.syntax { return checked.touchAll(document, now: transaction.now) }
        let (old, new) = (Set(before.spans), Set(document.spans))
        for span in old.symmetricDifference(new) { checked.touch(document.clamped(span.range), now: transaction.now) }
    }
}
