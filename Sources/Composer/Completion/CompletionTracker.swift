/// What completion reads of a composer.
struct CompletionSite {
    let document: ComposerDocument
    let selection: TextRange
    let options: CompletionOptions
    let isFocused: Bool

    var caret: Int { selection.location }
}

/// Opens, updates and closes completion as text and caret change.
///
/// Its state depends only on the document, the caret and what last moved them, not on the order of earlier events.
struct CompletionTracker: Sendable {
    /// A token that doesn't open again while the caret stays in it.
    private struct Closed: Sendable {
        var start: Int
        /// The query without results, of which longer ones have none either; `nil` if the user closed the list.
        var exhausted: String?
    }

    private(set) var session: CompletionSession?
    private var detection = StartDetection()
    private var closed: Closed?
    /// The token that was open when the composer lost focus (HKW-63).
    private var suspended: CompletionToken?
    private var issuedQueries = 0
    private var rules: CompletionRules
    private(set) var policy: (any CompletionPolicy)?

    init(_ options: CompletionOptions) {
        rules = CompletionRules(options)
    }

    var isOpen: Bool { session != nil }
    var isVisible: Bool { session?.isVisible ?? false }
    var deadline: Duration? { session?.deadline }

    /// - Parameter visibleRows: the maximum number of visible rows.
    func state(visibleRows: Int) -> CompletionState? {
        session.map { session in
            CompletionState(
                prefix: session.token.rule.prefix, query: session.token.query, range: session.token.range,
                kind: session.token.kind, phase: session.phase, items: session.items, openQuery: session.openQueryID,
                selected: session.selected, isLoading: session.isLoading, hasFailed: session.hasFailed,
                failureReason: session.failureReason, isVisible: session.isVisible,
                visibleRows: min(session.items.count, visibleRows))
        }
    }

    func rule(for prefix: String) -> CompletionRule? { rules.rule(for: prefix) }

    mutating func reconfigure(_ options: CompletionOptions) { rules = CompletionRules(options) }

    mutating func setPolicy(_ policy: (any CompletionPolicy)?) {
        self.policy?.detached()
        self.policy = policy
    }

    private func finder(_ site: CompletionSite, withSpaces: Bool = false) -> TokenFinder? {
        TokenFinder(
            site.document, caret: site.caret, options: site.options, rules: rules, withSpaces: withSpaces)
    }

    private func characterClass(_ character: Character) -> CompletionCharacterClass {
        CompletionCharacterClass(character, controls: rules.controls)
    }
}

// MARK: - Text changes

extension CompletionTracker {
    /// Adjusts all offsets to an edit.
    mutating func apply(_ edit: AppliedEdit) {
        suspended = nil
        detection.apply(edit)
        if let start = session?.token.start {
            if let moved = edit.moved(start) {
                session?.token.range.location = moved
            } else {
                session?.token.range = .caret(-1)
            }
        }
        if let start = closed?.start {
            if let moved = edit.moved(start) { closed?.start = moved } else { closed = nil }
        }
    }

    /// Updates completion at the end of a transaction.
    ///
    /// - Parameter isComposing: whether an input method is composing.
    mutating func update(
        after trigger: CompletionTrigger, at site: CompletionSite, isComposing: Bool,
        _ transaction: inout EventTransaction
    ) {
        guard site.selection.isEmpty, !isComposing, let finder = finder(site) else {
            close(at: site, &transaction)
            detection.handle(.moved(preceding: .normal), at: site.caret)
            return
        }
        if session == nil { noteDetection(trigger, finder, site) }
        if session != nil, !(trigger == .moved && site.options.queryExtent == .typed) {
            if let wide = self.finder(site, withSpaces: true), continueSession(wide, &transaction) { return }
        }
        if session != nil {
            close(at: site, &transaction)
            noteDetection(trigger, finder, site)
        }
        openToken(finder, after: trigger, at: site, &transaction)
    }

