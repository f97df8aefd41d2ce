/// The message being written: its text, its attachments, what it replies to or edits, and what happens to it when
/// it is sent.
struct MessageWriter: Sendable {
    var editor: TextEditor
    private(set) var writing = WritingMode()
    private(set) var attachments = AttachmentList()
    var outbox = ComposerOutbox()
    private(set) var draft = DraftSchedule()

    init(_ configuration: ComposerConfiguration) {
        editor = TextEditor(configuration)
    }

    private var configuration: ComposerConfiguration { editor.configuration }
    private var document: ComposerDocument { editor.document }

    /// Incremented on every change of text, spans or attachments.
    var revision: Int { editor.text.revision + attachments.revision }

    /// The height of the bar in logical pixels; 0 while hidden.
    var height: Int {
        editor.bar.height(of: editor.text.document, editor.configuration, isEditing: writing.isEditing)
    }

    // MARK: Content by code

    /// Sets the content by code. Discards the preedit text together with the previous content.
    mutating func load(_ written: WrittenText, _ selection: TextRange?) {
        editor.preedit.end(&editor.transaction)
        let other = ComposerDocument(written)
        editor.replaceAll(with: other, selecting: selection ?? .caret(other.length))
        editor.transaction.observe(.loaded)
    }

    /// Appends a text to the new message, on a line of its own. While a sent one is edited, the new message has been
    /// set aside, and the edit stays as it is.
    mutating func appendToMessage(_ text: String) {
        guard writing.isEditing else { return editor.appendLine(text) }
        writing.appendToStash(text, at: editor.transaction.now)
        editor.transaction.noteContentChange()
    }

    /// Makes a new message without text Markdown again: once a literal text that was pasted is gone, nothing shows why
    /// Markdown typed in its place would have no effect.
    mutating func resetSyntaxOfEmptyText() {
        guard editor.text.document.syntax != .markdown, editor.text.document.isEmpty, !writing.isEditing else { return }
        editor.text.resetSyntax()
    }

    // MARK: Editing a sent message (SLK-15)

    mutating func startEdit(_ id: String, _ written: WrittenText, _ selection: TextRange?, mayBeEmpty: Bool) {
        guard writing.mode != .edit(id) else { return }
        editor.commitPreedit()
        let halfDone = writing.halfDoneEdit(of: editor.text.content)
        let other = ComposerDocument(written)
        let content = EditedText.Content(
            document: other, selection: selection ?? .caret(other.length),
            history: UndoHistory(depth: configuration.undoDepth))
        enter(SuspendedEdit(id: id, text: content, mayBeEmpty: mayBeEmpty))
        if let halfDone { recordWay(to: halfDone) }
        editor.transaction.observe(.editBegan)
    }

    /// Replaces the content with that of an edit.
    private mutating func enter(_ edit: SuspendedEdit) {
        writing.begin(edit, settingAside: editor.text.content)
        attachments.setAside()
        editor.noteExchange(editor.text.exchange(edit.text))
        editor.followers.presence.stopTyping(&editor.transaction)
        editor.transaction.emit(.focusRequested(true))
    }

    /// Returns to the new message, with its undo steps.
    ///
    /// - Returns: whether one was set aside.
    private mutating func returnToMessage() -> Bool {
        guard let content = writing.end() else { return false }
        editor.noteExchange(editor.text.exchange(content))
        attachments.bringBack()
        editor.followers.presence.stopTyping(&editor.transaction)
        return true
    }

    // MARK: Undo

    /// Undoes or redoes the last change, the sending of a message or the switch to another one.
    mutating func replay(_ direction: UndoDirection) {
        switch editor.replay(direction) {
        case .nothing: return
        case .text: break
        case .sent(let extras): restore(extras, by: direction)
        case .suspended(let context): guard enter(context, by: direction) else { return }
        }
        editor.transaction.observe(direction == .undo ? .undone : .redone)
    }

    /// Switches to a suspended context, and records the way back in the opposite direction.
    ///
    /// - Returns: whether there was one.
    private mutating func enter(_ context: ComposerContext, by direction: UndoDirection) -> Bool {
        editor.closeCompletion()
        editor.text.history.removeInverse(of: direction)
        let here: ComposerContext = writing.suspendedEdit(of: editor.text.content).map { .edit($0) } ?? .compose
        switch context {
        case .edit(let edit): enter(edit)
        case .compose: guard returnToMessage() else { return false }
        }
        editor.text.addWay(to: here, for: direction.opposite)
        return true
    }

    /// Makes a suspended edit reachable by undo.
    private mutating func recordWay(to edit: SuspendedEdit) {
        editor.text.addWay(to: .edit(edit), for: .undo)
        editor.transaction.emit(.editSuspended(id: edit.id))
        editor.transaction.observe(.editKept)
    }

