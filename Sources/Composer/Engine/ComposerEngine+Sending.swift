extension ComposerEngine {
    /// Whether the message with this identifier awaits the host's response.
    public func isPending(_ id: String) -> Bool {
        outbox.pending.contains { $0.id == id }
    }

    /// Sends the message once (SLK-11), or commits the edit. Commits the preedit text first (SLK-63).
    mutating func send() {
        if isEditing { return commitEdit() }
        commitPreedit()
        if let rejection = sendRejection { return reject(rejection) }
        let id = outbox.nextID()
        let message = document.message(
            id: id, trimmed: configuration.trimsSentText, attachments: attachments, reply: reply)
        let extras = SentExtras(reply: reply, attachments: attachments)
        // A placeholder whose attachment was removed isn't content to send.
        if message.parts.isEmpty { return reject(.empty) }
        if let reason = plugIns.gate?.rejectionReason(of: message) { return reject(.rejectedByHost(reason)) }
        closeCompletion()
        emit(.send(message))
        observe(.sent)
        var entry = ComposerOutbox.Entry(
            id: id, document: document, selection: selection, reply: reply, attachments: attachments)
        if configuration.clearsOnSend {
            clearAfterSending(extras)
        } else {
            entry.revision = revision
        }
        outbox.add(entry)
        if let isTyping = typing.stop() { reportTyping(isTyping) }
        writeDraftNow()
    }

    private mutating func clearAfterSending(_ extras: SentExtras) {
        if configuration.keepsUndoOnSend {
            if document.isEmpty { history.record([], grouping: .atomic, from: undoSnapshot, to: undoSnapshot, at: now) }
            replaceAll(with: ComposerDocument(), selection: .caret(0))
            history.add(.sent(extras))
        } else {
            swapDocument(ComposerDocument(), selection: .caret(0))
            history.clear()
        }
        if !attachments.isEmpty {
            attachments = []
            revision += 1
            observe(.attachmentsChanged)
        }
        if reply != nil { setReply(nil) }
        isExpanded = false
        invalidateInputPlugIns()
    }

    /// Restores a sent message on undo, in addition to attachments and a reply added since.
    mutating func bringBack(_ sent: SentExtras) {
        let back = sent.attachments.filter { !attachments.contains($0) }
        if !back.isEmpty { setAttachments(back + attachments) }
        if reply == nil, let replyTarget = sent.reply { setReply(replyTarget) }
    }

    mutating func removeSent(_ sent: SentExtras) {
        let remaining = attachments.filter { !sent.attachments.contains($0) }
        if remaining.count < attachments.count { setAttachments(remaining) }
        if let replyTarget = sent.reply, replyTarget == reply { setReply(nil) }
    }

    mutating func sendAccepted(_ id: String) {
        guard outbox.remove(id) != nil else { return }
        observe(.sendAccepted)
    }

    mutating func sendFailed(_ id: String) {
        guard let entry = outbox.remove(id) else { return }
        observe(.sendFailed)
        // A message that wasn't cleared is still in the composer, possibly modified.
        guard entry.revision == nil else { return }
        outbox.addFailedEntry(entry)
        restoreFailedMessage()
    }

    /// Restores the oldest failed message with its selection, if the composer is empty.
    mutating func restoreFailedMessage() {
        reopenFailedEdit()
        guard !isEditing, document.isEmpty, preedit.isEmpty, attachments.isEmpty, reply == nil,
            let entry = outbox.popFailedEntry()
        else { return }
        replaceAll(with: entry.document, selection: entry.selection)
        if !entry.attachments.isEmpty { setAttachments(entry.attachments) }
        if let reply = entry.reply { setReply(reply) }
        observe(.unsentRestored)
        noteContentChange()
    }
}
