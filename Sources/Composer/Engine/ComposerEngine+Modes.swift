extension ComposerEngine {
    /// Sets the content by code. What an input method shows is dropped with what it was composed into.
    mutating func load(_ written: WrittenText, _ selection: TextRange?) {
        dropPreedit()
        let other = ComposerDocument(written)
        replaceAll(with: other, selection: selection ?? .caret(other.length))
        observe(.loaded)
    }

    // MARK: Editing a stored message (SLK-15)

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

    /// What is being written, to be put back.
    private var stashed: ComposerStash {
        ComposerStash(
            document: document, selection: selection, reply: reply, attachments: attachments, history: history)
    }

    /// The edit that is under way, if anything in it is different or something can be undone.
    private var halfDoneEdit: SuspendedEdit? {
        history.canUndo || isRestoredEdit ? suspendedEdit : nil
    }

    private var suspendedEdit: SuspendedEdit? {
        guard case .edit(let id) = mode else { return nil }
        return SuspendedEdit(
            id: id, document: document, selection: selection, history: history, mayBeEmpty: mayBeEmpty,
            isRestored: isRestoredEdit)
    }

    /// What was left half done is a step away.
    private mutating func recordSuspendedEdit(_ suspended: SuspendedEdit) {
        history.addWay(to: .edit(suspended), inRedo: false, at: undoSnapshot)
        emit(.editSuspended(id: suspended.id))
        observe(.editKept)
    }

    /// The text is that of a message from here on.
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

    /// Goes to what was left, with the way back in the other direction of undo.
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

    /// Both ways out bring back what was being written, its undo steps with it.
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

    /// The host could not store what became of a message: it is edited again, as soon as nothing else is.
    mutating func editFailed(_ id: String, _ message: ComposedMessage) {
        outbox.addFailedEdit(UnsavedEdit(id: id, written: message.raw, mayBeEmpty: message.mayBeEmpty))
        noteContentChange()
        reopenFailedEdit()
    }

    mutating func reopenFailedEdit() {
        guard !isEditing, preedit.isEmpty, let edit = outbox.popFailedEdit() else { return }
        startEdit(edit.id, edit.written, nil, mayBeEmpty: edit.mayBeEmpty)
    }

    /// The message was deleted: nobody can edit it any more.
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

    /// Answering ends an edit; one that is half done is a step of undo away.
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
