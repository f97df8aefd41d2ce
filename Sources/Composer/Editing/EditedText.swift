/// The text being edited: document, selection, undo steps, and the styles of the text typed next.
///
/// Methods that change the text return the change, so that callers can react to it.
struct EditedText: Sendable {
    private(set) var document = ComposerDocument()
    private(set) var selection = TextRange.caret(0)
    var history: UndoHistory
    var highlight = MentionHighlight()
    /// Incremented on every change of text or spans.
    private(set) var revision = 0
    private var styles = TypingStyles()
    /// The selection when the pointer started selecting; `nil` otherwise.
    private var heldSelection: TextRange?

    /// The document with its selection and undo steps, swapped as a whole when another message is edited.
    struct Content: Sendable {
        var document: ComposerDocument
        var selection: TextRange
        var history: UndoHistory
    }

    init(undoDepth: Int) {
        history = UndoHistory(depth: undoDepth)
    }

    var content: Content { Content(document: document, selection: selection, history: history) }

    /// The styles of the text typed next.
    var typingStyles: Set<TextStyle> { styles.styles(before: selection.location, in: document) }

    /// The mention that contains the caret or that the next Backspace acts on; drawn as selected (HKW-56).
    var highlightedMention: Span.ID? { highlight.mention(in: document, selection: selection) }

    /// Highlights the mention that starts at an offset, so that the next Backspace acts on it.
    mutating func highlightMention(at location: Int) {
        if let span = document.mentions.first(where: { $0.range.location == location }) { highlight.arm(span.id) }
    }

    private var snapshot: UndoHistory.UndoSnapshot {
        UndoHistory.UndoSnapshot(spans: document.spans, selection: selection, syntax: document.syntax)
    }

    // MARK: Replacing

    /// Replaces a range, which must lie in the text, and records it.
    ///
    /// - Parameter newSelection: `nil` puts the caret after the insertion.
    /// - Returns: `nil` if there was nothing to replace.
    mutating func replace(
        _ edit: TextEdit, origin: EditOrigin, grouping: UndoGrouping = .atomic,
        selecting newSelection: TextRange? = nil,
        at now: Duration
    ) -> TextEvent? {
        let range = edit.range
        guard !(range.isEmpty && edit.replacement.isEmpty) else { return nil }
        let before = snapshot
        let removed = document.text(in: range)
        let styles = origin.isUserWriting ? styles.styles(before: range.location, in: document) : []
        let applied = document.replace(range, with: edit.replacement)
        let inserted = applied.replacement.utf16.count
        for style in styles.ordered {
            document.setStyle(style, true, over: TextRange(location: range.location, length: inserted))
        }
        selection = newSelection.map { document.aligned($0) } ?? caret(after: range.location + inserted, inserted)
        let recorded = UndoHistory.Edit(
            location: range.location, removed: removed, removedLength: range.length, inserted: applied.replacement,
            insertedLength: inserted)
        history.record([recorded], grouping: grouping, from: before, to: snapshot, at: now)
        revision += 1
        return TextEvent(range: applied.range, removed: removed, inserted: applied.replacement, origin: origin)
    }

    /// Insertion before a combining mark moves the caret after the merged grapheme cluster, deletion moves it before.
    private func caret(after offset: Int, _ inserted: Int) -> TextRange {
        .caret(inserted > 0 ? document.clusterEnd(at: offset) : document.clusterStart(at: offset))
    }

    /// Ends a change of several edits: sets its selection, syntax and marks, as part of the same undo step.
    mutating func finish(_ change: TextChange, at now: Duration) {
        if let syntax = change.syntax { document.syntax = syntax }
        if let newSelection = change.selection { selection = document.aligned(newSelection) }
        document.add(change.marks, from: 0)
        history.record([], grouping: .atomic, from: snapshot, to: snapshot, at: now)
    }

    /// Appends a text on a line of its own. The selection stays where it is, but in an empty text the caret moves
    /// behind what is appended.
    ///
    /// - Returns: `nil` if there was nothing to append.
    mutating func appendLine(_ appended: String, at now: Duration) -> TextEvent? {
        guard !appended.isEmpty else { return nil }
        let isLineStart = document.character(before: document.length)?.isLineBreak ?? true
        let edit = TextEdit(range: .caret(document.length), replacement: (isLineStart ? "" : "\n") + appended)
        return replace(edit, origin: .code, selecting: document.isEmpty ? nil : selection, at: now)
    }

    /// Puts a text on lines of its own before what was written, as one undo step. The selection stays on its characters.
    ///
    /// - Returns: `nil` if there was nothing to put.
    mutating func putBefore(_ written: WrittenText, at now: Duration) -> TextEvent? {
        guard !written.source.isEmpty else { return nil }
        let isWhole = document.isEmpty || written.source.hasSuffix("\n")
        let edit = TextEdit(range: .caret(0), replacement: written.source + (isWhole ? "" : "\n"))
        let moved = TextRange(
            location: selection.location + edit.replacement.utf16.count, length: selection.length)
        var change = TextChange([edit], origin: .code, selection: moved, marks: written.marks)
        if document.isEmpty { change.syntax = written.syntax }
        history.beginTransaction()
        let event = replace(edit, origin: .code, selecting: moved, at: now)
        finish(change, at: now)
        history.endTransaction()
        return event
    }

    /// Makes an empty text Markdown again.
    mutating func resetSyntax() { document.syntax = .markdown }

