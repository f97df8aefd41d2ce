public import ChatCore
public import Composer

/// The texts of a composer's buttons and bars, and its announcements.
public struct ComposerText {
    private let translator: Translator

    public init(_ translator: Translator) {
        self.translator = translator
    }

    // MARK: Buttons

    /// - Parameter isCanceling: whether the button cancels the message being sent.
    public func sendButton(isCanceling: Bool) -> String {
        isCanceling ? translator("Stop Sending") : translator("Send")
    }

    public func expandButton(_ state: ComposerState) -> String {
        state.isExpanded ? translator("Collapse Message Field") : translator("Expand Message Field")
    }

    /// The tooltip of a button with a key binding.
    public func tooltip(_ label: String, _ chord: KeyChord) -> String {
        // Translators: what a button does, and the keys that do the same.
        translator("{action} — {shortcut}", ["action": label, "shortcut": chord.description])
    }

    // MARK: Replies

    public func title(_ reply: ReplyTarget) -> String {
        translator("Replying to {name}", ["name": reply.sender])
    }

    /// The line with the message being replied to.
    public func quote(_ reply: ReplyTarget) -> WrittenText {
        switch reply.preview {
        case .loading: WrittenText(translator("Loading…"), syntax: .plain)
        case .text(let text): text.firstLine
        case .gone: WrittenText(translator("Message not available"), syntax: .plain)
        }
    }

    // MARK: Counter

    /// What the counter shows near the limit (SLK-14): its number, or words for a measured size. How many bytes to
    /// delete tells the user nothing, and they look like characters.
    public func counter(_ counter: CounterState) -> String {
        guard counter.isMeasured else { return counter.text }
        return counter.exceeded ? translator("Too long") : translator("Almost too long")
    }

    /// The meaning of the counter's number, or `nil` if it counts bytes.
    public func counterDescription(_ counter: CounterState) -> String? {
        guard counter.unit != .utf8 else { return nil }
        if counter.exceeded { return charactersOverLimit(counter) }
        return translator.plural("{count} character left", "{count} characters left", -counter.excess)
    }

    private func charactersOverLimit(_ counter: CounterState) -> String {
        translator.plural("{count} character over the limit", "{count} characters over the limit", counter.excess)
    }

    // MARK: Announcements

    /// The announcement of a change: the start or end of editing, and a text that becomes too long or short enough
    /// again (SLK-14, SLK-65). `nil` for none.
    /// - Parameter before: the state announced last; `nil` for a new composer.
    public func announcement(_ state: ComposerState, after before: ComposerState?) -> String? {
        let wasEditing = before?.editing != nil
        if wasEditing != (state.editing != nil) {
            return wasEditing ? translator("Stopped editing") : translator("Editing Message")
        }
        let isExceeded = state.counter?.exceeded ?? false
        guard isExceeded != before?.counter?.exceeded ?? false else { return nil }
        guard isExceeded, let counter = state.counter else { return translator("Message within the limit") }
        // How many bytes to delete tells the user nothing.
        guard counter.unit != .utf8 else { return translator("Message too long") }
        return charactersOverLimit(counter)
    }
}

extension ComposerState {
    /// Whether the editor can be expanded or collapsed. From two and a half lines on, there is room for the button
    /// above the others (MIB-8).
    public nonisolated func offersExpanding(visibleLines: Double) -> Bool { isExpanded || visibleLines > 2.5 }
}