    /// - Returns: whether completion stays open.
    private mutating func continueSession(_ finder: TokenFinder, _ transaction: inout EventTransaction) -> Bool {
        guard let session else { return false }
        let token: CompletionToken?
        switch session.token.kind {
        case .explicit: token = finder.explicit(anyLength: session.anyLength)
        case .implicit: token = finder.explicit(spaces: 0) == nil ? finder.implicit(from: session.token.start) : nil
        }
        guard let token, token.start == session.token.start, token.rule == session.token.rule else { return false }
        if token.blanks > session.token.blanks {
            let event = CreationRule.Event.blankWritten(afterNothing: session.token.query.isEmpty)
            guard self.session?.enter(event, continuesAfterEmpty: false) ?? false else { return false }
        }
        self.session?.token = token
        issueQuery(finder.options, &transaction)
        return true
    }

    private mutating func openToken(
        _ finder: TokenFinder, after trigger: CompletionTrigger, at site: CompletionSite,
        _ transaction: inout EventTransaction
    ) {
        let token = finder.explicit(spaces: 0)
        if let closed {
            let start = finder.explicit(spaces: 0, anyLength: true)?.start ?? finder.implicitStart
            let isSame = start == closed.start
            let isExhausted = closed.exhausted.map { token?.query.hasPrefix($0) ?? true } ?? true
            if isSame, isExhausted { return }
            if !isSame { self.closed = nil }
        }
        guard opens(on: trigger, at: site) else { return }
        if let token { return open(CompletionSession(token: token), site.options, &transaction) }
        guard trigger != .moved, case .ready(let since) = detection.state, let word = finder.implicit(since: since)
        else { return }
        open(CompletionSession(token: word), site.options, &transaction)
    }

    /// Whether a trigger may open completion. Pasted and restored text doesn't; moving the caret does if the text has
    /// focus and the options allow it (SLK-21).
    private func opens(on trigger: CompletionTrigger, at site: CompletionSite) -> Bool {
        switch trigger {
        case .moved: site.isFocused && site.options.queryExtent != .typed
        case .typed, .deleted: site.options.queryExtent != .typed || detection.state != .stalled
        case .other: false
        }
    }

    /// Tracks uninterrupted typing, which implicit queries and ``QueryExtent/typed`` depend on.
    private mutating func noteDetection(
        _ trigger: CompletionTrigger, _ finder: TokenFinder, _ site: CompletionSite
    ) {
        guard site.options.implicitLength > 0 || site.options.queryExtent == .typed else { return }
        let caret = site.caret
        let preceding = site.document.character(before: caret).map { characterClass($0) }
        switch trigger {
        case .moved: detection.handle(.moved(preceding: preceding), at: caret)
        case .typed(let text):
            if text.count == 1, let character = text.first {
                detection.handle(.typed(characterClass(character)), at: caret)
            } else {
                let tail = text.reversed().prefix { !characterClass($0).isSeparator }
                let distance = tail.count == text.count ? nil : tail.reduce(0) { $0 + $1.utf16.count }
                detection.handle(.inserted(sinceSeparator: distance), at: caret)
            }
        case .deleted(let text):
            let removed = text.last.map { characterClass($0) } ?? .normal
            detection.handle(.deleted(removed, preceding: preceding, wordStart: finder.wordStart), at: caret)
        case .other: detection.handle(.setByCode(wordStart: finder.wordStart), at: caret)
        }
    }
}

// MARK: - Opening and closing

extension CompletionTracker {
    private mutating func open(
        _ session: CompletionSession, _ options: CompletionOptions, _ transaction: inout EventTransaction
    ) {
        let token = session.token
        guard policy?.mayOpen(token.rule.prefix, query: token.query, over: token.range, kind: token.kind) ?? true
        else {
            closed = Closed(start: token.start)
            return
        }
        closed = nil
        suspended = nil
        self.session = session
        transaction.observe(.completionOpened)
        issueQuery(options, &transaction)
    }

    /// Opens completion for the prefix at the caret because the host requests it, whatever the length of the query.
    ///
    /// - Parameter spaces: the maximum number of blanks in the query; `nil` for the limit of the rule.
    /// - Returns: whether there is one.
    mutating func openByCode(
        _ prefix: String, spaces: Int?, at site: CompletionSite, _ transaction: inout EventTransaction
    ) -> Bool {
        guard let token = finder(site)?.explicit(spaces: spaces, anyLength: true), token.rule.prefix == prefix else {
            return false
        }
        open(CompletionSession(token: token, anyLength: true), site.options, &transaction)
        return true
    }

