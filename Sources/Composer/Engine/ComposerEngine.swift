/// A headless message composer: a value type that turns events into effects.
///
/// It has no clock: every call passes the time, which may count from any origin but never decreases.
/// ``nextDeadline`` is when the host has to call ``advance(to:)`` next.
///
/// The engine routes events to three parts with state of their own, which record effects in a transaction: `TextEditor`
/// edits the text and completes it, `MessageWriter` adds the rest of the message, `MessageSender` sends it.
public struct ComposerEngine: Sendable {
    /// The key bindings; may be changed at any time.
    public var keys: KeyTable
    var message: MessageWriter
    var sender = MessageSender()

    public init(configuration: ComposerConfiguration = ComposerConfiguration()) {
        keys = KeyTable.standard(for: configuration)
        message = MessageWriter(configuration)
    }

    public var configuration: ComposerConfiguration { message.editor.configuration }
    /// The text and its spans.
    public var document: ComposerDocument { message.editor.text.document }
    public var selection: TextRange { message.editor.text.selection }

    /// The current state, without the text.
    public var state: ComposerState { sender.state(of: message) }

    /// The state of completion, or `nil` while it is closed.
    public var completion: CompletionState? { message.editor.followers.completionState }

    /// The mention that contains the caret or that the next Backspace acts on; drawn as selected (HKW-56).
    public var highlightedMention: Span.ID? { message.editor.text.highlightedMention }

    /// The misspelled words, in order: O(n) in their number. ``ComposerEffect/misspelled(_:in:)`` reports changes.
    public var misspelled: [TextRange] { message.editor.followers.checked.ranges }

    /// The misspelled word that contains an offset or ends there.
    public func misspelling(at offset: Int) -> TextRange? { message.editor.followers.checked.misspelling(at: offset) }

    /// Changes the options, preserving text, mode, history and key bindings that the host added. The undo depth
    /// doesn't change.
    public mutating func reconfigure(_ other: ComposerConfiguration) -> [ComposerEffect] {
        performTransaction { engine in
            for binding in KeyTable.standard(for: engine.configuration).bindings {
                engine.keys.remove(exactly: binding)
            }
            let added = engine.keys.bindings
            if other.completion != engine.configuration.completion { engine.message.editor.closeCompletion() }
            let hasOtherMarkup = other.markdown != engine.configuration.markdown
            engine.message.editor.configuration = other
            if hasOtherMarkup {
                let now = engine.message.editor.transaction.now
                engine.message.editor.followers.checkAgain(engine.document, now: now)
            }
            engine.keys = KeyTable(KeyTable.standard(for: other).bindings + added)
        }
    }

    /// Handles an event.
    ///
    /// - Parameter now: the time on any monotonic clock; a time before the last one counts as the last one.
    /// - Returns: the effects in order, starting with those of timers that were due.
    public mutating func handle(_ event: ComposerEvent, at now: Duration) -> [ComposerEffect] {
        let due = advance(to: now)
        return due
            + performTransaction { engine in
                switch engine.message.editor.plugIns.control(event, in: engine) {
                case .pass: engine.perform(event)
                case .replace(let events): events.forEach { engine.perform($0) }
                case .append(let events):
                    let before = engine.message.editor.text.revision
                    engine.perform(event)
                    if engine.message.editor.text.revision != before { events.forEach { engine.perform($0) } }
                }
            }
    }

    /// The time of the next call to ``advance(to:)``, or `nil` if no timer is pending.
    public var nextDeadline: Duration? {
        [message.editor.followers.deadline, sender.deadline].compactMap { $0 }.min()
    }

    /// Advances the clock and fires the timers due until then, in order.
    public mutating func advance(to now: Duration) -> [ComposerEffect] {
        var effects: [ComposerEffect] = []
        while let deadline = nextDeadline, deadline <= now {
            setClock(to: deadline)
            effects += performTransaction { $0.fireTimers() }
        }
        setClock(to: now)
        return effects
    }

    private mutating func fireTimers() {
        message.editor.followers.presence.fireTimers(&message.editor.transaction)
        sender.fireTimers(in: &message)
        message.editor.fireTimers()
    }

    private mutating func setClock(to now: Duration) {
        message.editor.transaction = EventTransaction(at: max(message.editor.transaction.now, now))
    }

    // MARK: Routing

