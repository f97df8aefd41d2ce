/// Suspends the observers of a composer, and ignores deletions on request (HKW-33).
struct ObservationSuspension: Sendable {
    /// The last text and selection reported to observers.
    struct Observed: Sendable {
        var document: ComposerDocument
        var selection: TextRange

        /// Reports what changed while observation was suspended, as one change by code.
        ///
        /// - Parameter addsEvent: whether there are observers that learn how the text changed, which is O(n).
        func reportChanges(
            to document: ComposerDocument, _ selection: TextRange, addsEvent: Bool,
            _ transaction: inout EventTransaction
        ) {
            if self.document.storage != document.storage {
                transaction.observe(.textChanged)
                if addsEvent {
                    transaction.addSuspended(TextEvent(from: self.document.text, to: document.text))
                }
            }
            if self.selection != selection { transaction.observe(.selectionChanged) }
        }
    }

    /// The number of unmatched calls to ``suspend(_:_:)``.
    private var depth = 0
    private var lastObserved: Observed?
    /// Whether to reject the next single-character deletion.
    private var ignoresNextDeletion = false

    var isActive: Bool { depth > 0 }

    mutating func suspend(_ document: ComposerDocument, _ selection: TextRange) {
        if depth == 0 { lastObserved = Observed(document: document, selection: selection) }
        depth += 1
    }

    /// - Returns: what was last reported to observers, if this was the outermost call; `nil` otherwise, or without a
    ///   matching call.
    mutating func resume() -> Observed? {
        guard depth > 0 else { return nil }
        depth -= 1
        guard depth == 0 else { return nil }
        defer { lastObserved = nil }
        return lastObserved
    }

    mutating func ignoreNextSingleDeletion() { ignoresNextDeletion = true }

    /// Whether to reject this deletion by the user. Counts only deletions of a single character.
    mutating func ignoresDeletion(of range: TextRange, in document: ComposerDocument) -> Bool {
        guard ignoresNextDeletion, !isActive, !range.isEmpty,
            document.clusterBoundary(after: range.location) == range.end
        else { return false }
        ignoresNextDeletion = false
        return true
    }
}

extension TextEvent {
    /// Creates the smallest replacement that turns one text into another: O(n) in both.
    init(from old: String, to new: String) {
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
