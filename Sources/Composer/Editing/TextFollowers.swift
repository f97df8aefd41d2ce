/// What follows the changes of a text: completion, spelling and typing notifications. It never changes the text itself.
struct TextFollowers: Sendable {
    private(set) var completing: CompletionTracker
    private(set) var checked = CheckedText()
    var presence = Presence()
    private var options: CompletionOptions
    private var markdown: [MarkdownRule]

    /// What the followers read of the composer. It holds a copy of the document, which changing it would have to
    /// duplicate: use it within a single statement.
    struct Site {
        let document: ComposerDocument
        let selection: TextRange
        let isFocused: Bool
        /// Whether the input method shows a preedit text at the caret.
        let isComposing: Bool
    }

    init(_ configuration: ComposerConfiguration) {
        options = configuration.completion
        markdown = configuration.markdown
        completing = CompletionTracker(configuration.completion)
    }

    mutating func reconfigure(_ configuration: ComposerConfiguration) {
        options = configuration.completion
        markdown = configuration.markdown
        completing.reconfigure(configuration.completion)
    }

    /// When a timer is due, or `nil` if none is pending.
    var deadline: Duration? { [presence.deadline, completing.deadline, checked.deadline].compactMap { $0 }.min() }

    /// Fires the timers of completion and spelling that are due. Those of ``presence`` are fired by its owner.
    mutating func fireTimers(at site: Site, _ transaction: inout EventTransaction) {
        completing.fireTimers(options, &transaction)
        guard let deadline = checked.deadline, deadline <= transaction.now else { return }
        Self.ask(checked.check(spelling(site), now: transaction.now), &transaction)
    }

    private func completion(_ site: Site) -> CompletionSite {
        CompletionSite(
            document: site.document, selection: site.selection, options: options, isFocused: site.isFocused)
    }

    private func spelling(_ site: Site) -> CheckedText.Site {
        CheckedText.Site(
            document: site.document, selection: site.selection, isComposing: site.isComposing, rules: markdown)
    }

    // MARK: Changes

    /// - Parameters:
    ///   - site: that after the change.
    ///   - isSuspended: whether observation is suspended: the change notifies nobody of typing.
    mutating func textChanged(
        _ event: TextEvent, at site: Site, isSuspended: Bool, _ transaction: inout EventTransaction
    ) {
        completing.apply(AppliedEdit(range: event.range, replacement: event.inserted))
        if checked.isOn { checked.apply(event, in: spelling(site), now: transaction.now) }
        presence.textChanged(
            isBlank: site.document.isBlank, isUserWriting: event.origin.isUserWriting && !isSuspended, &transaction)
    }

    /// Updates completion at the end of a transaction that has not done so itself.
    mutating func update(after trigger: CompletionTrigger, at site: Site, _ transaction: inout EventTransaction) {
        guard options.isOffered else { return }
        completing.update(after: trigger, at: completion(site), isComposing: site.isComposing, &transaction)
    }

    mutating func focusChanged(at site: Site, _ transaction: inout EventTransaction) {
        if site.isFocused {
            completing.resume(at: completion(site), &transaction)
        } else {
            completing.suspend(at: completion(site), &transaction)
        }
    }

    // MARK: Completion

    /// Handles the events of completion that need no change of the text.
    mutating func performCompletion(_ event: ComposerEvent, at site: Site, _ transaction: inout EventTransaction) {
        switch event {
        case .completionResults(let id, let batch, let isFinal):
            completing.receive(batch, for: id, isFinal: isFinal, at: completion(site), &transaction)
        case .completionFailed(let id, let reason):
            completing.fail(id, because: reason, at: completion(site), &transaction)
        case .retryCompletion: completing.retry(options, &transaction)
        case .selectCompletion(let row): completing.select(row, &transaction)
        case .cancelCompletion: closeCompletion(staysClosed: true, at: site, &transaction)
        default: break
        }
    }

    /// - Parameter staysClosed: whether to keep completion closed for the current token.
    mutating func closeCompletion(
        staysClosed: Bool = false, at site: Site, _ transaction: inout EventTransaction
    ) {
        if completing.isOpen { completing.close(at: completion(site), staysClosed: staysClosed, &transaction) }
    }

