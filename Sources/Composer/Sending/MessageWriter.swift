/// The message being written: its text, its attachments, and what it replies to or edits.
struct MessageWriter: Sendable {
    var editor: TextEditor
    private(set) var writing = WritingMode()
    private(set) var attachments = AttachmentList()
    var clipboard = TextClipboard()
    /// The first lines of edited messages as they were when their edits began, by their identifiers. Undo, a failure
    /// and a draft return to edits with another text.
    private(set) var originals: [String: WrittenText] = [:]

    init(_ configuration: ComposerConfiguration) {
        editor = TextEditor(configuration)
    }

    private var configuration: ComposerConfiguration { editor.configuration }
    var document: ComposerDocument { editor.document }

    /// Incremented on every change of text, spans or attachments.
    var revision: Int { editor.text.revision + attachments.revision }

    /// Whether there is neither a new message nor an edit.
    var isEmpty: Bool {
        !writing.isEditing && document.isEmpty && writing.reply == nil && attachments.items.isEmpty
    }

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

    /// - Parameters:
    ///   - original: The first line of the message if `written` is not its text.
    ///   - isRestored: Whether `written` may differ from the message, so that undo returns to it in any case.
    mutating func startEdit(
        _ id: String, _ written: WrittenText, _ selection: TextRange?, mayBeEmpty: Bool, original: WrittenText? = nil,
        isRestored: Bool = false
    ) {
        guard writing.mode != .edit(id) else { return }
        originals[id] = original ?? written.firstLine
        editor.commitPreedit()
        let halfDone = writing.halfDoneEdit(of: editor.text.content)
        let other = ComposerDocument(written)
        let content = EditedText.Content(
            document: other, selection: selection ?? .caret(other.length),
            history: UndoHistory(depth: configuration.undoDepth))
        enter(SuspendedEdit(id: id, text: content, mayBeEmpty: mayBeEmpty, isRestored: isRestored))
        if let halfDone { recordWay(to: halfDone) }
        editor.transaction.observe(.editBegan)
    }

    /// Returns to an edit that could not be saved.
    mutating func reopen(_ edit: UnsavedEdit) {
        startEdit(
            edit.id, edit.written, nil, mayBeEmpty: edit.mayBeEmpty, original: originals[edit.id], isRestored: true)
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

    /// Ends the edit. An edit that it interrupted stays reachable by undo.
    ///
    /// - Returns: whether a new message was set aside, to which it returns.
    mutating func endEdit() -> Bool {
        editor.closeCompletion()
        let suspended = editor.text.history.suspendedContext
        guard returnToMessage() else { return false }
        if case .edit(let edit)? = suspended { recordWay(to: edit) }
        return true
    }

    /// Makes a suspended edit reachable by undo.
    mutating func recordWay(to edit: SuspendedEdit) {
        editor.text.addWay(to: .edit(edit), for: .undo)
        editor.transaction.emit(.editSuspended(id: edit.id))
        editor.transaction.observe(.editKept)
    }

    /// Drops the ways back to edits of a deleted message.
    mutating func forgetEdit(_ id: String) {
        editor.text.history.forgetWays(to: id)
        writing.forgetWays(to: id)
        originals[id] = nil
    }

    /// The reason why the edit can't be saved now, or `nil` if it can.
    var saveRejection: ComposerRejection? {
        if !writing.isEditing { return .notEditing }
        if editor.bar.isHidden { return .hidden }
        if document.isBlank, !writing.mayBeEmpty { return .empty }
        if editor.counter?.exceeded ?? false { return .overLimit }
        return nil
    }

    /// The first line of the message being edited as it was before; `nil` for a new message.
    var originalLine: WrittenText? {
        guard case .edit(let id) = writing.mode else { return nil }
        return originals[id] ?? document.written.firstLine
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

    // MARK: Replying

    /// - Parameter target: `nil` ends a reply.
    mutating func setReply(_ target: ReplyTarget?) {
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

    /// The sources and thumbnails of all files that the message has, or that undo or redo brings back.
    var fileSources: Set<String> {
        let texts = [editor.text.content] + [writing.stash?.text].compactMap { $0 }
        let files = attachments.items + (attachments.stashed ?? []) + texts.flatMap(\.history.attachments)
        var sources = Set(files.flatMap(\.fileSources))
        for text in texts {
            sources.formUnion(text.document.images.compactMap(\.imageSource))
            sources.formUnion(text.history.imageSources)
        }
        return sources
    }

    // MARK: Sending

    /// Clears what was sent, undoably if the configuration says so.
    mutating func clearAfterSending() {
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

    /// Restores a message that failed to be sent.
    mutating func bringBack(_ entry: ComposerOutbox.Entry) {
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

    // MARK: Drafts

    /// Half-done edits that undo returns to, the oldest first.
    var suspendedEdits: [UnsavedEdit] {
        let histories = [editor.text.history] + [writing.stash?.text.history].compactMap { $0 }
        var seen: Set<String> = []
        if case .edit(let id) = writing.mode { seen.insert(id) }
        return histories.flatMap(\.suspendedEdits).filter { seen.insert($0.id).inserted }.reversed().map { edit in
            UnsavedEdit(id: edit.id, written: edit.text.document.written, mayBeEmpty: edit.mayBeEmpty)
        }
    }

    /// Makes the half-done edits of a draft reachable by undo, behind all other steps: the newest leads to the others.
    private mutating func restoreSuspendedEdits(of draft: ComposerDraft) {
        var newest: SuspendedEdit?
        for edit in draft.suspendedEdits ?? [] {
            let document = ComposerDocument(edit.written)
            var text = EditedText(undoDepth: configuration.undoDepth)
            _ = text.exchange(document, selecting: .caret(document.length))
            if let newest { text.addOldestWay(to: .edit(newest)) }
            newest = SuspendedEdit(id: edit.id, text: text.content, mayBeEmpty: edit.mayBeEmpty, isRestored: true)
        }
        if let newest { editor.text.addOldestWay(to: .edit(newest)) }
    }

    /// Restores a draft, without undo steps but those that return to half-done edits.
    ///
    /// - Returns: whether its text is intact; otherwise nothing changes.
    mutating func restore(_ draft: ComposerDraft) -> Bool {
        guard let document = draft.content.document else { return false }
        editor.noteExchange(editor.text.exchange(document, selecting: draft.content.selection))
        let stash = EditedText.Content(
            document: draft.stash?.document ?? ComposerDocument(), selection: draft.stash?.selection ?? .caret(0),
            history: UndoHistory(depth: configuration.undoDepth))
        writing.restore(draft, stash: stash)
        originals = draft.originals ?? [:]
        restoreSuspendedEdits(of: draft)
        attachments.restore(draft)
        return true
    }

    /// Puts a draft before what was written meanwhile, undoably. Its edit is not opened.
    mutating func putBefore(_ draft: ComposerDraft) {
        originals.merge(draft.originals ?? [:]) { current, _ in current }
        restoreSuspendedEdits(of: draft)
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
    }

    // MARK: Focus

    /// - Returns: whether the focus was lost.
    mutating func setFocus(_ isFocused: Bool) -> Bool {
        guard editor.setFocus(isFocused), !isFocused else { return false }
        editor.followers.finishWriting(now: editor.transaction.now)
        if configuration.clearsBlankOnBlur, document.isBlank, !document.isEmpty { editor.clear() }
        return true
    }
}