    /// The change that inserts a prefix at the selection, or `nil` if its rule doesn't allow it there (SLK-25).
    func insertion(of rule: CompletionRule, at site: CompletionSite) -> TextChange? {
        guard rule.position == .anywhere || site.caret == 0 else { return nil }
        let previous = site.document.character(before: site.caret)
        let boundary = rule.boundary ?? site.options.boundary
        let isBoundary = boundary.allows(previous, endsMention: false, controls: rules.controls)
        let needsSpace = !isBoundary || previous?.isWordCharacter ?? false
        return TextChange(
            replacing: site.selection, with: needsSpace ? " " + rule.prefix : rule.prefix, origin: .typed)
    }

    /// - Parameters:
    ///   - staysClosed: whether to keep the token closed while the caret stays in it.
    ///   - exhausted: the query without results; longer queries stay closed as well.
    mutating func close(
        at site: CompletionSite, staysClosed: Bool = false, exhausted: String? = nil,
        _ transaction: inout EventTransaction
    ) {
        guard let session else { return }
        if let id = session.openQueryID { transaction.emit(.completion(.cancel(id))) }
        self.session = nil
        if staysClosed { closed = Closed(start: session.token.start, exhausted: exhausted) }
        let previous = site.document.character(before: site.caret)
        let canRestart = previous.map { characterClass($0).isSeparator } ?? true
        detection.handle(
            .ended(canRestart: (canRestart || session.token.endsBlank) && !staysClosed), at: site.caret)
        transaction.observe(.completionClosed)
    }

    /// Closes the list when the composer loses focus. A list opened by a prefix reopens with the focus if its token
    /// is unchanged (HKW-55, HKW-63).
    mutating func suspend(at site: CompletionSite, _ transaction: inout EventTransaction) {
        guard let session else { return }
        close(at: site, &transaction)
        suspended = session.token
    }

    mutating func resume(at site: CompletionSite, _ transaction: inout EventTransaction) {
        guard let token = suspended, site.selection.isEmpty, session == nil else { return }
        suspended = nil
        guard token.kind == .explicit, finder(site, withSpaces: true)?.explicit(anyLength: true) == token else {
            return
        }
        open(CompletionSession(token: token, anyLength: true), site.options, &transaction)
    }
}

// MARK: - Queries and rows

extension CompletionTracker {
    /// Issues a query for the current text, immediately or once the throttle allows it (HKW-47).
    private mutating func issueQuery(
        _ options: CompletionOptions, atOnce: Bool = false, _ transaction: inout EventTransaction
    ) {
        let isDue = session?.needsQuery(at: transaction.now) ?? false
        guard isDue || atOnce && session?.isQueryWaiting ?? false, let session else { return }
        if let id = session.openQueryID { transaction.emit(.completion(.cancel(id))) }
        issuedQueries += 1
        let query = CompletionQuery(
            id: "query-\(issuedQueries)", prefix: session.token.rule.prefix, text: session.token.query,
            kind: session.token.kind)
        let throttle = Duration.seconds(max(0, options.resultsThrottle))
        self.session?.issue(query, at: transaction.now, throttle: throttle)
        transaction.emit(.completion(.query(query)))
    }

    mutating func fireTimers(_ options: CompletionOptions, _ transaction: inout EventTransaction) {
        guard let session else { return }
        if session.isQueryWaiting { issueQuery(options, &transaction) }
        if self.session?.showLoading(at: transaction.now) ?? false { transaction.observe(.completionChanged) }
    }

    /// Handles a batch of results. Ignores responses to any query but the last (HKW-46).
    mutating func receive(
        _ batch: [CompletionEntity], for id: String, isFinal: Bool, at site: CompletionSite,
        _ transaction: inout EventTransaction
    ) {
        guard let before = session, before.openQueryID == id else { return }
        let continues = site.options.continueAfterEmpty
        let goesOn = session?.receive(batch, isFinal: isFinal, continuesAfterEmpty: continues) ?? false
        if !before.isVisible { applyShowPolicy(site.options) }
        transaction.observe(.completionChanged)
        if let session, session.token.kind == .implicit, session.token.blanks > 0,
            !goesOn || session.phase == .noResults
        {
            startAtLastWord(at: site, &transaction)
        } else if !goesOn {
            close(at: site, staysClosed: true, exhausted: session?.query?.text, &transaction)
        }
    }

