/// The time of an event, and what it has done so far.
struct EventTransaction: Sendable {
    let now: Duration
    private(set) var edits: [AppliedEdit] = []
    /// The first change of the text, as a trigger for completion.
    private(set) var trigger: CompletionTrigger?
    private var effects: [ComposerEffect] = []
    private var observations: [ComposerObservation] = []
    private var textEvents: [TextEvent] = []
    /// Whether the draft changed.
    private(set) var contentChanged = false
    /// The last selection reported to observers, if changes were withheld.
    var selectionBefore: TextRange?
    /// The event has updated completion itself.
    var isCompletionHandled = false

    /// What was collected for observers and the host.
    struct Report {
        var effects: [ComposerEffect]
        var observations: [ComposerObservation]
        var textEvents: [TextEvent]
    }

    init(at now: Duration = .zero) {
        self.now = now
    }

    mutating func emit(_ effect: ComposerEffect) { effects.append(effect) }
    mutating func observe(_ observation: ComposerObservation) { observations.append(observation) }

    mutating func reject(_ rejection: ComposerRejection) {
        emit(.rejected(rejection))
        observe(.refused)
    }

    /// Adds a change of the text.
    ///
    /// - Parameters:
    ///   - isObserved: whether to report the change to observers individually.
    ///   - triggers: false while observation is suspended, when no change opens completion.
    mutating func add(_ event: TextEvent, isObserved: Bool, triggers: Bool) {
        edits.append(AppliedEdit(range: event.range, replacement: event.inserted))
        if triggers {
            trigger = trigger ?? CompletionTrigger(event)
        } else {
            trigger = .other
        }
        contentChanged = true
        if isObserved { textEvents.append(event) }
    }

    /// Adds a change that happened while observation was suspended.
    mutating func addSuspended(_ event: TextEvent) { textEvents.append(event) }

    /// Notes that the draft changed.
    mutating func noteContentChange() { contentChanged = true }

    /// Asks to save the draft now, so that the changes so far need no save of their own.
    mutating func writeDraftNow() {
        emit(.draftChanged)
        contentChanged = false
    }

    /// Drops the note that the draft changed, as it was just restored.
    mutating func forgetContentChange() { contentChanged = false }

    /// Returns everything in its order: edits first, then the selection, then the rest.
    ///
    /// - Parameter reportsMove: whether to report to observers that the selection moved.
    consuming func report(selection: TextRange?, reportsMove: Bool, isObserved: Bool) -> Report {
        if !isObserved {
            observations = []
        } else {
            if !edits.isEmpty { observations.insert(.textChanged, at: 0) }
            if reportsMove { observations.insert(.selectionChanged, at: edits.isEmpty ? 0 : 1) }
        }
        var all: [ComposerEffect] = []
        if !edits.isEmpty { all.append(.edited(edits)) }
        if let selection { all.append(.selectionChanged(selection)) }
        all += effects
        all += observations.map(ComposerEffect.observed)
        return Report(effects: all, observations: observations, textEvents: textEvents)
    }
}

/// The user action, if any, that triggers an update of completion.
enum CompletionTrigger: Equatable, Sendable {
    case typed(String)
    case deleted(String)
    case moved
    /// Paste, undo or a change by code.
    case other

    init(_ event: TextEvent) {
        switch event.origin {
        case .typed, .inputMethod, .dictation:
            self = event.inserted.isEmpty ? .deleted(event.removed) : .typed(event.inserted)
        case .paste, .undo, .code: self = .other
        }
    }
}
