extension ComposerEngine {
    /// Sets the content by code. Discards the preedit text together with the previous content.
    mutating func load(_ written: WrittenText, _ selection: TextRange?) {
        dropPreedit()
        let other = ComposerDocument(written)
        replaceAll(with: other, selection: selection ?? .caret(other.length))
        observe(.loaded)
    }

    // MARK: Editing a sent message (SLK-15)

    mutating func startEdit(_ id: String, _ written: WrittenText, _ selection: TextRange?, mayBeEmpty: Bool) {
        guard mode != .edit(id) else { return }
        commitPreedit()
        let suspended = halfDoneEdit
        if stash == nil { stash = stashed }
        let other = ComposerDocument(written)
        enter(
            SuspendedEdit(
                id: id, document: other, selection: selection ?? .caret(other.length),
                history: UndoHistory(depth: configuration.undoDepth), mayBeEmpty: mayBeEmpty))
        if let suspended { recordSuspendedEdit(suspended) }
        observe(.editBegan)
    }

    /// The current content, to be restored later.
    private var stashed: ComposerStash {
        ComposerStash(
            document: document, selection: selection, reply: reply, attachments: attachments, history: history)
    }

    /// The current edit, if it has undo steps or came from a draft, and is thus worth suspending.
    private var halfDoneEdit: SuspendedEdit? {
        history.canUndo || isRestoredEdit ? suspendedEdit : nil
    }

    private var suspendedEdit: SuspendedEdit? {
        guard case .edit(let id) = mode else { return nil }
        return SuspendedEdit(
            id: id, document: document, selection: selection, history: history, mayBeEmpty: mayBeEmpty,
            isRestored: isRestoredEdit)
    }

    /// Makes a suspended edit reachable by undo.
    private mutating func recordSuspendedEdit(_ suspended: SuspendedEdit) {
        history.addWay(to: .edit(suspended), inRedo: false, at: undoSnapshot)
        emit(.editSuspended(id: suspended.id))
        observe(.editKept)
    }

    /// Replaces the content by that of an edit.
    private mutating func enter(_ edit: SuspendedEdit) {
        mode = .edit(edit.id)
        reply = nil
        attachments = []
        mayBeEmpty = edit.mayBeEmpty
        isRestoredEdit = edit.isRestored
        swapDocument(edit.document, selection: edit.selection)
        history = edit.history
        if let isTyping = typing.stop() { reportTyping(isTyping) }
        emit(.focusRequested(true))
    }

    /// Switches to a suspended context, and records the way back in the opposite direction.
    mutating func enter(_ context: ComposerContext, byUndo: Bool) {
        closeCompletion()
        history.removeConsumed(byUndo: byUndo)
        let here: ComposerContext = suspendedEdit.map { .edit($0) } ?? .compose
        switch context {
        case .edit(let edit):
            if stash == nil { stash = stashed }
            enter(edit)
        case .compose:
            guard let stash else { return }
            self.stash = nil
            unstash(stash)
        }
        history.addWay(to: here, inRedo: byUndo, at: undoSnapshot)
        observe(byUndo ? .undone : .redone)
    }

    mutating func commitEdit() {
        guard case .edit(let id) = mode else { return reject(.notEditing) }
        commitPreedit()
        if let rejection = saveRejection { return reject(rejection) }
        let message = document.message(id: id, trimmed: configuration.trimsSentText, mayBeEmpty: mayBeEmpty)
        emit(.commitEdit(id: id, message))
        observe(.editCommitted)
        endEdit()
    }

    mutating func cancelEdit() {
        guard isEditing else { return reject(.notEditing) }
        dropPreedit()
        observe(.editCancelled)
        endEdit()
    }

    /// Ends an edit and restores the stashed content with its undo steps.
    private mutating func endEdit() {
        closeCompletion()
        let suspendedContext = history.suspendedContext
        guard let stash else {
            mode = .compose
            return
        }
        self.stash = nil
        unstash(stash)
        if case .edit(let edit)? = suspendedContext { recordSuspendedEdit(edit) }
        writeDraftNow()
        restoreFailedMessage()
    }

    private mutating func unstash(_ stash: ComposerStash) {
        mode = .compose
        mayBeEmpty = false
        isRestoredEdit = false
        swapDocument(stash.document, selection: stash.selection)
        history = stash.history
        reply = stash.reply
        attachments = stash.attachments
        if let isTyping = typing.stop() { reportTyping(isTyping) }
    }

    /// Handles a failure to save an edit: reopens it as soon as no other message is being edited.
    mutating func editFailed(_ id: String, _ message: ComposedMessage) {
        outbox.addFailedEdit(UnsavedEdit(id: id, written: message.raw, mayBeEmpty: message.mayBeEmpty))
        noteContentChange()
        reopenFailedEdit()
    }

    mutating func reopenFailedEdit() {
        guard !isEditing, preedit.isEmpty, let edit = outbox.popFailedEdit() else { return }
        startEdit(edit.id, edit.written, nil, mayBeEmpty: edit.mayBeEmpty)
    }

    /// Drops all edits of a deleted message.
    mutating func forgetEdit(_ id: String) {
        outbox.forgetEdits(of: id)
        history.forgetWays(to: id)
        stash?.history.forgetWays(to: id)
        if mode == .edit(id) { cancelEdit() }
    }

    // MARK: Replying

    mutating func setReply(_ target: ReplyTarget?) {
        guard !isEditing else {
            if let target { replyInstead(target) }
            return
        }
        guard target != reply else { return }
        reply = target
        observe(.replyChanged)
        noteContentChange()
    }

    /// Ends the current edit and starts a reply. Undo returns to an unfinished edit.
    private mutating func replyInstead(_ target: ReplyTarget) {
        commitPreedit()
        let suspended = halfDoneEdit
        endEdit()
        if let suspended { recordSuspendedEdit(suspended) }
        setReply(target)
    }

    mutating func setReplyPreview(_ id: String, _ preview: ReplyTarget.Preview) {
        if reply?.messageID == id { reply?.preview = preview }
        if stash?.reply?.messageID == id { stash?.reply?.preview = preview }
    }
}
