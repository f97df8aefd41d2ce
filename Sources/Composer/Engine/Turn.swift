/// What one event has led to so far.
struct Turn: Sendable {
    var edits: [AppliedEdit] = []
    var effects: [ComposerEffect] = []
    var observations: [ComposerObservation] = []
    var textEvents: [TextEvent] = []
    var contentChanged = false
    /// The first change of the text, as completion takes it.
    var stimulus: CompletionStimulus?
    /// The selection that observers know, if they have missed some.
    var selectionBefore: TextRange?
    /// What was highlighted in this turn stays so.
    var keepsArmedMention = false
    /// An event has dealt with completion itself.
    var isCompletionSettled = false
}

/// What completion goes by: what the user did, or that it wasn't the user.
enum CompletionStimulus: Equatable, Sendable {
    case typed(String)
    case deleted(String)
    case moved
    /// A paste, an undo, a change by code.
    case other

    init(removed: String, inserted: String, origin: EditOrigin) {
        switch origin {
        case .typed, .inputMethod, .dictation: self = inserted.isEmpty ? .deleted(removed) : .typed(inserted)
        case .paste, .undo, .code: self = .other
        }
    }
}

extension ComposerEngine {
    /// Runs a part of the engine and gathers its effects: edits first, then the selection, then the rest.
    mutating func takeTurn(_ body: (inout ComposerEngine) -> Void) -> [ComposerEffect] {
        turn = Turn()
        let selectionBefore = selection
        let heightBefore = height
        let wasExceeded = counter?.exceeded ?? false
        let showedCompletion = completing.session?.isVisible ?? false
        let highlightedBefore = highlightedMention
        body(&self)
        let isMoveTold = heldSelection == nil && selection != (turn.selectionBefore ?? selectionBefore)
        followCompletion(selectionMoved: isMoveTold)
        if !turn.keepsArmedMention, !turn.edits.isEmpty || selection != selectionBefore { armedMention = nil }
        if let highlighted = highlightedMention, highlighted != highlightedBefore { observe(.mentionSelected) }
        let showsCompletion = completing.session?.isVisible ?? false
        if showsCompletion != showedCompletion { observe(showsCompletion ? .completionShown : .completionHidden) }
        let isExceeded = counter?.exceeded ?? false
        if isExceeded != wasExceeded { observe(isExceeded ? .limitExceeded : .limitMet) }
        if height != heightBefore { observe(.heightChanged) }
        if !turn.edits.isEmpty { turn.observations.insert(.textChanged, at: 0) }
        let selectionMoved = selection != selectionBefore
        if isMoveTold { turn.observations.insert(.selectionChanged, at: turn.edits.isEmpty ? 0 : 1) }
        if turn.contentChanged, draft.changed(at: now, delay: configuration.draftDelay) { emit(.draftChanged) }
        if isIgnoring { turn.observations = [] }
        let finished = turn
        turn = Turn()
        tell(finished)
        var effects: [ComposerEffect] = []
        if !finished.edits.isEmpty { effects.append(.edited(finished.edits)) }
        if selectionMoved || !finished.edits.isEmpty { effects.append(.selectionChanged(selection)) }
        return effects + finished.effects + finished.observations.map(ComposerEffect.observed)
    }

    mutating func emit(_ effect: ComposerEffect) { turn.effects.append(effect) }
    mutating func observe(_ observation: ComposerObservation) { turn.observations.append(observation) }

    mutating func refuse(_ refusal: ComposerRefusal) {
        emit(.refused(refusal))
        observe(.refused)
    }

    mutating func tellTyping(_ isTyping: Bool) {
        emit(.typing(isTyping))
        observe(isTyping ? .typingStarted : .typingStopped)
    }

    /// Something that a draft holds is different now.
    mutating func noteContentChange() {
        turn.contentChanged = true
    }

    /// Has the draft written at the end of this turn and not once more for what the turn changed so far.
    mutating func writeDraftNow() {
        emit(.draftChanged)
        draft.settle()
        turn.contentChanged = false
    }

    private func tell(_ turn: Turn) {
        guard !plugIns.observers.isEmpty, !turn.observations.isEmpty || !turn.textEvents.isEmpty else { return }
        let state = state
        for observer in plugIns.observers {
            for event in turn.textEvents { observer.textChanged(event) }
            for observation in turn.observations { observer.observed(observation, state: state) }
        }
    }
}