    /// Asks the policy when a list is about to appear, and not again until it has been hidden.
    private mutating func applyShowPolicy(_ options: CompletionOptions) {
        guard let policy else { return }
        session?.isHeldBack = false
        guard let state = state(visibleRows: options.rows), state.isVisible else { return }
        session?.isHeldBack = !policy.mayShow(state)
    }

    /// Restarts at the last word if several words have no results together: while the query was pending, the user may
    /// have started a name (HKW-44).
    private mutating func startAtLastWord(at site: CompletionSite, _ transaction: inout EventTransaction) {
        close(at: site, &transaction)
        guard let finder = finder(site) else { return }
        detection.handle(.setByCode(wordStart: finder.wordStart), at: site.caret)
        openToken(finder, after: .typed(""), at: site, &transaction)
    }

    mutating func fail(
        _ id: String, because reason: String?, at site: CompletionSite, _ transaction: inout EventTransaction
    ) {
        guard session?.openQueryID == id else { return }
        let goesOn = session?.fail(because: reason) ?? false
        transaction.observe(.completionChanged)
        if !goesOn { close(at: site, staysClosed: true, exhausted: session?.query?.text, &transaction) }
    }

    mutating func retry(_ options: CompletionOptions, _ transaction: inout EventTransaction) {
        guard session?.forgetFailure() ?? false else { return }
        issueQuery(options, &transaction)
        transaction.observe(.completionChanged)
    }

    mutating func select(_ row: Int, _ transaction: inout EventTransaction) {
        if session?.select(row) ?? false { transaction.observe(.completionChanged) }
    }

    mutating func move(_ move: CompletionMove, page: Int, _ transaction: inout EventTransaction) {
        guard let session else { return }
        if let row = move.row(from: session.selected, count: session.items.count, page: page) {
            select(row, &transaction)
        }
    }
}

// MARK: - Accepting

extension CompletionTracker {
    /// The entity that accepting a row chooses. If the rows are those of an earlier text and none matches, issues the
    /// query for the current one at once.
    ///
    /// - Parameter row: `nil` for the selected row, or else the first.
    mutating func entity(
        accepting row: Int?, _ options: CompletionOptions, _ transaction: inout EventTransaction
    ) -> CompletionEntity? {
        guard let session else { return nil }
        guard let row = row ?? session.rowToAccept else {
            issueQuery(options, atOnce: true, &transaction)
            return nil
        }
        return session.items.indices.contains(row) ? session.items[row] : nil
    }

    /// What accepting an entity replaces: the open token, or without one the token at the caret or the selection, for
    /// lists of the host (HKW-70). Reports if the policy doesn't allow it.
    func acceptance(
        of entity: CompletionEntity, at site: CompletionSite, _ transaction: inout EventTransaction
    ) -> CompletionAcceptance? {
        let name = entity.name.withoutNUL()
        guard !name.isEmpty else { return nil }
        let finder = site.selection.isEmpty ? finder(site) : nil
        let token = session?.token ?? finder?.explicit(spaces: 0, anyLength: true)
        if let policy, !policy.mayAccept(entity, for: token?.rule.prefix ?? "") {
            transaction.reject(.denied(by: policy.name))
            return nil
        }
        return CompletionAcceptance(entity, named: name, token: token, at: site)
    }

    /// Follows the acceptance of an entity, once it is in the text.
    mutating func finish(
        _ acceptance: CompletionAcceptance, at site: CompletionSite, _ transaction: inout EventTransaction
    ) {
        closed = Closed(start: acceptance.range.location)
        // The inserted space ends the word like a typed one: the next word may start completion (HKW-45).
        let isBlankBefore = site.document.character(before: site.caret)?.isBlank ?? false
        detection.handle(.ended(canRestart: isBlankBefore), at: site.caret)
        transaction.observe(.completionAccepted)
        if let token = acceptance.token {
            transaction.emit(.completion(.accepted(acceptance.entity, prefix: token.rule.prefix)))
        }
        if acceptance.mention != nil { transaction.observe(.mentionCreated) }
        transaction.isCompletionHandled = true
    }
}
