/// Opening, updating and closing completion. Its state depends only on the document, the caret and what last moved
/// them, not on the order of earlier events.
extension ComposerEngine {
    private var options: CompletionOptions { configuration.completion }

    /// The state of completion, or `nil` while it is closed.
    public var completion: CompletionState? {
        completing.session.map { session in
            CompletionState(
                prefix: session.token.rule.prefix, query: session.token.query, range: session.token.range,
                kind: session.token.kind, phase: session.phase, items: session.items, openQuery: session.openQueryID,
                selected: session.selected,
                isLoading: session.isLoading, hasFailed: session.hasFailed,
                failureReason: session.failureReason, isVisible: session.isVisible,
                visibleRows: min(session.items.count, options.rows))
        }
    }

    // MARK: Text changes

    /// Updates completion at the end of a transaction; the first change of the text is the trigger.
    mutating func updateCompletion(selectionMoved: Bool) {
        guard options.isOffered, !transaction.isCompletionHandled,
            let trigger = transaction.trigger ?? (selectionMoved ? .moved : nil)
        else { return }
        guard selection.isEmpty, preedit.isEmpty, let finder = finder() else {
            closeCompletion()
            completing.detection.handle(.moved(preceding: .normal), at: selection.location)
            return
        }
        if completing.session == nil { noteDetection(trigger, finder) }
        if completing.session != nil, !(trigger == .moved && options.queryExtent == .typed) {
            if let wide = self.finder(withSpaces: true), continueSession(wide) { return }
        }
        if completing.session != nil {
            closeCompletion()
            noteDetection(trigger, finder)
        }
        openToken(finder, after: trigger)
    }

    func finder(withSpaces: Bool = false) -> TokenFinder? {
        TokenFinder(
            document, caret: selection.location, options: options, rules: completionRules, withSpaces: withSpaces)
    }

    /// - Returns: whether completion stays open.
    private mutating func continueSession(_ finder: TokenFinder) -> Bool {
        guard let session = completing.session else { return false }
        let token: CompletionToken?
        switch session.token.kind {
        case .explicit: token = finder.explicit(anyLength: session.anyLength)
        case .implicit: token = finder.explicit(spaces: 0) == nil ? finder.implicit(from: session.token.start) : nil
        }
        guard let token, token.start == session.token.start, token.rule == session.token.rule else { return false }
        if token.blanks > session.token.blanks {
            let event = CreationRule.Event.blankWritten(afterNothing: session.token.query.isEmpty)
            guard completing.session?.enter(event, continuesAfterEmpty: false) ?? false else { return false }
        }
        completing.session?.token = token
        issueQuery()
        return true
    }

    private mutating func openToken(_ finder: TokenFinder, after trigger: CompletionTrigger) {
        let token = finder.explicit(spaces: 0)
        if let closed = completing.closed {
            let start = finder.explicit(spaces: 0, anyLength: true)?.start ?? finder.implicitStart
            let isSame = start == closed.start
            let isExhausted = closed.exhausted.map { token?.query.hasPrefix($0) ?? true } ?? true
            if isSame, isExhausted { return }
            if !isSame { completing.closed = nil }
        }
        guard opens(on: trigger) else { return }
        if let token { return open(CompletionSession(token: token)) }
        guard trigger != .moved, case .ready(let since) = completing.detection.state,
            let word = finder.implicit(since: since)
        else { return }
        open(CompletionSession(token: word))
    }

    /// Whether a trigger may open completion. Pasted and restored text doesn't; moving the caret does if the text has
    /// focus and the options allow it (SLK-21).
    private func opens(on trigger: CompletionTrigger) -> Bool {
        switch trigger {
        case .moved: return isFocused && options.queryExtent != .typed
        case .typed, .deleted:
            return options.queryExtent != .typed || completing.detection.state != .stalled
        case .other: return false
        }
    }

    mutating func open(_ session: CompletionSession) {
        guard mayOpen(session.token) else {
            completing.closed = .init(start: session.token.start, exhausted: nil)
            return
        }
        completing.closed = nil
        completing.suspended = nil
        completing.session = session
        observe(.completionOpened)
        issueQuery()
    }