    mutating func commitEdit() {
        guard case .edit(let id) = writing.mode else { return editor.transaction.reject(.notEditing) }
        editor.commitPreedit()
        if let rejection = saveRejection { return editor.transaction.reject(rejection) }
        let message = document.message(id: id, trimmed: configuration.trimsSentText, mayBeEmpty: writing.mayBeEmpty)
        editor.transaction.emit(.commitEdit(id: id, message))
        editor.transaction.observe(.editCommitted)
        endEdit()
    }

    mutating func cancelEdit() {
        guard writing.isEditing else { return editor.transaction.reject(.notEditing) }
        editor.preedit.end(&editor.transaction)
        editor.transaction.observe(.editCancelled)
        endEdit()
    }

    private mutating func endEdit() {
        editor.closeCompletion()
        let suspended = editor.text.history.suspendedContext
        guard returnToMessage() else { return }
        if case .edit(let edit)? = suspended { recordWay(to: edit) }
        writeDraftNow()
        restoreFailedMessage()
    }

    /// Handles a failure to save an edit: reopens it as soon as no other message is being edited.
    mutating func editFailed(_ id: String, _ message: ComposedMessage) {
        outbox.addFailedEdit(UnsavedEdit(id: id, written: message.raw, mayBeEmpty: message.mayBeEmpty))
        editor.transaction.noteContentChange()
        reopenFailedEdit()
    }

    private mutating func reopenFailedEdit() {
        guard !writing.isEditing, editor.preedit.isEmpty, let edit = outbox.popFailedEdit() else { return }
        startEdit(edit.id, edit.written, nil, mayBeEmpty: edit.mayBeEmpty)
    }

    /// Drops all edits of a deleted message.
    mutating func forgetEdit(_ id: String) {
        outbox.forgetEdits(of: id)
        editor.text.history.forgetWays(to: id)
        writing.forgetWays(to: id)
        if writing.mode == .edit(id) { cancelEdit() }
    }

    /// Starts a reply, which ends an edit; undo returns to an unfinished one.
    mutating func setReply(_ target: ReplyTarget?) {
        if writing.isEditing {
            guard target != nil else { return }
            editor.commitPreedit()
            let halfDone = writing.halfDoneEdit(of: editor.text.content)
            endEdit()
            if let halfDone { recordWay(to: halfDone) }
            // A failed edit may have been reopened instead.
            guard !writing.isEditing else { return setReply(target) }
        }
        guard writing.setReply(target) else { return }
        editor.transaction.observe(.replyChanged)
        editor.transaction.noteContentChange()
    }

    mutating func setReplyPreview(_ id: String, _ preview: ReplyTarget.Preview) { writing.setReplyPreview(id, preview) }

    // MARK: Attachments

    mutating func attach(_ attachment: Attachment) {
        // Edits only change the text; the attachments of a message are fixed.
        guard !writing.isEditing else { return editor.transaction.reject(.attachmentWhileEditing) }
        if let rejection = configuration.attachments.rejection(of: attachment, besides: attachments.items.count) {
            return editor.transaction.reject(rejection)
        }
        changeAttachments { $0.add(attachment) }
    }

    /// Removes an attachment, and its image from the text.
    mutating func detach(_ index: Int) {
        guard let attachment = attachments.attachment(at: index) else { return }
        if attachments.firstIndex(ofSource: attachment.source) == index,
            let span = document.images.first(where: { $0.imageSource == attachment.source })
        {
            editor.replace(TextEdit(range: span.range, replacement: ""), origin: .code)
        }
        changeAttachments { $0.remove(at: index) }
    }

    /// Inserts an image on its own line and moves the caret after it, as one undo step (MIB-19). The attachment
    /// stays in the list even if its placeholder is deleted, so that undo can't lose a file.
    mutating func placeInText(_ index: Int) {
        guard let change = attachments.placement(of: index, in: document, at: editor.selection),
            editor.applyIfAdmitted(change, { $0.closeCompletion() })
        else { return }
        changeAttachments { $0.moveBeforeTwins(index) }
    }

    /// Changes the attachments, and reports it.
    ///
    /// - Parameter change: returns whether it did anything.
    mutating func changeAttachments(_ change: (inout AttachmentList) -> Bool) {
        guard change(&attachments) else { return }
        editor.transaction.observe(.attachmentsChanged)
        editor.transaction.noteContentChange()
    }

    private mutating func setAttachments(_ others: [Attachment]) {
        changeAttachments { $0.replace(with: others) }
    }