    /// Replaces the whole document as one undo step.
    mutating func replaceAll(
        with other: ComposerDocument, selecting newSelection: TextRange, at now: Duration
    ) -> TextEvent? {
        let before = snapshot
        let edit = UndoHistory.Edit(
            location: 0, removed: document.text, removedLength: document.length, inserted: other.text,
            insertedLength: other.length)
        let event = exchange(other, selecting: newSelection)
        history.record([edit], grouping: .atomic, from: before, to: snapshot, at: now)
        return event
    }

    /// Replaces the whole document without an undo step.
    ///
    /// - Returns: `nil` if the text is the same, though its spans may differ.
    mutating func exchange(_ other: ComposerDocument, selecting newSelection: TextRange) -> TextEvent? {
        let event =
            document.storage == other.storage
            ? nil
            : TextEvent(
                range: TextRange(location: 0, length: document.length), removed: document.text, inserted: other.text,
                origin: .code)
        document = other
        selection = document.aligned(newSelection)
        styles.inherit()
        revision += 1
        return event
    }

    /// Replaces document, selection and undo steps with those of another message.
    mutating func exchange(_ other: Content) -> TextEvent? {
        let event = exchange(other.document, selecting: other.selection)
        history = other.history
        return event
    }

    // MARK: Spans

    /// Sets a style on the selection, or without one for the text typed next (HKW-13, HKW-15).
    ///
    /// - Returns: whether the text looks different.
    mutating func setStyle(_ style: TextStyle, _ isOn: Bool, at now: Duration) -> Bool {
        guard !selection.isEmpty else {
            styles.set(style, isOn, before: selection.location, in: document)
            return false
        }
        return changeSpans(at: now) { $0.setStyle(style, isOn, over: $1) }
    }

    /// - Returns: whether the text looks different.
    mutating func clearStyles(at now: Duration) -> Bool {
        guard !selection.isEmpty else {
            styles.clear()
            return false
        }
        return changeSpans(at: now) { document, selection in
            for style in Set(document.spans.compactMap(\.style)).ordered {
                document.setStyle(style, false, over: selection)
            }
        }
    }

    /// Whether the selection, or else the text typed next, has a style to clear (SLK-35).
    var canClearStyles: Bool {
        guard !selection.isEmpty else { return !typingStyles.isEmpty }
        return document.spans.contains { $0.style != nil && $0.range.intersects(selection) }
    }

    /// Adds a mention if its text equals that of the range. Turns overlapping mentions into text (HKW-67).
    ///
    /// - Returns: whether any span changed; `nil` if the mention doesn't fit.
    mutating func addMention(_ mention: Mention, over range: TextRange, at now: Duration) -> Bool? {
        guard document.contains(range), !range.isEmpty, document.aligned(range) == range,
            document.text(in: range).unicodeScalars.elementsEqual(mention.text.unicodeScalars)
        else { return nil }
        return changeSpans(at: now) { document, _ in
            document.removeSpans { $0.mention != nil && $0.range.intersects(range) }
            _ = document.addMention(mention, over: range)
        }
    }

    /// Changes spans without changing the text, as one undo step.
    ///
    /// - Returns: whether any span changed.
    private mutating func changeSpans(
        at now: Duration, _ change: (inout ComposerDocument, _ selection: TextRange) -> Void
    ) -> Bool {
        let before = snapshot
        change(&document, selection)
        let after = snapshot
        guard before.spans != after.spans else { return false }
        history.record([], grouping: .atomic, from: before, to: after, at: now)
        revision += 1
        return true
    }

    // MARK: Selecting

    /// - Parameter range: within the text and on the boundaries of grapheme clusters.
    mutating func select(_ range: TextRange) {
        selection = range
        styles.inherit()
        history.breakRun()
    }

    var isSelectionHeld: Bool { heldSelection != nil }

    /// The pointer starts selecting (HKW-20).
    mutating func holdSelection() { heldSelection = heldSelection ?? selection }

    /// - Returns: the selection when the pointer started selecting.
    mutating func releaseSelection() -> TextRange? {
        defer { heldSelection = nil }
        return heldSelection
    }

    // MARK: Undo

    /// Applies an edit of an undo step.
    mutating func replay(_ event: TextEvent) -> TextEvent {
        let applied = document.replace(event.range, with: event.inserted)
        revision += 1
        return TextEvent(
            range: applied.range, removed: event.removed, inserted: applied.replacement, origin: event.origin)
    }

    /// Restores spans and selection at the end of an undo step.
    ///
    /// - Returns: whether spans or syntax changed.
    mutating func restore(_ snapshot: UndoHistory.UndoSnapshot) -> Bool {
        let isDifferent = document.spans != snapshot.spans || document.syntax != snapshot.syntax
        if isDifferent { revision += 1 }
        document.restoreSpans(snapshot.spans)
        document.syntax = snapshot.syntax
        selection = document.aligned(snapshot.selection)
        styles.inherit()
        return isDifferent
    }

    /// Adds an undo or redo step that returns to another message.
    mutating func addWay(to context: ComposerContext, for direction: UndoDirection) {
        history.addWay(to: context, for: direction, at: snapshot)
    }

    /// Adds an undo step before all others that returns to another message.
    mutating func addOldestWay(to context: ComposerContext) { history.addOldestWay(to: context, at: snapshot) }

    /// Records that an empty text was sent, so that undo brings back what was sent with it.
    mutating func recordUnchanged(at now: Duration) {
        history.record([], grouping: .atomic, from: snapshot, to: snapshot, at: now)
    }
}
