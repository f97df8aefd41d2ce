/// Changes the text as the user's and the host's events ask for: vets each change by the limit and the interceptors,
/// applies the rules of typing, and has ``TextFollowers`` follow what was changed.
struct TextEditor: Sendable {
    var configuration: ComposerConfiguration {
        didSet { followers.reconfigure(configuration) }
    }
    var text: EditedText
    var preedit = Preedit()
    var followers: TextFollowers
    var bar = BarState()
    var plugIns = PlugIns()
    /// The host's measurement of the message.
    var measured: MeasuredSize?
    var transaction = EventTransaction()

    init(_ configuration: ComposerConfiguration) {
        self.configuration = configuration
        text = EditedText(undoDepth: configuration.undoDepth)
        followers = TextFollowers(configuration)
    }

    var document: ComposerDocument { text.document }
    var selection: TextRange { text.selection }
    var counter: CounterState? { configuration.counter(of: document, measured: measured) }

    // MARK: Changing the text

    /// Applies a requested edit: aligns it to grapheme clusters, passes it through interceptors and the limit, and
    /// applies the typing rules.
    mutating func edit(_ range: TextRange, _ string: String, _ origin: EditOrigin) {
        let range = document.aligned(range)
        let string = string.withoutNUL()
        let rulesApply = origin == .typed && !plugIns.suspension.isActive
        if rulesApply, string == "\n" { return insertNewline(over: range) }
        if origin == .typed, string.isEmpty, !range.isEmpty { return delete(range) }
        guard let admitted = admit(TextEdit(range: range, replacement: string), origin) else { return }
        replace(
            TextEdit(range: range, replacement: admitted), origin: origin,
            grouping: UndoGrouping(writing: admitted, origin))
        guard rulesApply, TypingRules.isSpace(admitted), selection.isEmpty,
            let change = rules.typing.doubleSpace(before: selection.location, isCompleting: followers.completing.isOpen)
        else { return }
        apply(change)
    }

    private mutating func admit(_ edit: TextEdit, _ origin: EditOrigin) -> String? {
        rules.vetting.admitted(edit, origin, &plugIns, &transaction)
    }

    /// Applies a user's change that consists of a single edit, if interceptors and the limit allow all of it.
    ///
    /// - Parameter prepare: runs before the change if it is allowed.
    /// - Returns: whether the change was applied.
    @discardableResult
    mutating func applyIfAdmitted(_ change: TextChange, _ prepare: (inout TextEditor) -> Void = { _ in }) -> Bool {
        guard admit(change.edits[0], .typed) == change.edits[0].replacement else { return false }
        prepare(&self)
        apply(change)
        return true
    }

    private mutating func apply(_ change: TextChange) {
        guard change.edits.count > 1 || !change.marks.isEmpty || change.syntax != nil else {
            return replace(change.edits[0], origin: change.origin, selecting: change.selection)
        }
        text.history.beginTransaction()
        for edit in change.edits { replace(edit, origin: change.origin) }
        text.finish(change, at: transaction.now)
        text.history.endTransaction()
        // Where there is code depends on the syntax.
        if change.syntax != nil { followers.checkAgain(document, now: transaction.now) }
    }

    mutating func replace(
        _ edit: TextEdit, origin: EditOrigin, grouping: UndoGrouping = .atomic, selecting newSelection: TextRange? = nil
    ) {
        let event = text.replace(
            edit, origin: origin, grouping: grouping, selecting: newSelection, at: transaction.now)
        if let event { note(event) }
    }

    /// Replaces the whole document as one undo step.
    mutating func replaceAll(with other: ComposerDocument, selecting newSelection: TextRange) {
        guard other != document else { return select(newSelection) }
        noteExchange(text.replaceAll(with: other, selecting: newSelection, at: transaction.now))
    }

    mutating func clear() { replaceAll(with: ComposerDocument(), selecting: .caret(0)) }

    /// Appends a text by code, on a line of its own.
    mutating func appendLine(_ appended: String) {
        if let event = text.appendLine(appended.withoutNUL(), at: transaction.now) { note(event) }
    }

    mutating func putBefore(_ written: WrittenText) {
        if let event = text.putBefore(written, at: transaction.now) { note(event) }
    }