    /// The sources and thumbnails of all files that the message has, or that undo, redo or a failure brings back.
    var fileSources: Set<String> {
        let texts = [editor.text.content] + [writing.stash?.text].compactMap { $0 }
        let files =
            attachments.items + (attachments.stashed ?? [])
            + (outbox.pending + outbox.failedEntries).flatMap(\.attachments) + texts.flatMap(\.history.attachments)
        var sources = Set(files.flatMap { [$0.source, $0.thumbnail].compactMap { $0 } })
        for text in texts {
            sources.formUnion(text.document.images.compactMap(\.imageSource))
            sources.formUnion(text.history.imageSources)
        }
        return sources
    }

    // MARK: Sending

    /// Sends the message once (SLK-11), or commits the edit. Commits the preedit text first (SLK-63).
    mutating func send() {
        if writing.isEditing { return commitEdit() }
        editor.commitPreedit()
        if let rejection = sendRejection { return editor.transaction.reject(rejection) }
        let entry = ComposerOutbox.Entry(
            id: outbox.nextID(), document: document, selection: editor.selection, reply: writing.reply,
            attachments: attachments.items, revision: configuration.clearsOnSend ? nil : revision)
        let message = entry.message(trimmed: configuration.trimsSentText)
        // A placeholder whose attachment was removed isn't content to send.
        if message.parts.isEmpty { return editor.transaction.reject(.empty) }
        if let reason = editor.plugIns.gate?.rejectionReason(of: message) {
            return editor.transaction.reject(.rejectedByHost(reason))
        }
        editor.closeCompletion()
        editor.transaction.emit(.send(message))
        editor.transaction.observe(.sent)
        outbox.add(entry)
        if configuration.clearsOnSend { clearAfterSending() }
        editor.followers.presence.stopTyping(&editor.transaction)
        writeDraftNow()
    }

    /// The message with this identifier that awaits the host's response, or `nil`.
    func pendingMessage(_ id: String) -> ComposedMessage? {
        outbox.pendingEntry(id)?.message(trimmed: configuration.trimsSentText)
    }

    private mutating func clearAfterSending() {
        let sent = SentExtras(reply: writing.reply, attachments: attachments.items)
        if configuration.keepsUndoOnSend {
            if document.isEmpty { editor.text.recordUnchanged(at: editor.transaction.now) }
            editor.clear()
            editor.text.history.add(.sent(sent))
        } else {
            editor.noteExchange(editor.text.exchange(ComposerDocument(), selecting: .caret(0)))
            editor.text.history.clear()
        }
        if !attachments.items.isEmpty { setAttachments([]) }
        if writing.reply != nil { setReply(nil) }
        editor.bar.isExpanded = false
        editor.plugIns.invalidateInputs()
    }

    /// Restores what was sent with a text on undo, in addition to attachments and a reply added since; removes it on
    /// redo.
    private mutating func restore(_ sent: SentExtras, by direction: UndoDirection) {
        switch direction {
        case .undo:
            let back = sent.attachments.filter { !attachments.items.contains($0) }
            if !back.isEmpty { setAttachments(back + attachments.items) }
            if writing.reply == nil, let reply = sent.reply { setReply(reply) }
        case .redo:
            let remaining = attachments.items.filter { !sent.attachments.contains($0) }
            if remaining.count < attachments.items.count { setAttachments(remaining) }
            if let reply = sent.reply, reply == writing.reply { setReply(nil) }
        }
    }

    mutating func sendAccepted(_ id: String) {
        if outbox.remove(id) != nil { editor.transaction.observe(.sendAccepted) }
    }

    mutating func sendFailed(_ id: String) {
        guard let entry = outbox.remove(id) else { return }
        editor.transaction.observe(.sendFailed)
        // A message that wasn't cleared is still in the composer, possibly modified.
        guard entry.revision == nil else { return }
        outbox.addFailedEntry(entry)
        restoreFailedMessage()
    }

    /// Restores the oldest failed message with its selection, if the composer is empty.
    mutating func restoreFailedMessage() {
        reopenFailedEdit()
        guard !writing.isEditing, document.isEmpty, editor.preedit.isEmpty, attachments.items.isEmpty,
            writing.reply == nil, let entry = outbox.popFailedEntry()
        else { return }
        editor.replaceAll(with: entry.document, selecting: entry.selection)
        if !entry.attachments.isEmpty { setAttachments(entry.attachments) }
        if let reply = entry.reply { setReply(reply) }
        editor.transaction.observe(.unsentRestored)
        editor.transaction.noteContentChange()
    }

    // MARK: Pasting

