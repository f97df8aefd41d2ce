/// Sends the message being written and saves edits, brings back what failed, and schedules saving the draft.
struct MessageSender: Sendable {
    private(set) var outbox = ComposerOutbox()
    private var schedule = DraftSchedule()
    /// When to restore what failed during a preedit; `nil` if nothing did.
    private var restoration: Duration?

    /// How long after the end of a preedit nothing is restored. Most input methods end it before they commit its text,
    /// IBus by separate messages, and that text must not go into what is restored.
    private static let commitDelay = Duration.milliseconds(500)

    mutating func setConnected(_ isConnected: Bool) { outbox.isConnected = isConnected }

    // MARK: Sending

    /// Sends the message once (SLK-11), or commits the edit. Commits the preedit text first (SLK-63).
    mutating func send(_ message: inout MessageWriter) {
        if message.writing.isEditing { return commitEdit(of: &message) }
        let configuration = message.editor.configuration
        message.editor.commitPreedit()
        if let rejection = sendRejection(of: message) { return message.editor.transaction.reject(rejection) }
        let entry = ComposerOutbox.Entry(
            id: outbox.nextID(), document: message.document, selection: message.editor.selection,
            reply: message.writing.reply, attachments: message.attachments.items,
            revision: configuration.clearsOnSend ? nil : message.revision)
        let composed = entry.message(trimmed: configuration.trimsSentText)
        // A placeholder whose attachment was removed isn't content to send.
        if composed.parts.isEmpty { return message.editor.transaction.reject(.empty) }
        if let reason = message.editor.plugIns.gate?.rejectionReason(of: composed) {
            return message.editor.transaction.reject(.rejectedByHost(reason))
        }
        message.editor.closeCompletion()
        message.editor.transaction.emit(.send(composed))
        message.editor.transaction.observe(.sent)
        outbox.add(entry)
        if configuration.clearsOnSend { message.clearAfterSending() }
        message.editor.followers.presence.stopTyping(&message.editor.transaction)
        writeDraftNow(&message.editor.transaction)
    }

    /// The most important reason why the message can't be sent now, or `nil` if it can (SLK-9).
    func sendRejection(of message: MessageWriter) -> ComposerRejection? {
        let attachments = message.attachments.items
        if message.editor.bar.isHidden { return .hidden }
        if message.editor.text.document.isBlank, attachments.isEmpty { return .empty }
        if message.editor.counter?.exceeded ?? false { return .overLimit }
        // Waiting for other uploads would not help against a failed one.
        if attachments.contains(where: { $0.upload == .failed }) { return .uploadFailed }
        if attachments.contains(where: { $0.upload != .ready }) { return .uploading }
        if !outbox.isConnected { return .notConnected }
        if outbox.holds(revision: message.revision) { return .alreadySending }
        return nil
    }

    mutating func sendAccepted(_ id: String, in message: inout MessageWriter) {
        if outbox.remove(id) != nil { message.editor.transaction.observe(.sendAccepted) }
    }

    mutating func sendFailed(_ id: String, in message: inout MessageWriter) {
        guard let entry = outbox.remove(id) else { return }
        message.editor.transaction.observe(.sendFailed)
        // A message that wasn't cleared is still in the composer, possibly modified.
        guard entry.revision == nil else { return }
        outbox.addFailedEntry(entry)
        restoreUnlessWriting(in: &message)
    }

    /// Restores what failed to be saved or sent, if the composer is empty.
    mutating func restoreUnlessWriting(in message: inout MessageWriter) {
        if message.isEmpty { restoreFailedMessage(in: &message) }
    }

    /// Call this after each event that found a preedit. Once that has ended and left the composer empty, what failed
    /// meanwhile is restored.
    mutating func scheduleRestoration(in message: MessageWriter) {
        guard message.editor.preedit.isEmpty, message.isEmpty, !outbox.isEmpty else { return }
        restoration = message.editor.transaction.now + Self.commitDelay
    }

    /// Reopens an edit that failed to be saved, whatever is being written, or restores the oldest failed message with
    /// its selection, if the composer is empty.
    private mutating func restoreFailedMessage(in message: inout MessageWriter) {
        reopenFailedEdit(in: &message)
        guard message.isEmpty, message.editor.preedit.isEmpty, let entry = outbox.popFailedEntry() else { return }
        message.bringBack(entry)
    }

    // MARK: Ending an edit

    mutating func commitEdit(of message: inout MessageWriter) {
        guard case .edit(let id) = message.writing.mode else { return message.editor.transaction.reject(.notEditing) }
        message.editor.commitPreedit()
        if let rejection = message.saveRejection { return message.editor.transaction.reject(rejection) }
        let composed = message.document.message(
            id: id, trimmed: message.editor.configuration.trimsSentText, mayBeEmpty: message.writing.mayBeEmpty)
        message.editor.transaction.emit(.commitEdit(id: id, composed))
        message.editor.transaction.observe(.editCommitted)
        endEdit(of: &message)
    }

