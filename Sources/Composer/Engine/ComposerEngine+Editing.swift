extension ComposerEngine {
    /// Applies a requested edit: aligns it to grapheme clusters, passes it through interceptors and the limit, and
    /// applies the typing rules.
    mutating func edit(_ range: TextRange, _ text: String, _ origin: EditOrigin) {
        let range = document.aligned(range)
        let text = text.withoutNUL()
        if origin == .typed, text == "\n", !isObservationSuspended { return insertNewline(over: range) }
        if origin == .typed, text.isEmpty, !range.isEmpty { return deleteRange(range) }
        guard let admitted = admit(range, text, origin) else { return }
        if range.isEmpty, admitted.isEmpty { return }
        replace(range, with: admitted, origin: origin, grouping: grouping(range, admitted, origin))
        if origin == .typed, !isObservationSuspended { applySpaceRules(after: admitted) }
    }

    private func grouping(_ range: TextRange, _ text: String, _ origin: EditOrigin) -> UndoGrouping {
        let isOneCharacter = text.count == 1
        guard origin == .typed || origin == .inputMethod, isOneCharacter, let character = text.first else {
            return .atomic
        }
        return .typing(startsBlank: character.isBlank, endsBlank: character.isBlank)
    }

    /// Returns the part of a replacement that interceptors and the limit allow, or `nil` if the edit is rejected.
    /// Reports denials and truncation.
    mutating func admit(_ range: TextRange, _ text: String, _ origin: EditOrigin) -> String? {
        guard origin != .code, origin != .undo else { return text }
        if text.isEmpty, ignoresDeletion(of: range, origin: origin) { return nil }
        for interceptor in plugIns.interceptors where !isObservationSuspended {
            let change = TextEdit(range: range, replacement: text)
            switch interceptor.intercept(change, origin: origin, in: document) {
            case .allow: continue
            case .deny:
                reject(.denied(by: interceptor.name))
                return nil
            case .handled: return nil
            }
        }
        return fitting(range, text)
    }

    /// Returns the part of a replacement that fits the hard limit (MCV-9). Shortening always fits.
    private mutating func fitting(_ range: TextRange, _ text: String) -> String? {
        guard let limit = configuration.limit, configuration.limitPolicy == .hard, !text.isEmpty else { return text }
        func count(with text: some StringProtocol) -> Int {
            var result = document
            _ = result.replace(range, with: String(text))
            return configuration.limitedCount(of: result)
        }
        let whole = count(with: text)
        let before = configuration.limitedCount(of: document)
        if whole <= limit || whole <= before && text.utf16.count < range.length { return text }
        // The replaced text frees space. The estimate may be off by a few, as grapheme clusters can merge at the
        // edges, so correct it by counting.
        var room = max(0, limit - count(with: ""))
        var fittingPrefix = prefix(of: text, units: room)
        while room > 0, count(with: fittingPrefix) > limit {
            room -= 1
            fittingPrefix = prefix(of: text, units: room)
        }
        reject(.limit(rejected: units(in: text) - units(in: fittingPrefix)))
        return fittingPrefix.isEmpty ? nil : String(fittingPrefix)
    }

    private func units(in text: some StringProtocol) -> Int { configuration.countUnit.count(text) }

    private func prefix(of text: String, units: Int) -> Substring {
        guard configuration.countUnit != .graphemes else { return text.prefix(units) }
        var end = text.startIndex
        var remainingUnits = units
        while end < text.endIndex {
            let next = text.index(after: end)
            let size = self.units(in: text[end..<next])
            if size > remainingUnits { break }
            remainingUnits -= size
            end = next
        }
        return text[..<end]
    }

    /// Applies and records a replacement. The range must lie in the text.
    mutating func replace(
        _ range: TextRange, with text: String, origin: EditOrigin, grouping: UndoGrouping = .atomic,
        selecting newSelection: TextRange? = nil
    ) {
        guard !(range.isEmpty && text.isEmpty) else { return }
        let before = undoSnapshot
        let removed = document.text(in: range)
        let styles = origin.isUserWriting ? chosenStyles ?? document.styles(before: range.location) : []
        let applied = document.replace(range, with: text)
        let inserted = applied.replacement.utf16.count
        for style in styles.ordered {
            document.setStyle(style, true, over: TextRange(location: range.location, length: inserted))
        }
        selection = newSelection.map { document.aligned($0) } ?? caret(after: range.location + inserted, inserted)
        let after = undoSnapshot
        let edit = UndoHistory.Edit(
            location: range.location, removed: removed, removedLength: range.length, inserted: applied.replacement,
            insertedLength: inserted)
        history.record([edit], grouping: grouping, from: before, to: after, at: now)
        noteEdit(applied, removed: removed, origin: origin)
    }

    /// Insertion before a combining mark moves the caret after the merged grapheme cluster, deletion moves it before.
    private func caret(after offset: Int, _ inserted: Int) -> TextRange {
        .caret(inserted > 0 ? document.clusterEnd(at: offset) : document.clusterStart(at: offset))
    }

    mutating func noteEdit(_ edit: AppliedEdit, removed: String, origin: EditOrigin) {
        transaction.edits.append(edit)
        transaction.trigger =
            isObservationSuspended
            ? .other
            : transaction.trigger
                ?? CompletionTrigger(
                    removed: removed, inserted: edit.replacement, origin: origin)
        completing.apply(edit)
        revision += 1
        noteContentChange()
        if document.isEmpty { wrappedLines = 0 }
        if !plugIns.observers.isEmpty, !isObservationSuspended {
            transaction.textEvents.append(
                TextEvent(range: edit.range, removed: removed, inserted: edit.replacement, origin: origin))
        }
        if document.isBlank {
            if let isTyping = typing.stop() { reportTyping(isTyping) }
        } else if origin.isUserWriting, !isObservationSuspended, let isTyping = typing.wrote(at: now) {
            reportTyping(isTyping)
        }
    }

    /// Replaces the whole document as one undo step.
    mutating func replaceAll(
        with other: ComposerDocument, selection newSelection: TextRange, origin: EditOrigin = .code
    ) {
        guard other != document else {
            select(newSelection)
            return
        }
        let before = undoSnapshot
        let old = document.text
        let new = other.text
        let edit = UndoHistory.Edit(
            location: 0, removed: old, removedLength: document.length, inserted: new, insertedLength: other.length)
        swapDocument(other, selection: newSelection, origin: origin)
        let after = undoSnapshot
        history.record([edit], grouping: .atomic, from: before, to: after, at: now)
    }

    /// Replaces the whole document without recording an undo step.
    mutating func swapDocument(_ other: ComposerDocument, selection newSelection: TextRange, origin: EditOrigin = .code)
    {
        let whole = TextRange(location: 0, length: document.length)
        let removed = document.text
        let differs = document.storage != other.storage
        document = other
        selection = document.aligned(newSelection)
        chosenStyles = nil
        wrappedLines = 0
        if differs {
            noteEdit(AppliedEdit(range: whole, replacement: other.text), removed: removed, origin: origin)
        } else {
            revision += 1
            noteContentChange()
        }
    }

    // MARK: Deleting

    mutating func deleteBackward(byWord: Bool) {
        guard selection.isEmpty else { return deleteRange(selection) }
        if deleteMention(backward: true, byWord: byWord) { return }
        let caret = selection.location
        guard caret > 0 else { return }
        if byWord { return deleteRange(TextRange(start: document.wordStart(before: caret), end: caret)) }
        let isBlank = document.character(before: caret)?.isBlank ?? false
        let range = TextRange(start: document.clusterBoundary(before: caret), end: caret)
        deleteRange(range, grouping: .deleting(forward: false, isBlank: isBlank))
    }

    mutating func deleteForward(byWord: Bool) {
        guard selection.isEmpty else { return deleteRange(selection) }
        if deleteMention(backward: false, byWord: byWord) { return }
        let caret = selection.location
        guard caret < document.length else { return }
        if byWord { return deleteRange(TextRange(start: caret, end: document.wordEnd(after: caret))) }
        let isBlank = document.character(at: caret)?.isBlank ?? false
        let range = TextRange(start: caret, end: document.clusterBoundary(after: caret))
        deleteRange(range, grouping: .deleting(forward: true, isBlank: isBlank))
    }

    // MARK: Selecting, undo and redo

    mutating func select(_ range: TextRange) {
        let range = document.aligned(range)
        guard range != selection else { return }
        if !preedit.isEmpty { commitPreedit() }
        selection = document.aligned(range)
        chosenStyles = nil
        history.breakRun()
        noteContentChange()
    }

    /// The current state as stored in undo steps.
    var undoSnapshot: UndoHistory.UndoSnapshot {
        UndoHistory.UndoSnapshot(spans: document.spans, selection: selection, syntax: document.syntax)
    }

    mutating func undo() {
        guard let step = history.popUndo() else { return }
        if case .suspended(let context)? = step.extra { return enter(context, byUndo: true) }
        for edit in step.edits.reversed() {
            replay(TextRange(location: edit.location, length: edit.insertedLength), edit.inserted, edit.removed)
        }
        restoreSnapshot(step.before)
        if case .sent(let sent)? = step.extra { bringBack(sent) }
        observe(.undone)
    }

    mutating func redo() {
        guard let step = history.popRedo() else { return }
        if case .suspended(let context)? = step.extra { return enter(context, byUndo: false) }
        for edit in step.edits {
            replay(TextRange(location: edit.location, length: edit.removedLength), edit.removed, edit.inserted)
        }
        restoreSnapshot(step.after)
        if case .sent(let sent)? = step.extra { removeSent(sent) }
        observe(.redone)
    }

    private mutating func replay(_ range: TextRange, _ removed: String, _ inserted: String) {
        let applied = document.replace(range, with: inserted)
        noteEdit(applied, removed: removed, origin: .undo)
    }

    private mutating func restoreSnapshot(_ snapshot: UndoHistory.UndoSnapshot) {
        if document.spans != snapshot.spans || document.syntax != snapshot.syntax {
            revision += 1
            noteContentChange()
        }
        document.restoreSpans(snapshot.spans)
        document.syntax = snapshot.syntax
        selection = document.aligned(snapshot.selection)
        chosenStyles = nil
    }
}