    /// Reports that the whole document was replaced.
    mutating func noteExchange(_ event: TextEvent?) {
        bar.textReplaced()
        if let event {
            note(event)
        } else {
            transaction.noteContentChange()
            followers.checkAgain(document, now: transaction.now)
        }
    }

    /// Passes a change of the text on to everything that follows it.
    private mutating func note(_ event: TextEvent) {
        let isSuspended = plugIns.suspension.isActive
        transaction.add(event, isObserved: plugIns.areObserving, triggers: !isSuspended)
        if document.isEmpty { bar.textReplaced() }
        followers.textChanged(event, at: site, isSuspended: isSuspended, &transaction)
    }

    private var site: TextFollowers.Site {
        TextFollowers.Site(
            document: document, selection: selection, isFocused: bar.isFocused, isComposing: !preedit.isEmpty)
    }

    // MARK: Typing and deleting

    private var rules: TextRules {
        TextRules(configuration: configuration, document: document, selection: selection)
    }

    mutating func insertNewline(over range: TextRange) {
        let isSuspended = plugIns.suspension.isActive
        let edit = isSuspended ? TextEdit(range: range, replacement: "\n") : rules.typing.lineBreak(over: range)
        guard let admitted = admit(edit, .typed) else { return }
        let isPlain = edit.range.isEmpty && admitted == "\n"
        replace(
            TextEdit(range: edit.range, replacement: admitted), origin: .typed,
            grouping: isPlain ? .typing(startsBlank: true, endsBlank: true) : .atomic)
    }

    /// Deletes the selection, or else what is next to the caret.
    mutating func delete(backward: Bool, byWord: Bool) {
        let step = rules.deletion.step(backward: backward, byWord: byWord, highlighted: text.highlightedMention)
        switch step {
        case .highlight(let id): text.highlight.arm(id)
        case .mentions(let replacement): delete(replacement)
        case .text(let range, let grouping): delete(range, grouping: grouping)
        case nil: break
        }
    }

    private mutating func delete(_ range: TextRange, grouping: UndoGrouping = .atomic) {
        if !plugIns.suspension.isActive, let replacement = rules.mentionDeletion.replacement(deleting: range) {
            return delete(replacement)
        }
        let edit = TextEdit(range: range, replacement: "")
        guard admit(edit, .typed) != nil else { return }
        let deletesMention = document.mentions.contains { range.covers($0.range) }
        replace(edit, origin: .typed, grouping: grouping)
        if deletesMention { transaction.observe(.mentionDeleted) }
    }

    private mutating func delete(_ replacement: MentionDeletion.Replacement) {
        guard applyIfAdmitted(replacement.change) else { return }
        transaction.observe(replacement.mentions.isEmpty ? .mentionDeleted : .mentionTrimmed)
        if replacement.staysHighlighted { text.highlightMention(at: replacement.range.location) }
    }

    // MARK: Input methods

    mutating func showPreedit(_ shown: String) { preedit.show(shown, &transaction) }

    /// Inserts the committed text at the caret, or replaces the selection, as one edit.
    mutating func commit(_ committed: String) {
        preedit.end(&transaction)
        edit(selection, committed, .inputMethod)
    }

    /// Commits the preedit text, before sending or when the caret moves elsewhere (SLK-63).
    mutating func commitPreedit() {
        if !preedit.isEmpty { commit(preedit.text) }
    }

    // MARK: Selecting, undo and redo

    /// Moves the selection. The offsets are those before the preedit is committed, which replaces the old selection.
    mutating func select(_ range: TextRange) {
        let range = document.aligned(range)
        guard range != selection else { return }
        let (replaced, length) = (selection, document.length)
        commitPreedit()
        // Interceptors and the limit may have changed what was committed.
        let committed = replaced.length + document.length - length
        text.select(document.aligned(range.moved(replacing: replaced, by: committed)))
        transaction.noteContentChange()
    }

    /// The pointer starts or ends selecting (SLK-61, HKW-20).
    mutating func holdSelection(_ isHeld: Bool) {
        if isHeld { text.holdSelection() } else { transaction.selectionBefore = text.releaseSelection() }
    }

