/// How a change merges with the preceding undo step (SLK-33).
enum UndoGrouping: Equatable {
    /// Typing at the caret: merged with the preceding run up to the next word. `startsBlank` and `endsBlank` tell
    /// whether the first and last character are white space.
    case typing(startsBlank: Bool, endsBlank: Bool)
    /// Backspace or Delete: merged likewise.
    case deleting(forward: Bool, isBlank: Bool)
    /// A separate step.
    case atomic

    /// A single character that the user writes joins a run; anything else is a separate step.
    init(writing text: String, _ origin: EditOrigin) {
        guard origin == .typed || origin == .inputMethod, text.count == 1, let character = text.first else {
            self = .atomic
            return
        }
        self = .typing(startsBlank: character.isBlank, endsBlank: character.isBlank)
    }
}

/// A direction through the undo steps.
enum UndoDirection: Sendable {
    case undo, redo

    var opposite: UndoDirection { self == .undo ? .redo : .undo }
}

/// The undo and redo steps over the whole document: text, spans and selection.
///
/// A step stores only the removed and inserted text, so its size depends on the change, not the document.
struct UndoHistory: Sendable {
    struct Edit: Sendable {
        var location: Int
        var removed: String
        var removedLength: Int
        var inserted: String
        var insertedLength: Int
    }

    struct UndoSnapshot: Sendable {
        var spans: [Span]
        var selection: TextRange
        var syntax: WrittenText.Syntax
    }

    struct Step: Sendable {
        var edits: [Edit]
        var before: UndoSnapshot
        var after: UndoSnapshot
        var extra: Extra?

        /// The changes of the text, in order.
        func events(_ direction: UndoDirection) -> [TextEvent] {
            switch direction {
            case .undo:
                edits.reversed().map { edit in
                    TextEvent(
                        range: TextRange(location: edit.location, length: edit.insertedLength), removed: edit.inserted,
                        inserted: edit.removed, origin: .undo)
                }
            case .redo:
                edits.map { edit in
                    TextEvent(
                        range: TextRange(location: edit.location, length: edit.removedLength), removed: edit.removed,
                        inserted: edit.inserted, origin: .undo)
                }
            }
        }

        /// Spans and selection afterwards.
        func target(_ direction: UndoDirection) -> UndoSnapshot { direction == .undo ? before : after }
    }

    /// The effects of a step besides the text.
    enum Extra: Sendable {
        /// A message was sent, with these extras.
        case sent(SentExtras)
        /// Switched from this suspended context to another one.
        case suspended(ComposerContext)
    }

    /// What undo or redo did, or what the caller still has to do besides the text.
    enum Outcome {
        case nothing, text
        case sent(SentExtras)
        /// To switch to this context; nothing changed yet.
        case suspended(ComposerContext)
    }

    private struct Run: Equatable {
        var grouping: UndoGrouping
        var time: Duration
        /// The caret position at which the next change continues the run.
        var caret: Int
    }

    /// The maximum length of a merged string, in UTF-16 code units; bounds the cost of appending.
    private static let joinedLength = 256
    /// The pause that ends a run (SLK-33).
    private static let pause = Duration.seconds(1)

    private(set) var undoSteps: [Step] = []
    private(set) var redoSteps: [Step] = []
    private var run: Run?
    private var transactionDepth = 0
    private var transactionHasStep = false
    let depth: Int

    /// - Parameter depth: the maximum number of steps; older ones are dropped. 0 disables undo.
    init(depth: Int) {
        self.depth = max(0, depth)
    }

    var canUndo: Bool { !undoSteps.isEmpty }
    var canRedo: Bool { !redoSteps.isEmpty }

    /// Ends the run: the next change starts a new step.
    mutating func breakRun() { run = nil }

    mutating func clear() {
        undoSteps = []
        redoSteps = []
        run = nil
    }

    /// Groups everything recorded until the matching `endTransaction` into one step. Nests.
    mutating func beginTransaction() {
        if transactionDepth == 0 {
            transactionHasStep = false
            run = nil
        }
        transactionDepth += 1
    }

    mutating func endTransaction() {
        transactionDepth -= 1
        if transactionDepth == 0 { run = nil }
    }

    mutating func record(
        _ edits: [Edit], grouping: UndoGrouping, from before: UndoSnapshot, to after: UndoSnapshot, at time: Duration
    ) {
        guard depth > 0 else { return }
        redoSteps = []
        if transactionDepth > 0, transactionHasStep {
            undoSteps[undoSteps.count - 1].edits += edits
            undoSteps[undoSteps.count - 1].after = after
            return
        }
        if transactionDepth == 0, edits.count == 1, joins(edits[0], grouping, time) {
            join(edits[0])
            undoSteps[undoSteps.count - 1].after = after
        } else {
            undoSteps.append(Step(edits: edits, before: before, after: after))
            if undoSteps.count > depth { undoSteps.removeFirst(undoSteps.count - depth) }
            transactionHasStep = transactionDepth > 0
        }
        run =
            transactionDepth == 0 && grouping != .atomic
            ? Run(grouping: grouping, time: time, caret: after.selection.location) : nil
    }