    private mutating func perform(_ event: ComposerEvent) {
        if message.editor.bar.isHidden, event.isUserInput { return message.editor.transaction.reject(.hidden) }
        switch event {
        case .edit(let range, let text, let origin): message.editor.edit(range, text, origin)
        case .insert(let text, let origin): message.editor.edit(selection, text, origin)
        case .deleteBackward(let byWord): message.editor.delete(backward: true, byWord: byWord)
        case .deleteForward(let byWord): message.editor.delete(backward: false, byWord: byWord)
        case .select(let range): message.editor.select(range)
        case .holdSelection(let isHeld): message.editor.holdSelection(isHeld)
        case .preedit(let shown): message.editor.showPreedit(shown)
        case .commit(let text): message.editor.commit(text)
        case .key(let chord): press(chord)
        case .moveText(let range, let offset): message.editor.move(range, to: offset)
        case .undo: message.replay(.undo)
        case .redo: message.replay(.redo)
        case .clear: message.editor.clear()
        case .appendToMessage(let text): message.appendToMessage(text)
        case .cut: message.clipboard.cut(from: &message.editor)
        case .copy: message.clipboard.copy(from: &message.editor)
        case .paste(let offers): paste(offers)
        case .pasteInternalClipboard: if let fragment = message.clipboard.fragment { paste([.fragment(fragment)]) }
        case .format(let name): message.editor.format(name)
        case .setStyle(let style, let isOn): message.editor.setStyle(style, isOn)
        case .clearStyles: message.editor.clearStyles()
        case .load, .startEdit, .commitEdit, .cancelEdit, .editFailed, .messageDeleted, .reply, .replyPreview:
            message.editor.closeCompletion()
            performMode(event)
        case .attach, .detach, .upload, .moveAttachment, .describeAttachment, .updateAttachment, .placeInText:
            performAttachment(event)
        case .measured(let size): message.editor.measured = size
        case .send: sender.send(&message)
        case .sendAccepted(let id): sender.sendAccepted(id, in: &message)
        case .sendFailed(let id): sender.sendFailed(id, in: &message)
        case .restoreFailedMessage: sender.restoreUnlessWriting(in: &message)
        case .connected(let isConnected): sender.setConnected(isConnected)
        case .complete, .completionResults, .completionFailed, .retryCompletion, .selectCompletion, .acceptCompletion,
            .acceptEntity, .cancelCompletion, .addMention:
            message.editor.performCompletion(event)
        case .checkSpelling, .spellingChecked, .ignoreWord, .replaceWord: message.editor.performSpelling(event)
        case .focus(let isFocused): setFocus(isFocused)
        case .hide(let isHidden): setHidden(isHidden)
        case .expand(let isExpanded): message.editor.bar.isExpanded = isExpanded
        case .layout(let layout): message.editor.bar.setLayout(layout, hardLines: document.hardLineCount)
        case .userTyping(let name, let isTyping):
            message.editor.followers.presence.setTyping(
                name, isTyping, timeout: configuration.typingTimeout, &message.editor.transaction)
        }
    }

    private mutating func setFocus(_ isFocused: Bool) {
        if message.setFocus(isFocused) { sender.flushDraft(&message.editor.transaction) }
    }

    private mutating func setHidden(_ isHidden: Bool) {
        if isHidden, !message.editor.bar.isHidden {
            setFocus(false)
            message.editor.closeCompletion()
        }
        message.editor.bar.setHidden(isHidden, &message.editor.transaction)
    }

    private mutating func paste(_ offers: [PasteOffer]) {
        if isHandledByPlugIn(offers) { return message.editor.transaction.observe(.pasted) }
        message.paste(offers)
    }

    private mutating func performMode(_ event: ComposerEvent) {
        switch event {
        case .load(let written, let selection): message.load(written, selection)
        case .startEdit(let id, let written, let selection, let mayBeEmpty):
            message.startEdit(id, written, selection, mayBeEmpty: mayBeEmpty)
        case .commitEdit: sender.commitEdit(of: &message)
        case .cancelEdit: sender.cancelEdit(of: &message)
        case .editFailed(let id, let composed): sender.editFailed(id, composed, in: &message)
        case .messageDeleted(let id): sender.forgetEdit(id, in: &message)
        case .reply(let target): sender.reply(to: target, in: &message)
        case .replyPreview(let id, let preview): message.setReplyPreview(id, preview)
        default: break
        }
    }