    /// - Parameters:
    ///   - staysClosed: whether to keep the token closed while the caret stays in it.
    ///   - exhausted: the query without results; longer queries stay closed as well.
    mutating func closeCompletion(staysClosed: Bool = false, exhausted: String? = nil) {
        guard let session = completing.session else { return }
        if let id = session.openQueryID { emit(.completion(.cancel(id))) }
        completing.session = nil
        if staysClosed { completing.closed = .init(start: session.token.start, exhausted: exhausted) }
        let previous = document.character(before: selection.location)
        let canRestart =
            previous.map { CompletionCharacterClass($0, controls: completionRules.controls).isSeparator } ?? true
        completing.detection.handle(
            .ended(canRestart: (canRestart || session.token.endsBlank) && !staysClosed), at: selection.location)
        observe(.completionClosed)
    }

    // MARK: Detection

    /// Tracks uninterrupted typing, which implicit queries and ``QueryExtent/typed`` depend on.
    private mutating func noteDetection(_ trigger: CompletionTrigger, _ finder: TokenFinder) {
        guard options.implicitLength > 0 || options.queryExtent == .typed else { return }
        let caret = selection.location
        let controls = completionRules.controls
        let preceding = document.character(before: caret).map { CompletionCharacterClass($0, controls: controls) }
        switch trigger {
        case .moved: completing.detection.handle(.moved(preceding: preceding), at: caret)
        case .typed(let text):
            if text.count == 1, let character = text.first {
                completing.detection.handle(.typed(CompletionCharacterClass(character, controls: controls)), at: caret)
            } else {
                let tail = text.reversed().prefix { !CompletionCharacterClass($0, controls: controls).isSeparator }
                let distance = tail.count == text.count ? nil : tail.reduce(0) { $0 + $1.utf16.count }
                completing.detection.handle(.inserted(sinceSeparator: distance), at: caret)
            }
        case .deleted(let text):
            let removed = text.last.map { CompletionCharacterClass($0, controls: controls) } ?? .normal
            completing.detection.handle(
                .deleted(removed, preceding: preceding, wordStart: finder.wordStart), at: caret)
        case .other: completing.detection.handle(.setByCode(wordStart: finder.wordStart), at: caret)
        }
    }

    // MARK: Focus

    /// Closes the list on loss of focus. It reopens if nothing changes in the meantime (HKW-55, HKW-63).
    mutating func suspendCompletion() {
        guard let session = completing.session else { return }
        closeCompletion()
        completing.suspended = session.token
    }

    mutating func resumeCompletion() {
        guard let token = completing.suspended, selection.isEmpty, completing.session == nil else { return }
        completing.suspended = nil
        guard token.kind == .explicit, finder(withSpaces: true)?.explicit(anyLength: true) == token else { return }
        open(CompletionSession(token: token, anyLength: true))
    }

    // MARK: Queries

    /// Issues a query for the current text, immediately or once the throttle allows it (HKW-47).
    mutating func issueQuery(atOnce: Bool = false) {
        let now = now
        let isDue = completing.session?.needsQuery(at: now) ?? false
        guard isDue || atOnce && completing.session?.isQueryWaiting ?? false, let session = completing.session else {
            return
        }
        if let id = session.openQueryID { emit(.completion(.cancel(id))) }
        let query = CompletionQuery(
            id: completing.nextQueryID(), prefix: session.token.rule.prefix, text: session.token.query,
            kind: session.token.kind)
        let throttle = Duration.seconds(max(0, options.resultsThrottle))
        completing.session?.issue(query, at: now, throttle: throttle)
        emit(.completion(.query(query)))
    }

    mutating func fireCompletionTimers() {
        guard let session = completing.session else { return }
        if session.isQueryWaiting { issueQuery() }
        let now = now
        if completing.session?.showLoading(at: now) ?? false { observe(.completionChanged) }
    }