    mutating func cancelEdit(of message: inout MessageWriter) {
        guard message.writing.isEditing else { return message.editor.transaction.reject(.notEditing) }
        message.editor.preedit.end(&message.editor.transaction)
        message.editor.transaction.observe(.editCancelled)
        endEdit(of: &message)
    }

    private mutating func endEdit(of message: inout MessageWriter) {
        guard message.endEdit() else { return }
        writeDraftNow(&message.editor.transaction)
        restoreFailedMessage(in: &message)
    }

    /// Handles a failure to save an edit: reopens it as soon as no other message is being edited.
    mutating func editFailed(_ id: String, _ composed: ComposedMessage, in message: inout MessageWriter) {
        outbox.addFailedEdit(UnsavedEdit(id: id, written: composed.raw, mayBeEmpty: composed.mayBeEmpty))
        message.editor.transaction.noteContentChange()
        reopenFailedEdit(in: &message)
    }

    private mutating func reopenFailedEdit(in message: inout MessageWriter) {
        guard !message.writing.isEditing, message.editor.preedit.isEmpty, let edit = outbox.popFailedEdit() else {
            return
        }
        message.reopen(edit)
    }

    /// Drops all edits of a deleted message.
    mutating func forgetEdit(_ id: String, in message: inout MessageWriter) {
        outbox.forgetEdits(of: id)
        message.forgetEdit(id)
        if message.writing.mode == .edit(id) { cancelEdit(of: &message) }
    }

    /// Starts a reply, which ends an edit; undo returns to an unfinished one. `nil` ends a reply.
    mutating func reply(to target: ReplyTarget?, in message: inout MessageWriter) {
        if message.writing.isEditing {
            guard target != nil else { return }
            message.editor.commitPreedit()
            let halfDone = message.writing.halfDoneEdit(of: message.editor.text.content)
            endEdit(of: &message)
            if let halfDone { message.recordWay(to: halfDone) }
            // A failed edit may have been reopened instead.
            guard !message.writing.isEditing else { return reply(to: target, in: &message) }
        }
        message.setReply(target)
    }

    // MARK: Drafts

    /// When the draft is to be saved, or what failed to be restored; `nil` if nothing is pending.
    var deadline: Duration? { [schedule.deadline, restoration].compactMap { $0 }.min() }

    /// Asks to save the draft and restores what failed during a preedit, each if it is due.
    mutating func fireTimers(in message: inout MessageWriter) {
        let now = message.editor.transaction.now
        if schedule.expire(at: now) { message.editor.transaction.emit(.draftChanged) }
        guard let restoration, restoration <= now else { return }
        self.restoration = nil
        restoreUnlessWriting(in: &message)
    }

    /// Schedules saving what the transaction changed.
    mutating func scheduleDraft(after delay: Duration, _ transaction: inout EventTransaction) {
        guard transaction.contentChanged else { return }
        if schedule.changed(at: transaction.now, delay: delay) { transaction.emit(.draftChanged) }
    }

    /// Asks to save the draft now if it has changed.
    mutating func flushDraft(_ transaction: inout EventTransaction) {
        if schedule.flush() { transaction.emit(.draftChanged) }
    }

    private mutating func writeDraftNow(_ transaction: inout EventTransaction) {
        transaction.writeDraftNow()
        schedule.flush()
    }

    /// Restores a draft into an unused composer, without undo steps but those that return to half-done edits.
    mutating func restore(_ draft: ComposerDraft, in message: inout MessageWriter) {
        guard isUnused(message) else { return message.editor.transaction.reject(.draft(.inUse)) }
        guard message.restore(draft) else { return message.editor.transaction.reject(.draft(.damaged)) }
        outbox.restore(draft)
        message.editor.transaction.observe(.loaded)
        message.editor.transaction.forgetContentChange()
        restoreFailedMessage(in: &message)
    }

    /// Puts a draft that is read late before what was written meanwhile, undoably. Its edit is not opened while there
    /// is text, which the user may be writing.
    mutating func putBefore(_ draft: ComposerDraft, in message: inout MessageWriter) {
        guard !isUnused(message) else { return restore(draft, in: &message) }
        outbox.putBefore(draft)
        if case .edit(let id) = draft.mode {
            let mayBeEmpty = draft.mayBeEmpty ?? false
            outbox.addFailedEdit(UnsavedEdit(id: id, written: draft.content.written, mayBeEmpty: mayBeEmpty))
        }
        message.putBefore(draft)
        if message.document.isEmpty { restoreFailedMessage(in: &message) }
    }

    private func isUnused(_ message: MessageWriter) -> Bool {
        let history = message.editor.text.history
        return message.isEmpty && !history.canUndo && !history.canRedo && outbox.isEmpty
    }
}