    /// See ``CompletionTracker/openByCode(_:spaces:at:_:)``.
    mutating func openCompletion(
        _ prefix: String, spaces: Int?, at site: Site, _ transaction: inout EventTransaction
    ) -> Bool {
        completing.openByCode(prefix, spaces: spaces, at: completion(site), &transaction)
    }

    /// The change that inserts the prefix of a rule, or `nil` if the rule doesn't allow it at the caret.
    func insertion(of rule: CompletionRule, at site: Site) -> TextChange? {
        completing.insertion(of: rule, at: completion(site))
    }

    /// The entity to accept.
    ///
    /// - Parameter row: `nil` for the selected row, or else the first.
    mutating func entity(accepting row: Int?, _ transaction: inout EventTransaction) -> CompletionEntity? {
        completing.entity(accepting: row, options, &transaction)
    }

    /// How the text has to change for an entity, or `nil` if it cannot be accepted. Call ``finish(_:at:_:)`` then.
    func acceptance(
        of entity: CompletionEntity, at site: Site, _ transaction: inout EventTransaction
    ) -> CompletionAcceptance? {
        completing.acceptance(of: entity, at: completion(site), &transaction)
    }

    mutating func finish(_ acceptance: CompletionAcceptance, at site: Site, _ transaction: inout EventTransaction) {
        completing.finish(acceptance, at: completion(site), &transaction)
    }

    mutating func moveInCompletion(_ move: CompletionMove, _ transaction: inout EventTransaction) {
        completing.move(move, page: options.rows, &transaction)
    }

    var completionState: CompletionState? { completing.state(visibleRows: options.rows) }

    mutating func setCompletionPolicy(_ policy: (any CompletionPolicy)?) { completing.setPolicy(policy) }

    // MARK: Spelling

    /// Handles the events of spelling that need no change of the text.
    mutating func performSpelling(_ event: ComposerEvent, at site: Site, _ transaction: inout EventTransaction) {
        switch event {
        case .checkSpelling(true): checked.start(site.document, now: transaction.now)
        case .checkSpelling(false): checked.stop(site.document)
        case .spellingChecked(let id, let misspelled):
            Self.ask(checked.note(misspelled, of: id, spelling(site), now: transaction.now), &transaction)
        case .ignoreWord(let word): checked.ignore(word, in: site.document)
        default: break
        }
    }

    private static func ask(_ request: SpellingRequest?, _ transaction: inout EventTransaction) {
        if let request { transaction.emit(.checkSpelling(request)) }
    }

    /// Checks all words again: the whole text was replaced by an equal one, or where there is code has changed.
    mutating func checkAgain(_ document: ComposerDocument, now: Duration) { checked.touchAll(document, now: now) }

    /// Checks the words of a range again.
    mutating func checkAgain(_ range: TextRange, now: Duration) { checked.touch(range, now: now) }

    /// Call this when spans or the syntax have changed without the text: mentions and code may be elsewhere.
    mutating func checkAgain(_ document: ComposerDocument, since before: ComposerDocument, now: Duration) {
        guard checked.isOn else { return }
        if before.syntax != document.syntax { return checked.touchAll(document, now: now) }
        let (old, new) = (Set(before.spans), Set(document.spans))
        for span in old.symmetricDifference(new) { checked.touch(document.clamped(span.range), now: now) }
    }

    /// Call this when the user moved on, so that the word at the caret is finished.
    mutating func finishWriting(now: Duration) { checked.finishWriting(now: now) }

    /// Reports found or corrected words at the end of a transaction.
    ///
    /// - Parameter isMoved: whether the selection has moved, and nothing else has changed.
    mutating func reportSpelling(isMoved: Bool, _ transaction: inout EventTransaction) {
        guard checked.isOn || checked.hasChanged else { return }
        if isMoved { checked.finishWriting(now: transaction.now) }
        for (part, words) in checked.report() { transaction.emit(.misspelled(words, in: part)) }
    }
}