    private func joins(_ edit: Edit, _ grouping: UndoGrouping, _ time: Duration) -> Bool {
        guard let run, !undoSteps.isEmpty, time - run.time < Self.pause else { return false }
        switch (run.grouping, grouping) {
        case (.typing(_, let wasBlank), .typing(let isBlank, _)):
            return edit.removedLength == 0 && edit.location == run.caret && !(wasBlank && !isBlank)
        case (.deleting(let wasForward, let wasBlank), .deleting(let isForward, let isBlank)):
            let meets = isForward ? edit.location == run.caret : edit.location + edit.removedLength == run.caret
            return wasForward == isForward && meets && !(wasBlank && !isBlank)
        default:
            return false
        }
    }

    private mutating func join(_ edit: Edit) {
        let step = undoSteps.count - 1
        let last = undoSteps[step].edits.count - 1
        let previous = undoSteps[step].edits[last]
        if edit.removedLength == 0, previous.removedLength == 0,
            previous.location + previous.insertedLength == edit.location,
            previous.insertedLength < Self.joinedLength
        {
            undoSteps[step].edits[last].inserted += edit.inserted
            undoSteps[step].edits[last].insertedLength += edit.insertedLength
        } else {
            undoSteps[step].edits.append(edit)
        }
    }

    /// Attaches an extra effect to the latest step.
    mutating func add(_ extra: Extra) {
        if !undoSteps.isEmpty { undoSteps[undoSteps.count - 1].extra = extra }
    }

    /// Adds a step in this direction that returns to a suspended context.
    mutating func addWay(to context: ComposerContext, for direction: UndoDirection, at snapshot: UndoSnapshot) {
        guard depth > 0 else { return }
        let step = Step(edits: [], before: snapshot, after: snapshot, extra: .suspended(context))
        run = nil
        switch direction {
        case .undo: undoSteps.append(step)
        case .redo: redoSteps.append(step)
        }
    }

    /// Adds an undo step before all others that returns to a suspended context.
    mutating func addOldestWay(to context: ComposerContext, at snapshot: UndoSnapshot) {
        guard depth > 0 else { return }
        undoSteps.insert(Step(edits: [], before: snapshot, after: snapshot, extra: .suspended(context)), at: 0)
    }

    /// The edits that undo returns to, also by way of each other, the newest first.
    var suspendedEdits: [SuspendedEdit] {
        var edits: [SuspendedEdit] = []
        addSuspendedEdits(to: &edits)
        return edits
    }

    private func addSuspendedEdits(to edits: inout [SuspendedEdit]) {
        for step in undoSteps.reversed() {
            guard case .suspended(.edit(let edit))? = step.extra, !edits.contains(where: { $0.id == edit.id }) else {
                continue
            }
            edits.append(edit)
            edit.text.history.addSuspendedEdits(to: &edits)
        }
    }

    /// Removes the inverse of the step that was just popped, as another one replaces it.
    mutating func removeInverse(of direction: UndoDirection) {
        switch direction {
        case .undo: redoSteps.removeLast()
        case .redo: undoSteps.removeLast()
        }
    }

    /// Removes the steps that return to editing a message.
    mutating func forgetWays(to id: String) {
        undoSteps = undoSteps.compactMap { Self.step($0, without: id) }
        redoSteps = redoSteps.compactMap { Self.step($0, without: id) }
    }

    private static func step(_ step: Step, without id: String) -> Step? {
        guard case .suspended(.edit(var edit))? = step.extra else { return step }
        edit.text.history.forgetWays(to: id)
        var step = step
        guard edit.id != id else {
            // Keep the context that was suspended before this edit.
            guard let before = edit.text.history.suspendedContext else { return nil }
            step.extra = .suspended(before)
            return step
        }
        step.extra = .suspended(.edit(edit))
        return step
    }

    /// The files that undo and redo bring back.
    var attachments: [Attachment] {
        (undoSteps + redoSteps).flatMap { step -> [Attachment] in
            switch step.extra {
            case .sent(let extras)?: extras.attachments
            case .suspended(.edit(let edit))?: edit.text.history.attachments
            case .suspended(.compose)?, nil: []
            }
        }
    }

    /// The sources of the images in the text that undo and redo bring back.
    var imageSources: Set<String> {
        var sources: Set<String> = []
        for step in undoSteps + redoSteps {
            sources.formUnion((step.before.spans + step.after.spans).compactMap(\.imageSource))
            if case .suspended(.edit(let edit))? = step.extra { sources.formUnion(edit.text.history.imageSources) }
        }
        return sources
    }

    /// The most recent suspended context among the undo steps, or `nil`.
    var suspendedContext: ComposerContext? {
        for step in undoSteps.reversed() { if case .suspended(let context)? = step.extra { return context } }
        return nil
    }

    /// Returns the next step, whose inverse becomes the next one in the opposite direction.
    mutating func pop(_ direction: UndoDirection) -> Step? {
        run = nil
        switch direction {
        case .undo:
            guard let step = undoSteps.popLast() else { return nil }
            redoSteps.append(step)
            return step
        case .redo:
            guard let step = redoSteps.popLast() else { return nil }
            undoSteps.append(step)
            return step
        }
    }
}