    /// Undoes or redoes the last change of the text.
    mutating func replay(_ direction: UndoDirection) -> UndoHistory.Outcome {
        guard let step = text.history.pop(direction) else { return .nothing }
        if case .suspended(let context)? = step.extra { return .suspended(context) }
        for event in step.events(direction) { note(text.replay(event)) }
        let replayed = followers.checked.isOn ? document : nil
        if text.restore(step.target(direction)) {
            transaction.noteContentChange()
            if let replayed { followers.checkAgain(document, since: replayed, now: transaction.now) }
        }
        if case .sent(let extras)? = step.extra { return .sent(extras) }
        return .text
    }

    // MARK: Formatting

    /// Toggles a Markdown rule on the selection, as one undo step that preserves the selection (SLK-29).
    mutating func format(_ name: String) {
        guard document.syntax == .markdown, let rule = configuration.markdownRule(named: name),
            rules.formatting.offers(rule)
        else { return transaction.reject(.format(name)) }
        guard let change = rules.formatting.toggling(rule) else { return }
        guard rules.vetting.fits(adding: change.addedLength, &transaction) else { return }
        apply(change)
        transaction.observe(.formatted)
    }

    /// The titles of the Markdown rules available for the selection, in order; none in literal text.
    var offeredFormats: [String] {
        selection.isEmpty || document.syntax != .markdown ? [] : rules.formatting.offered(of: configuration.markdown)
    }

    mutating func setStyle(_ style: TextStyle, _ isOn: Bool) {
        noteStyles(text.setStyle(style, isOn, at: transaction.now))
    }
    mutating func clearStyles() { noteStyles(text.clearStyles(at: transaction.now)) }

    private mutating func noteStyles(_ isChanged: Bool) {
        guard isChanged else { return }
        followers.checkAgain(selection, now: transaction.now)
        transaction.noteContentChange()
        transaction.observe(.stylesChanged)
    }

    /// Adds a mention, undoably, if its text equals that of the range. Turns overlapping mentions into text and
    /// closes completion (HKW-67).
    private mutating func addMention(_ mention: Mention, over range: TextRange) {
        closeCompletion()
        let before = followers.checked.isOn ? document : nil
        switch text.addMention(mention, over: range, at: transaction.now) {
        case nil: transaction.reject(.mention(mention))
        case true?:
            transaction.noteContentChange()
            if let before { followers.checkAgain(document, since: before, now: transaction.now) }
        case false?: break
        }
    }

    // MARK: Pasting and moving

    mutating func paste(_ pasted: String) {
        let before = text.revision
        edit(selection, pasted, .paste)
        if text.revision != before { transaction.observe(.pasted) }
    }

    mutating func paste(_ written: WrittenText) {
        guard !written.source.isEmpty else { return }
        let adapted = rules.fragment.adapted(written)
        guard let admitted = admit(TextEdit(range: selection, replacement: adapted.source), .paste) else { return }
        let change = rules.fragment.change(inserting: adapted, admitted: admitted)
        apply(change)
        transaction.observe(.pasted)
    }

    /// Moves a range to an offset outside of it, if interceptors allow both the deletion and the insertion.
    mutating func move(_ range: TextRange, to offset: Int) {
        guard preedit.isEmpty, let change = TextChange(moving: document.aligned(range), to: offset, in: document),
            rules.vetting.allows(change, plugIns, &transaction)
        else { return }
        closeCompletion()
        apply(change)
        transaction.observe(.pasted)
    }

    // MARK: Changes by code

    /// Replaces the text of a range with the result of `body`, or deletes it for `nil`, as one undo step (HKW-8).
    mutating func transform(_ range: TextRange, _ body: (String) -> String?) {
        let old = document.text(in: range)
        let new = (body(old) ?? "").withoutNUL()
        guard !new.unicodeScalars.elementsEqual(old.unicodeScalars) else { return }
        let unit = configuration.countUnit
        guard rules.vetting.fits(adding: unit.count(new) - unit.count(old), &transaction) else { return }
        apply(TextChange(transforming: range, into: new, selection: selection))
    }

    // MARK: Completion

