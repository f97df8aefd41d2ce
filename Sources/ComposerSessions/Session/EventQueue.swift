import Composer

/// Input received before the stored draft is loaded, to be replayed afterwards.
nonisolated struct EventQueue: Sendable {
    private var events: [ComposerEvent] = []

    /// - Returns: whether the composer consumes the event; `nil` if the event need not wait.
    mutating func enqueue(_ event: ComposerEvent, in engine: ComposerEngine) -> Bool? {
        switch event {
        case .preedit, .measured, .sendAccepted, .sendFailed, .restoreFailedMessage, .connected, .focus, .hide, .expand,
            .layout,
            .userTyping, .copy, .holdSelection, .checkSpelling, .spellingChecked:
            return nil
        case .select:
            // There was no text to select yet; keep the draft's caret.
            break
        case .edit(_, let replacement, let origin):
            if !replacement.isEmpty { events.append(.insert(replacement, origin: origin)) }
        case .key(let chord):
            guard engine.keys.action(for: chord, in: engine.keyContext) != nil else { return false }
            events.append(event)
        default: events.append(event)
        }
        return true
    }

    /// Whether text or files wait, which are nowhere else.
    var hasContent: Bool {
        events.contains {
            switch $0 {
            case .insert, .commit, .paste, .pasteInternalClipboard, .attach, .load, .appendToMessage, .acceptEntity,
                .addMention:
                true
            default: false
            }
        }
    }

    /// - Parameter restored: whether a draft was restored. Input is then inserted at its caret and not sent, because
    ///   the user did not mean to send the draft.
    func replay(into engine: ComposerEngine, restored: Bool) -> [ComposerEvent] {
        guard restored else { return events }
        return events.filter { event in
            switch event {
            case .send: false
            case .key(let chord): engine.keys.action(for: chord, in: engine.keyContext) != .send
            default: true
            }
        }
    }
}
