extension ComposerEngine {
    /// Sets the content by code. What an input method shows is dropped with what it was composed into.
    mutating func load(_ content: ComposerContent) {
        dropPreedit()
        let other = content.document
        replaceAll(with: other, selection: content.selection ?? .caret(other.length))
        observe(.loaded)
    }

    // MARK: Editing a stored message (SLK-15)

    mutating func beginEdit(_ id: String, _ content: ComposerContent) {
        guard mode != .edit(id) else { return }
        commitPreedit()
        if stash == nil {
            stash = ComposerStash(
                document: document, selection: selection, reply: reply, attachments: attachments, history: history)
        }
        mode = .edit(id)
        history = UndoHistory(depth: configuration.undoDepth)
        reply = nil
        attachments = []
        let other = content.document
        swapDocument(other, selection: content.selection ?? .caret(other.length))
        if let told = typing.stop() { tellTyping(told) }
        emit(.focusRequested(true))
        observe(.editBegan)
    }

    mutating func commitEdit() {
        guard case .edit(let id) = mode else { return refuse(.notEditing) }
        commitPreedit()
        if let refusal = saveRefusal { return refuse(refusal) }
        let message = document.message(id: id, trimmed: configuration.trimsSentText, attachments: [], reply: nil)
        emit(.commitEdit(id: id, message))
        observe(.editCommitted)
        endEdit()
    }

    mutating func cancelEdit() {
        guard isEditing else { return refuse(.notEditing) }
        dropPreedit()
        observe(.editCancelled)
        endEdit()
    }

    /// Both ways out bring back what was being written, its undo steps with it.
    private mutating func endEdit() {
        closeCompletion()
        mode = .compose
        guard let stash else { return }
        self.stash = nil
        swapDocument(stash.document, selection: stash.selection)
        history = stash.history
        reply = stash.reply
        attachments = stash.attachments
        if let told = typing.stop() { tellTyping(told) }
        writeDraftNow()
        restoreUnsent()
    }

    // MARK: Replying

    mutating func setReply(_ target: ReplyTarget?) {
        guard target != reply else { return }
        guard !isEditing else { return }
        reply = target
        observe(.replyChanged)
        noteContentChange()
    }

    mutating func setReplyPreview(_ id: String, _ preview: ReplyTarget.Preview) {
        if reply?.messageID == id { reply?.preview = preview }
        if stash?.reply?.messageID == id { stash?.reply?.preview = preview }
    }
}
