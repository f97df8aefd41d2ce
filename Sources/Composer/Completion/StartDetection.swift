/// Whether the current word may start completion: the states Ready and Stalled of HKW-39. Its third state, Creating,
/// corresponds to an open ``CompletionSession``.
struct StartDetection: Equatable, Sendable {
    enum State: Equatable, Sendable {
        /// The user has been typing without interruption since this offset; text before it doesn't count.
        case ready(since: Int)
        /// Completion doesn't start before the next separator (HKW-45).
        case stalled
    }

    enum Trigger: Equatable, Sendable {
        case typed(CompletionCharacterClass)
        /// Several characters at once; the distance from the last separator in them to the caret, or `nil` without
        /// one.
        case inserted(sinceSeparator: Int?)
        /// The class of the deleted character, the class of the one now before the caret (`nil` at the start), and
        /// the start of the word at the caret.
        case deleted(CompletionCharacterClass, preceding: CompletionCharacterClass?, wordStart: Int)
        case moved(preceding: CompletionCharacterClass?)
        case ended(canRestart: Bool)
        /// The text was set by code; `wordStart` is the end of the last white space before the caret.
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

    /// Adjusts the offset to an edit before it.
    mutating func apply(_ edit: AppliedEdit) {
        guard case .ready(let since) = state, edit.range.end <= since, edit.range.location < since else { return }
        state = .ready(since: since + edit.replacement.utf16.count - edit.range.length)
    }
}