    /// Pastes the best of the offers.
    mutating func paste(_ offers: [PasteOffer]) {
        switch configuration.attachments.content(of: offers) {
        case .fragment(let fragment):
            editor.paste(attachments.withoutForeignImages(fragment.written, in: document, over: editor.selection))
        case .attachment(let attachment): attach(attachment)
        case .text(let text): editor.paste(text)
        case .rejected(let type): editor.transaction.reject(.mediaType(type))
        case .nothing: break
        }
    }

    // MARK: Sending conditions

    /// The most important reason why the message can't be sent now, or `nil` if it can (SLK-9).
    var sendRejection: ComposerRejection? {
        if editor.bar.isHidden { return .hidden }
        if document.isBlank, attachments.items.isEmpty { return .empty }
        if editor.counter?.exceeded ?? false { return .overLimit }
        // Waiting for other uploads would not help against a failed one.
        if attachments.items.contains(where: { $0.upload == .failed }) { return .uploadFailed }
        if attachments.items.contains(where: { $0.upload != .ready }) { return .uploading }
        if !outbox.isConnected { return .notConnected }
        if outbox.holds(revision: revision) { return .alreadySending }
        return nil
    }

    var saveRejection: ComposerRejection? {
        if !writing.isEditing { return .notEditing }
        if editor.bar.isHidden { return .hidden }
        if document.isBlank, !writing.mayBeEmpty { return .empty }
        if editor.counter?.exceeded ?? false { return .overLimit }
        return nil
    }

    // MARK: Timers

    mutating func fireTimers() {
        editor.followers.presence.fireTimers(&editor.transaction)
        if draft.expire(at: editor.transaction.now) { editor.transaction.emit(.draftChanged) }
        editor.fireTimers()
    }

    // MARK: Drafts

    /// Schedules saving what the transaction changed.
    mutating func scheduleDraft() {
        guard editor.transaction.contentChanged else { return }
        if draft.changed(at: editor.transaction.now, delay: editor.configuration.draftDelay) {
            editor.transaction.emit(.draftChanged)
        }
    }

    private mutating func writeDraftNow() {
        editor.transaction.writeDraftNow()
        draft.flush()
    }

    /// Restores a draft into an unused composer, without undo steps.
    mutating func restore(_ draft: ComposerDraft) {
        guard isUnused else { return editor.transaction.reject(.draft(.inUse)) }
        guard let document = draft.content.document else { return editor.transaction.reject(.draft(.damaged)) }
        editor.noteExchange(editor.text.exchange(document, selecting: draft.content.selection))
        let stash = EditedText.Content(
            document: draft.stash?.document ?? ComposerDocument(), selection: draft.stash?.selection ?? .caret(0),
            history: UndoHistory(depth: configuration.undoDepth))
        writing.restore(draft, stash: stash)
        attachments.restore(draft)
        outbox.restore(draft)
        editor.transaction.observe(.loaded)
        editor.transaction.forgetContentChange()
        restoreFailedMessage()
    }

    /// Puts a draft that is read late before what was written meanwhile, undoably. Its edit is not opened while there is
    /// text, which the user may be writing.
    mutating func putBefore(_ draft: ComposerDraft) {
        guard !isUnused else { return restore(draft) }
        outbox.putBefore(draft)
        if case .edit(let id) = draft.mode {
            let mayBeEmpty = draft.mayBeEmpty ?? false
            outbox.addFailedEdit(UnsavedEdit(id: id, written: draft.content.written, mayBeEmpty: mayBeEmpty))
        }
        if let content = draft.mode == .compose ? draft.content : draft.stash {
            if writing.isEditing {
                writing.putBeforeStash(content, at: editor.transaction.now)
            } else {
                editor.putBefore(content.written)
                if writing.reply == nil, let reply = content.reply { setReply(reply) }
            }
            changeAttachments { $0.putBefore(content.attachments) }
        }
        editor.transaction.noteContentChange()
        if document.isEmpty { restoreFailedMessage() }
    }

    private var isUnused: Bool {
        document.isEmpty && !writing.isEditing && writing.reply == nil && attachments.items.isEmpty
            && !editor.text.history.canUndo && !editor.text.history.canRedo && outbox.isEmpty
    }

    // MARK: Focus

    mutating func setFocus(_ isFocused: Bool) {
        guard editor.setFocus(isFocused), !isFocused else { return }
        editor.followers.finishWriting(now: editor.transaction.now)
        if configuration.clearsBlankOnBlur, document.isBlank, !document.isEmpty { editor.clear() }
        if draft.flush() { editor.transaction.emit(.draftChanged) }
    }

    mutating func setHidden(_ isHidden: Bool) {
        if isHidden, !editor.bar.isHidden {
            setFocus(false)
            editor.closeCompletion()
        }
        editor.bar.setHidden(isHidden, &editor.transaction)
    }
}
