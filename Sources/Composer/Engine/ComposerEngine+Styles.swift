extension ComposerEngine {
    /// Sets a style on the selection, or without one for the text typed next (HKW-13, HKW-15).
    mutating func setStyle(_ style: TextStyle, _ isOn: Bool) {
        guard !selection.isEmpty else {
            var styles = chosenStyles ?? document.styles(before: selection.location)
            if isOn { styles.put(style) } else { styles.remove(style) }
            chosenStyles = styles
            return
        }
        changeStyles { engine in engine.document.setStyle(style, isOn, over: engine.selection) }
    }

    mutating func clearStyles() {
        guard !selection.isEmpty else {
            chosenStyles = []
            return
        }
        changeStyles { engine in
            for style in Set(engine.document.spans.compactMap(\.style)).ordered {
                engine.document.setStyle(style, false, over: engine.selection)
            }
        }
    }

    private mutating func changeStyles(_ change: (inout ComposerEngine) -> Void) {
        if changeSpans(change) { observe(.stylesChanged) }
    }

    /// Changes spans without changing the text, as one undo step.
    ///
    /// - Returns: whether any span changed.
    @discardableResult
    mutating func changeSpans(_ change: (inout ComposerEngine) -> Void) -> Bool {
        let before = undoSnapshot
        change(&self)
        let after = undoSnapshot
        guard before.spans != after.spans else { return false }
        history.record([], grouping: .atomic, from: before, to: after, at: now)
        revision += 1
        noteContentChange()
        return true
    }
}

extension ComposerEngine {
    /// Replaces the text of a range by the result of `body`, as one undo step (HKW-8).
    ///
    /// - Parameters:
    ///   - range: ignored if it starts beyond the text, clamped if it ends there; `nil` for the selection.
    ///   - now: the current time.
    ///   - body: returns the new text, or `nil` to delete the range.
    /// - Returns: the effects. A selection outside the range stays on its characters; one inside keeps its offset
    ///   from the start of the range as far as the new text extends.
    public mutating func transform(
        _ range: TextRange? = nil, at now: Duration, _ body: (String) -> String?
    ) -> [ComposerEffect] {
        let due = advance(to: now)
        return due
            + performTransaction { engine in
                let range = range ?? engine.selection
                guard range.location >= 0, range.location <= engine.document.length else { return }
                engine.transform(engine.document.aligned(range), body)
            }
    }

    private mutating func transform(_ range: TextRange, _ body: (String) -> String?) {
        let old = document.text(in: range)
        let new = (body(old) ?? "").withoutNUL()
        guard !new.unicodeScalars.elementsEqual(old.unicodeScalars) else { return }
        guard fitsLimit(adding: configuration.countUnit.count(new) - configuration.countUnit.count(old)) else {
            return reject(.overLimit)
        }
        let length = new.utf16.count
        func moved(_ offset: Int) -> Int {
            if offset <= range.location { return offset }
            if offset >= range.end { return offset - range.length + length }
            return range.location + min(offset - range.location, length)
        }
        let start = moved(selection.location)
        let selection =
            selection.isEmpty ? TextRange.caret(start) : TextRange(start: start, end: moved(self.selection.end))
        replace(range, with: new, origin: .code, selecting: selection)
    }

    /// Appends text at the end, undoably, regardless of the selection (SLK-34).
    public mutating func append(_ text: String, at now: Duration) -> [ComposerEffect] {
        handle(.edit(.caret(document.length), replacement: text, origin: .code), at: now)
    }
}
