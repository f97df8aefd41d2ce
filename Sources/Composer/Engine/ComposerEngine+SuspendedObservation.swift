/// Changes that nobody is to make anything of, while they last.
struct IgnoredChanges: Sendable {
    /// How often ignoring was begun and not ended.
    var depth = 0
    /// What observers know of, since ignoring began.
    var lastObserved: (document: ComposerDocument, selection: TextRange)?
    /// The next deletion of a single character is refused.
    var ignoresNextDeletion = false
}

extension ComposerEngine {
    /// Whether changes are being ignored: ``suspendObservation()`` was called more often than ``resumeObservation(at:)``.
    public var isObservationSuspended: Bool { ignored.depth > 0 }

    /// Until the matching ``resumeObservation(at:)`` observers and interceptors hear of nothing, the rules for typing rest
    /// and nobody is told that the user is typing. May be nested (HKW-33).
    public mutating func suspendObservation() {
        if ignored.depth == 0 { ignored.lastObserved = (document, selection) }
        ignored.depth += 1
    }

    /// Ends what ``suspendObservation()`` began. The outermost end tells observers what is different, as one change by
    /// code. Does nothing if nothing was begun (HKW-33).
    ///
    /// - Returns: the effects; effects of timers that were due come first.
    public mutating func resumeObservation(at now: Duration) -> [ComposerEffect] {
        let due = advance(to: now)
        guard ignored.depth > 0 else { return due }
        ignored.depth -= 1
        guard ignored.depth == 0, let lastObserved = ignored.lastObserved else { return due }
        ignored.lastObserved = nil
        return due + performTransaction { engine in engine.resynchronize(from: lastObserved) }
    }

    /// Refuses the next deletion of a single character by the user, once, and reports it as
    /// ``ComposerRejection/deletionIgnored``. Longer deletions neither are refused nor count (HKW-33).
    public mutating func ignoreNextSingleDeletion() {
        ignored.ignoresNextDeletion = true
    }

    /// Whether this deletion is the one to be refused; then it has been reported.
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
    /// The smallest replacement that makes one text of another: O(n) of both.
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
