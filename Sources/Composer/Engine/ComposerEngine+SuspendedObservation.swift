/// The state of suspended observation.
struct IgnoredChanges: Sendable {
    /// The number of unmatched calls to ``ComposerEngine/suspendObservation()``.
    var depth = 0
    /// The last state that observers know.
    var lastObserved: (document: ComposerDocument, selection: TextRange)?
    /// Whether to refuse the next single-character deletion.
    var ignoresNextDeletion = false
}

extension ComposerEngine {
    /// Whether observation is suspended: ``suspendObservation()`` has been called more often than
    /// ``resumeObservation(at:)``.
    public var isObservationSuspended: Bool { ignored.depth > 0 }

    /// Suspends observers, interceptors, the typing rules and typing notifications until the matching
    /// ``resumeObservation(at:)``. Nests (HKW-33).
    public mutating func suspendObservation() {
        if ignored.depth == 0 { ignored.lastObserved = (document, selection) }
        ignored.depth += 1
    }

    /// Resumes observation after ``suspendObservation()``. The outermost call reports the accumulated difference to
    /// observers as one change by code. Does nothing without a matching call (HKW-33).
    ///
    /// - Returns: the effects, starting with those of timers that were due.
    public mutating func resumeObservation(at now: Duration) -> [ComposerEffect] {
        let due = advance(to: now)
        guard ignored.depth > 0 else { return due }
        ignored.depth -= 1
        guard ignored.depth == 0, let lastObserved = ignored.lastObserved else { return due }
        ignored.lastObserved = nil
        return due + performTransaction { engine in engine.resynchronize(from: lastObserved) }
    }

    /// Refuses the user's next deletion of a single character, once, and reports it as
    /// ``ComposerRejection/deletionIgnored``. Longer deletions are neither refused nor counted (HKW-33).
    public mutating func ignoreNextSingleDeletion() {
        ignored.ignoresNextDeletion = true
    }

    /// Whether to refuse this deletion. Reports the refusal.
    mutating func ignoresDeletion(of range: TextRange, origin: EditOrigin) -> Bool {
        guard ignored.ignoresNextDeletion, origin.isUserWriting, !isObservationSuspended, !range.isEmpty,
            document.clusterBoundary(after: range.location) == range.end
        else { return false }
        ignored.ignoresNextDeletion = false
        reject(.deletionIgnored)
        return true
    }

    private mutating func resynchronize(from lastObserved: (document: ComposerDocument, selection: TextRange)) {
        if lastObserved.document.storage != document.storage {
            observe(.textChanged)
            if !plugIns.observers.isEmpty {
                transaction.textEvents.append(TextEvent(from: lastObserved.document.text, to: document.text))
            }
        }
        if lastObserved.selection != selection { observe(.selectionChanged) }
    }
}

extension TextEvent {
    /// Creates the smallest replacement that turns one text into another: O(n) in both.
    fileprivate init(from old: String, to new: String) {
        let before = Array(old)
        let after = Array(new)
        let shorter = min(before.count, after.count)
        let head = (0..<shorter).first { before[$0] != after[$0] } ?? shorter
        let tail = (0..<(shorter - head)).first { before[before.count - 1 - $0] != after[after.count - 1 - $0] }
        let removed = String(before[head..<(before.count - (tail ?? shorter - head))])
        let inserted = String(after[head..<(after.count - (tail ?? shorter - head))])
        let range = TextRange(location: String(before[..<head]).utf16.count, length: removed.utf16.count)
        self.init(range: range, removed: removed, inserted: inserted, origin: .code)
    }
}
