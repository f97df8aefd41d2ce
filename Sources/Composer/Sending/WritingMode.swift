/// What is being written: a new message, possibly a reply, or an edit of a sent one. The new message waits while a
/// sent one is edited (SLK-15).
struct WritingMode: Sendable {
    /// A new message that was set aside.
    struct Stash: Sendable {
        var text: EditedText.Content
        var reply: ReplyTarget?
    }

    private(set) var mode = ComposerMode.compose
    private(set) var reply: ReplyTarget?
    private(set) var stash: Stash?
    /// Whether the edited message may become empty, as it has attachments.
    private(set) var mayBeEmpty = false
    /// Whether the current edit came from a draft, or could not be saved.
    private var isRestored = false

    var isEditing: Bool { mode != .compose }

    // MARK: Editing

    /// Begins an edit, and sets the new message aside if it is the current one.
    mutating func begin(_ edit: SuspendedEdit, settingAside text: EditedText.Content) {
        if stash == nil { stash = Stash(text: text, reply: reply) }
        mode = .edit(edit.id)
        reply = nil
        mayBeEmpty = edit.mayBeEmpty
        isRestored = edit.isRestored
    }

    /// Appends a text to the new message that was set aside, on a line of its own.
    mutating func appendToStash(_ appended: String, at now: Duration) {
        guard let content = stash?.text else { return }
        var text = EditedText(undoDepth: content.history.depth)
        _ = text.exchange(content)
        _ = text.appendLine(appended, at: now)
        stash?.text = text.content
    }

    /// Puts an earlier draft before the new message that was set aside.
    mutating func putBeforeStash(_ draft: ComposerDraft.Content, at now: Duration) {
        guard let stash else { return }
        var text = EditedText(undoDepth: stash.text.history.depth)
        _ = text.exchange(stash.text)
        _ = text.putBefore(draft.written, at: now)
        self.stash = Stash(text: text.content, reply: stash.reply ?? draft.reply)
    }

    /// Ends an edit.
    ///
    /// - Returns: the text of the new message that was set aside.
    mutating func end() -> EditedText.Content? {
        mode = .compose
        mayBeEmpty = false
        isRestored = false
        guard let stash else { return nil }
        self.stash = nil
        reply = stash.reply
        return stash.text
    }

    /// Restores a draft.
    ///
    /// - Parameter stash: the new message, if the draft is of an edit.
    mutating func restore(_ draft: ComposerDraft, stash: EditedText.Content) {
        mode = draft.mode
        reply = draft.content.reply
        mayBeEmpty = draft.mayBeEmpty ?? false
        isRestored = isEditing
        if isEditing { self.stash = Stash(text: stash, reply: draft.stash?.reply) }
    }

    /// The current edit, to be returned to; `nil` for a new message.
    func suspendedEdit(of text: EditedText.Content) -> SuspendedEdit? {
        guard case .edit(let id) = mode else { return nil }
        return SuspendedEdit(id: id, text: text, mayBeEmpty: mayBeEmpty, isRestored: isRestored)
    }

    /// The current edit, if it has undo steps, came from a draft or could not be saved, and is thus worth returning to.
    func halfDoneEdit(of text: EditedText.Content) -> SuspendedEdit? {
        text.history.canUndo || isRestored ? suspendedEdit(of: text) : nil
    }

    /// Drops the steps of the new message that return to editing a deleted one.
    mutating func forgetWays(to id: String) { stash?.text.history.forgetWays(to: id) }

    // MARK: Replying

    /// - Returns: whether the reply changed.
    mutating func setReply(_ target: ReplyTarget?) -> Bool {
        guard target != reply else { return false }
        reply = target
        return true
    }

    mutating func setReplyPreview(_ id: String, _ preview: ReplyTarget.Preview) {
        if reply?.messageID == id { reply?.preview = preview }
        if stash?.reply?.messageID == id { stash?.reply?.preview = preview }
    }
}

/// A context that undo can return to: the new message or the edit of a sent one.
enum ComposerContext: Sendable {
    /// The new message, whose content is in the stash.
    case compose
    case edit(SuspendedEdit)
}

/// An unfinished edit.
struct SuspendedEdit: Sendable {
    var id: String
    var text: EditedText.Content
    var mayBeEmpty: Bool
    /// It came from a draft or could not be saved, so it may differ from the sent message even without undo steps.
    var isRestored = false
}
