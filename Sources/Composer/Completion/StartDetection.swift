/// Whether a word that is being written may start completion: what HKW-39 calls Ready and Stalled. Its third
/// state, Creating, is that there is a ``CompletionSession``.
struct StartDetection: Equatable, Sendable {
    enum State: Equatable, Sendable {
        /// Writing in one go since this offset: what stands before it does not count.
        case ready(since: Int)
        /// Nothing starts before a separator is met (HKW-45).
        case stalled
    }

    enum Trigger: Equatable, Sendable {
        case typed(CompletionCharacterClass)
        /// Several characters at once; how far from the caret the last separator in them is, if there is one.
        case inserted(sinceSeparator: Int?)
        /// What was deleted, what precedes the caret now (nil: nothing), and where the word at the caret starts.
        case deleted(CompletionCharacterClass, preceding: CompletionCharacterClass?, wordStart: Int)
        case moved(preceding: CompletionCharacterClass?)
        case ended(canRestart: Bool)
        /// The text was set by code; where its last white space before the caret ends.
        case setByCode(wordStart: Int)
    }

    private(set) var state = State.ready(since: 0)

    mutating func handle(_ trigger: Trigger, at caret: Int) {
        state = next(trigger, at: caret)
    }

    private func next(_ trigger: Trigger, at caret: Int) -> State {
        switch (state, trigger) {
        case (_, .setByCode(let wordStart)): .ready(since: wordStart)
        case (_, .ended(let canRestart)): canRestart ? .ready(since: caret) : .stalled
        case (_, .moved(let preceding)): preceding == .normal ? .stalled : .ready(since: caret)
        case (.ready, .typed(.blank)): .ready(since: caret)
        case (.ready, .typed): state
        case (.stalled, .typed(let kind)): kind.isSeparator ? .ready(since: caret) : .stalled
        case (_, .inserted(.some(let distance))): .ready(since: caret - distance)
        case (_, .inserted(nil)): state
        case (.ready(let since), .deleted(let removed, let preceding, let wordStart)):
            switch preceding {
            case nil, .blank: .ready(since: caret)
            case .normal where removed == .blank: .ready(since: wordStart)
            case .normal: since < caret ? state : .stalled
            case .control, .punctuation: .ready(since: min(since, caret))
            }
        case (.stalled, .deleted(let removed, let preceding, _)):
            removed.isSeparator || preceding?.isSeparator ?? true ? .ready(since: caret) : .stalled
        }
    }

    /// Keeps its place when something before it changes.
    mutating func apply(_ edit: AppliedEdit) {
        guard case .ready(let since) = state, edit.range.end <= since, edit.range.location < since else { return }
        state = .ready(since: since + edit.replacement.utf16.count - edit.range.length)
    }
}