    mutating func closeCompletion() { followers.closeCompletion(at: site, &transaction) }

    /// Closes completion, and keeps it closed for the current token.
    mutating func dismissCompletion() { followers.closeCompletion(staysClosed: true, at: site, &transaction) }

    mutating func performCompletion(_ event: ComposerEvent) {
        transaction.isCompletionHandled = true
        switch event {
        case .complete(let prefix): complete(prefix)
        case .acceptCompletion(let row): acceptRow(row)
        case .acceptEntity(let entity): accept(entity)
        case .addMention(let mention, let range): addMention(mention, over: range)
        default: followers.performCompletion(event, at: site, &transaction)
        }
    }

    /// Opens completion, inserting the prefix unless the caret is in a token with it (SLK-25, MIB-35).
    private mutating func complete(_ prefix: String) {
        guard let rule = followers.completing.rule(for: prefix) else { return transaction.reject(.completion(prefix)) }
        if !bar.isFocused { transaction.emit(.focusRequested(true)) }
        closeCompletion()
        commitPreedit()
        if selection.isEmpty, followers.openCompletion(prefix, spaces: 0, at: site, &transaction) { return }
        guard let change = followers.insertion(of: rule, at: site), applyIfAdmitted(change),
            followers.openCompletion(prefix, spaces: nil, at: site, &transaction)
        else { return transaction.reject(.completion(prefix)) }
    }

    /// - Parameter row: `nil` accepts the selected row, or else the first.
    mutating func acceptRow(_ row: Int?) {
        if let entity = followers.entity(accepting: row, &transaction) { accept(entity) }
    }

    private mutating func accept(_ entity: CompletionEntity) {
        // Without an open token, what is being composed is text like any other, and stays.
        if followers.completing.session == nil { commitPreedit() }
        guard let acceptance = followers.acceptance(of: entity, at: site, &transaction),
            applyIfAdmitted(
                acceptance.change,
                {
                    // It went on with the query, which the entity replaces. Left, it would be committed behind it.
                    $0.preedit.end(&$0.transaction)
                    $0.closeCompletion()
                })
        else { return }
        followers.finish(acceptance, at: site, &transaction)
    }

    // MARK: Spelling

    mutating func performSpelling(_ event: ComposerEvent) {
        guard case .replaceWord(let range, let word) = event else {
            return followers.performSpelling(event, at: site, &transaction)
        }
        // As one undo step that keeps the selection.
        guard followers.checked.misspelling(at: range.location) == range else { return }
        applyIfAdmitted(TextChange(transforming: range, into: word.withoutNUL(), selection: selection)) {
            $0.closeCompletion()
        }
    }

    // MARK: Timers

    /// Fires the timers of completion and spelling that are due.
    mutating func fireTimers() { followers.fireTimers(at: site, &transaction) }

    // MARK: Ending a transaction

    /// Updates what depends on the selection: completion, triggered by the first change of the text, and the
    /// highlighted mention.
    ///
    /// - Returns: whether to report that the selection moved, which waits until the pointer is released.
    mutating func noteSelection(since before: TextRange) -> Bool {
        let isMoveReported = !text.isSelectionHeld && selection != (transaction.selectionBefore ?? before)
        if !transaction.isCompletionHandled, let trigger = transaction.trigger ?? (isMoveReported ? .moved : nil) {
            followers.update(after: trigger, at: site, &transaction)
        }
        text.highlight.endTransaction(hasChanges: hasChanged(since: before))
        return isMoveReported
    }

    /// Reports found or corrected words.
    mutating func reportSpelling(selectionBefore: TextRange) {
        let isMoved = transaction.edits.isEmpty && selection != selectionBefore
        followers.reportSpelling(isMoved: isMoved, &transaction)
    }

    /// Whether the transaction changed the text or the selection.
    func hasChanged(since before: TextRange) -> Bool { !transaction.edits.isEmpty || selection != before }

    /// - Returns: whether the focus changed.
    mutating func setFocus(_ isFocused: Bool) -> Bool {
        guard bar.setFocus(isFocused, &transaction) else { return false }
        followers.focusChanged(at: site, &transaction)
        return true
    }
}