    /// Handles a batch of results. Ignores responses to any query but the last (HKW-46).
    private mutating func handleResults(_ id: String, _ batch: [CompletionEntity], isFinal: Bool) {
        guard let session = completing.session, session.openQueryID == id else { return }
        let continues = options.continueAfterEmpty
        let goesOn = completing.session?.receive(batch, isFinal: isFinal, continuesAfterEmpty: continues) ?? false
        applyShowPolicy(wasVisible: session.isVisible)
        observe(.completionChanged)
        if let session = completing.session, session.token.kind == .implicit, session.token.blanks > 0,
            !goesOn || session.phase == .noResults
        {
            startAtLastWord()
        } else if !goesOn {
            closeCompletion(staysClosed: true, exhausted: completing.session?.query?.text)
        }
    }

    /// Restarts at the last word if several words have no results together: while the query was pending, the user may
    /// have started a name (HKW-44).
    private mutating func startAtLastWord() {
        closeCompletion()
        guard let finder = finder() else { return }
        completing.detection.handle(.setByCode(wordStart: finder.wordStart), at: selection.location)
        openToken(finder, after: .typed(""))
    }

    private mutating func handleFailure(_ id: String, _ reason: String?) {
        guard completing.session?.openQueryID == id else { return }
        let goesOn = completing.session?.fail(because: reason) ?? false
        observe(.completionChanged)
        if !goesOn { closeCompletion(staysClosed: true, exhausted: completing.session?.query?.text) }
    }

    private mutating func retryCompletion() {
        guard completing.session?.forgetFailure() ?? false else { return }
        issueQuery()
        observe(.completionChanged)
    }

    mutating func performCompletion(_ event: ComposerEvent) {
        transaction.isCompletionHandled = true
        switch event {
        case .complete(let prefix): complete(prefix)
        case .completionResults(let id, let batch, let isFinal): handleResults(id, batch, isFinal: isFinal)
        case .completionFailed(let id, let reason): handleFailure(id, reason)
        case .retryCompletion: retryCompletion()
        case .selectCompletion(let row):
            if completing.session?.select(row) ?? false { observe(.completionChanged) }
        case .acceptCompletion(let row): acceptRow(row)
        case .acceptEntity(let entity): accept(entity)
        case .cancelCompletion: closeCompletion(staysClosed: true)
        case .addMention(let mention, let range): addMention(mention, over: range)
        default: break
        }
    }

    // MARK: Opening by code

    /// Opens completion, inserting the prefix unless the caret is in a token with it (SLK-25, MIB-35).
    private mutating func complete(_ prefix: String) {
        guard let rule = completionRules.rule(for: prefix) else {
            return reject(.completion(prefix))
        }
        if !isFocused { emit(.focusRequested(true)) }
        closeCompletion()
        commitPreedit()
        if selection.isEmpty, let token = finder()?.explicit(spaces: 0, anyLength: true), token.rule.prefix == prefix {
            return openByCode(token)
        }
        guard insertPrefix(of: rule), let token = finder()?.explicit(anyLength: true), token.rule.prefix == prefix
        else {
            return reject(.completion(prefix))
        }
        openByCode(token)
    }

    private mutating func openByCode(_ token: CompletionToken) {
        open(CompletionSession(token: token, anyLength: true))
    }

    /// - Returns: whether the prefix is allowed at the selection and could be inserted.
    private mutating func insertPrefix(of rule: CompletionRule) -> Bool {
        guard rule.position == .anywhere || selection.location == 0 else { return false }
        let previous = document.character(before: selection.location)
        let boundary = rule.boundary ?? options.boundary
        let isBoundary = boundary.allows(previous, endsMention: false, controls: completionRules.controls)
        let needsSpace = !isBoundary || previous?.isWordCharacter ?? false
        let text = needsSpace ? " " + rule.prefix : rule.prefix
        guard admit(selection, text, .typed) == text else { return false }
        replace(selection, with: text, origin: .typed)
        return true
    }
}

extension TokenFinder {
    /// The start of the white-space-delimited word that ends at the caret.
    var wordStart: Int { caret - textBefore.reversed().prefix { !$0.isBlank }.reduce(0) { $0 + $1.utf16.count } }

    /// The start of an implicit token that ends at the caret.
    var implicitStart: Int {
        let word = textBefore.reversed().prefix { character in
            CompletionCharacterClass(character, controls: rules.controls) == .normal
        }
        return caret - word.reduce(0) { $0 + $1.utf16.count }
    }
}
