/// The accumulated results of one event.
struct EventTransaction: Sendable {
    var edits: [AppliedEdit] = []
    var effects: [ComposerEffect] = []
    var observations: [ComposerObservation] = []
    var textEvents: [TextEvent] = []
    var contentChanged = false
    /// The first change of the text, as a trigger for completion.
    var trigger: CompletionTrigger?
    /// The last selection that observers know, if changes were withheld from them.
    var selectionBefore: TextRange?
    /// Keeps the mention that this transaction highlighted.
    var preservesArmedMention = false
    /// The event has updated completion itself.
    var isCompletionHandled = false
}

/// The user action, if any, that triggers an update of completion.
enum CompletionTrigger: Equatable, Sendable {
    case typed(String)
    case deleted(String)
    case moved
    /// Paste, undo or a change by code.
    case other

    init(removed: String, inserted: String, origin: EditOrigin) {
        switch origin {
        case .typed, .inputMethod, .dictation: self = inserted.isEmpty ? .deleted(removed) : .typed(inserted)
        case .paste, .undo, .code: self = .other
        }
    }
}

extension ComposerEngine {
    /// Runs `body` and collects its effects: edits first, then the selection, then the rest.
    mutating func performTransaction(_ body: (inout ComposerEngine) -> Void) -> [ComposerEffect] {
        transaction = EventTransaction()
        let selectionBefore = selection
        let heightBefore = height
        let wasExceeded = counter?.exceeded ?? false
        let showedCompletion = completing.session?.isVisible ?? false
        let highlightedBefore = highlightedMention
        body(&self)
        let isMoveReported = heldSelection == nil && selection != (transaction.selectionBefore ?? selectionBefore)
        updateCompletion(selectionMoved: isMoveReported)
        if !transaction.preservesArmedMention, !transaction.edits.isEmpty || selection != selectionBefore {
            armedMention = nil
        }
        if let highlighted = highlightedMention, highlighted != highlightedBefore { observe(.mentionSelected) }
        let showsCompletion = completing.session?.isVisible ?? false
        if showsCompletion != showedCompletion { observe(showsCompletion ? .completionShown : .completionHidden) }
        let isExceeded = counter?.exceeded ?? false
        if isExceeded != wasExceeded { observe(isExceeded ? .limitExceeded : .limitMet) }
        if height != heightBefore { observe(.heightChanged) }
        if !transaction.edits.isEmpty { transaction.observations.insert(.textChanged, at: 0) }
        let selectionMoved = selection != selectionBefore
        if isMoveReported { transaction.observations.insert(.selectionChanged, at: transaction.edits.isEmpty ? 0 : 1) }
        if transaction.contentChanged, draft.changed(at: now, delay: configuration.draftDelay) { emit(.draftChanged) }
        if isObservationSuspended { transaction.observations = [] }
        let finished = transaction
        transaction = EventTransaction()
        notifyObservers(finished)
        var effects: [ComposerEffect] = []
        if !finished.edits.isEmpty { effects.append(.edited(finished.edits)) }
        if selectionMoved || !finished.edits.isEmpty { effects.append(.selectionChanged(selection)) }
        return effects + finished.effects + finished.observations.map(ComposerEffect.observed)
    }

    mutating func emit(_ effect: ComposerEffect) { transaction.effects.append(effect) }
    mutating func observe(_ observation: ComposerObservation) { transaction.observations.append(observation) }

    mutating func reject(_ rejection: ComposerRejection) {
        emit(.rejected(rejection))
        observe(.refused)
    }

    mutating func reportTyping(_ isTyping: Bool) {
        emit(.typing(isTyping))
        observe(isTyping ? .typingStarted : .typingStopped)
    }

    /// Notes that the content of the draft changed.
    mutating func noteContentChange() {
        transaction.contentChanged = true
    }

    /// Saves the draft at the end of this transaction, and drops a pending save of the changes so far.
    mutating func writeDraftNow() {
        emit(.draftChanged)
        draft.flush()
        transaction.contentChanged = false
    }

    private func notifyObservers(_ transaction: EventTransaction) {
        guard !plugIns.observers.isEmpty, !transaction.observations.isEmpty || !transaction.textEvents.isEmpty else {
            return
        }
        let state = state
        for observer in plugIns.observers {
            for event in transaction.textEvents { observer.textChanged(event) }
            for observation in transaction.observations { observer.observed(observation, state: state) }
        }
    }
}
