import Composer

/// What is done to a composer before its stored draft was looked for, to be made up for afterwards.
nonisolated struct EventQueue: Sendable {
    private var events: [ComposerEvent] = []

    /// - Returns: whether the event is the composer's; nil if it need not wait.
    mutating func enqueue(_ event: ComposerEvent, in engine: ComposerEngine) -> Bool? {
        switch event {
        case .preedit, .measured, .sendAccepted, .sendFailed, .restoreFailedMessage, .connected, .focus, .hide, .expand,
            .layout,
            .userTyping, .copy, .holdSelection:
            return nil
        case .select:
            // There was no text to select in: the draft's caret stays.
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

    /// - Parameter restored: whether there was a draft. What was written goes to its caret then, and is not sent:
    ///   nobody meant to send the draft with it.
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