    private mutating func performAttachment(_ event: ComposerEvent) {
        switch event {
        case .attach(let attachment): message.attach(attachment)
        case .detach(let index): message.detach(index)
        case .upload(let index, let upload): message.changeAttachments { $0.setUpload(upload, at: index) }
        case .moveAttachment(let index, let other): message.changeAttachments { $0.move(from: index, to: other) }
        case .describeAttachment(let index, let text): message.changeAttachments { $0.describe(index, as: text) }
        case .updateAttachment(let source, let attachment):
            message.changeAttachments { $0.update(source, to: attachment) }
        case .placeInText(let index): message.placeInText(index)
        default: break
        }
    }

    // MARK: Transactions

    /// Runs `body` and returns its effects: edits first, then the selection, then the rest.
    mutating func performTransaction(_ body: (inout ComposerEngine) -> Void) -> [ComposerEffect] {
        let before = message.appearance
        let wasComposing = !message.editor.preedit.isEmpty
        body(&self)
        if wasComposing { sender.scheduleRestoration(in: message) }
        message.resetSyntaxOfEmptyText()
        let reportsMove = message.editor.noteSelection(since: before.selection)
        let isChanged = message.editor.hasChanged(since: before.selection)
        message.appearance.reportChanges(since: before, &message.editor.transaction)
        message.editor.reportSpelling(selectionBefore: before.selection)
        sender.scheduleDraft(after: configuration.draftDelay, &message.editor.transaction)
        let finished = message.editor.transaction
        setClock(to: finished.now)
        let report = finished.report(
            selection: isChanged ? selection : nil, reportsMove: reportsMove, isObserved: !isObservationSuspended)
        message.editor.plugIns.notify(report, state: state)
        return report.effects
    }

    // MARK: Keys

    /// The current conditions for ``KeyTable/action(for:in:)``.
    public var keyContext: KeyContext { message.keyContext }

    /// Handles a key press. Ignores keys while the input method has preedit text.
    private mutating func press(_ chord: KeyChord) {
        guard message.editor.preedit.isEmpty, let action = keys.action(for: chord, in: keyContext) else { return }
        if perform(action) { message.editor.transaction.emit(.keyHandled) }
    }

    /// - Returns: whether the composer handled the key.
    private mutating func perform(_ action: KeyAction) -> Bool {
        switch action {
        case .send: sender.send(&message)
        case .insertNewline: message.editor.insertNewline(over: selection)
        case .insertTab: message.editor.edit(selection, "\t", .typed)
        case .escape: return escape()
        case .editLast:
            message.editor.transaction.emit(.editLastRequested)
            message.editor.transaction.observe(.editLastRequested)
        case .undo: message.replay(.undo)
        case .redo: message.replay(.redo)
        case .format(let name): message.editor.format(name)
        case .clearStyles: message.editor.clearStyles()
        case .selectAll: message.editor.select(TextRange(location: 0, length: document.length))
        case .cut: message.clipboard.cut(from: &message.editor)
        case .copy: message.clipboard.copy(from: &message.editor)
        case .clear: message.editor.clear()
        case .toggleExpanded: message.editor.bar.isExpanded.toggle()
        case .moveInCompletion(let move):
            message.editor.followers.moveInCompletion(move, &message.editor.transaction)
        case .acceptCompletion: message.editor.acceptRow(nil)
        case .host(let name): message.editor.transaction.emit(.hostAction(name))
        }
        return true
    }

    /// Closes one layer per press: completion, edit mode, reply, selection, focus (SLK-45).
    private mutating func escape() -> Bool {
        if let session = message.editor.followers.completing.session,
            session.token.kind == .explicit || session.isVisible
        {
            message.editor.dismissCompletion()
        } else if message.writing.isEditing {
            sender.cancelEdit(of: &message)
        } else if message.writing.reply != nil {
            message.setReply(nil)
        } else if !selection.isEmpty {
            message.editor.select(.caret(selection.end))
        } else if message.editor.bar.isFocused {
            message.editor.transaction.emit(.focusRequested(false))
        } else {
            return false
        }
        return true
    }
}

extension ComposerEvent {
    /// Whether the event is user input, which a hidden composer rejects (SLK-53).
    fileprivate var isUserInput: Bool {
        switch self {
        case .edit(_, _, let origin), .insert(_, let origin): origin != .code
        case .deleteBackward, .deleteForward, .select, .preedit, .commit, .key, .moveText, .undo, .redo, .cut, .paste,
            .pasteInternalClipboard, .format, .setStyle, .clearStyles, .startEdit, .send, .complete, .acceptCompletion,
            .acceptEntity, .replaceWord:
            true
        default: false
        }
    }
}
