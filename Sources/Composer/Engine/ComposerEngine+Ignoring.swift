/// Changes that nobody is to make anything of, while they last.
struct IgnoredChanges: Sendable {
    /// How often ignoring was begun and not ended.
    var depth = 0
    /// What observers know of, since ignoring began.
    var known: (document: ComposerDocument, selection: TextRange)?
    /// The next deletion of a single character is refused.
    var refusesDeletion = false
}

extension ComposerEngine {
    /// Whether changes are being ignored: ``beginIgnoring()`` was called more often than ``endIgnoring(at:)``.
    public var isIgnoring: Bool { ignored.depth > 0 }

    /// Until the matching ``endIgnoring(at:)`` observers and interceptors hear of nothing, the rules for typing rest
    /// and nobody is told that the user is typing. May be nested (HKW-33).
    public mutating func beginIgnoring() {
        if ignored.depth == 0 { ignored.known = (document, selection) }
        ignored.depth += 1
    }

    /// Ends what ``beginIgnoring()`` began. The outermost end tells observers what is different, as one change by
    /// code. Does nothing if nothing was begun (HKW-33).
    ///
    /// - Returns: the effects; effects of timers that were due come first.
    public mutating func endIgnoring(at now: Duration) -> [ComposerEffect] {
        let due = advance(to: now)
        guard ignored.depth > 0 else { return due }
        ignored.depth -= 1
        guard ignored.depth == 0, let known = ignored.known else { return due }
        ignored.known = nil
        return due + takeTurn { engine in engine.resynchronise(from: known) }
    }

    /// Refuses the next deletion of a single character by the user, once, and reports it as
    /// ``ComposerRefusal/deletionIgnored``. Longer deletions neither are refused nor count (HKW-33).
    public mutating func refuseNextSingleDeletion() {
        ignored.refusesDeletion = true
    }

    /// Whether this deletion is the one to be refused; then it has been reported.
    mutating func refusesDeletion(of range: TextRange, origin: EditOrigin) -> Bool {
        guard ignored.refusesDeletion, origin.isUserWriting, !isIgnoring, !range.isEmpty,
            document.clusterBoundary(after: range.location) == range.end
        else { return false }
        ignored.refusesDeletion = false
        refuse(.deletionIgnored)
        return true
    }

    private mutating func resynchronise(from known: (document: ComposerDocument, selection: TextRange)) {
        if known.document.storage != document.storage {
            observe(.textChanged)
            if !plugIns.observers.isEmpty {
                turn.textEvents.append(TextEvent(from: known.document.text, to: document.text))
            }
        }
        if known.selection != selection { observe(.selectionChanged) }
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
