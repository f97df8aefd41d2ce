/// A headless message composer: a value type that turns events into effects.
///
/// It has no clock: every call passes the time, which has any origin and never decreases. ``nextDeadline`` is when
/// the host has to call ``advance(to:)`` next.
public struct ComposerEngine: Sendable {
    public private(set) var configuration: ComposerConfiguration {
        didSet { completionRules = CompletionRules(configuration.completion) }
    }
    /// The text and its spans.
    public internal(set) var document = ComposerDocument()
    /// The key bindings; may be changed at any time.
    public var keys: KeyTable
    public internal(set) var selection = TextRange.caret(0)

    var preedit = ""
    var mode = ComposerMode.compose
    /// Whether the edited message may become empty, as it has attachments.
    var mayBeEmpty = false
    /// Whether the current edit came from a draft.
    var isRestoredEdit = false
    /// The content that was set aside when editing began.
    var stash: ComposerStash?
    var history: UndoHistory
    var reply: ReplyTarget?
    var attachments: [Attachment] = []
    /// The styles for the text typed next; `nil` inherits those before the caret.
    var chosenStyles: Set<TextStyle>?
    var outbox = ComposerOutbox()
    var typing = TypingNotifier()
    var typingUsers = TypingUsers()
    var draft = DraftSchedule()
    var clipboard: ClipboardFragment?
    var plugIns = PlugInList()
    var ignored = IgnoredChanges()
    var layout = ComposerLayout.initial
    /// The number of lines that wrapping added at the last measurement.
    var wrappedLines = 0
    var isFocused = false
    var isHidden = false
    var isConnected = true
    var measured: MeasuredSize?
    var isExpanded = false
    var revision = 0
    var now = Duration.zero
    var completionRules: CompletionRules
    var completing = CompletionProgress()
    /// The mention before the caret that the last Backspace highlighted.
    var armedMention: Span.ID?
    var transaction = EventTransaction()
    /// The selection when the pointer started selecting; `nil` otherwise.
    var heldSelection: TextRange?

    public init(configuration: ComposerConfiguration = ComposerConfiguration()) {
        self.configuration = configuration
        completionRules = CompletionRules(configuration.completion)
        keys = KeyTable.standard(for: configuration)
        history = UndoHistory(depth: configuration.undoDepth)
    }

    /// Changes the options, preserving text, mode, history and key bindings that the host added. The undo depth stays
    /// the initial one.
    public mutating func reconfigure(_ other: ComposerConfiguration) -> [ComposerEffect] {
        performTransaction { engine in
            for binding in KeyTable.standard(for: engine.configuration).bindings {
                engine.keys.remove(exactly: binding)
            }
            let added = engine.keys.bindings
            if other.completion != engine.configuration.completion { engine.closeCompletion() }
            engine.configuration = other
            engine.keys = KeyTable(KeyTable.standard(for: other).bindings + added)
        }
    }

    /// Handles an event.
    ///
    /// - Parameter now: the time on any monotonic clock; earlier times than the last one count as the last one.
    /// - Returns: the effects in order, starting with those of timers that were due.
    public mutating func handle(_ event: ComposerEvent, at now: Duration) -> [ComposerEffect] {
        let due = advance(to: now)
        return due + performTransaction { engine in engine.offer(event) }
    }

    /// The time of the next call to ``advance(to:)``, or `nil` if no timer is pending.
    public var nextDeadline: Duration? {
        [typing.deadline, typingUsers.deadline, draft.deadline, completing.session?.deadline].compactMap { $0 }.min()
    }

    /// Advances the clock and fires the timers due until then, in order.
    public mutating func advance(to now: Duration) -> [ComposerEffect] {
        var effects: [ComposerEffect] = []
        while let deadline = nextDeadline, deadline <= now {
            self.now = max(self.now, deadline)
            effects += performTransaction { engine in engine.fireTimers() }
        }
        self.now = max(self.now, now)
        return effects
    }

    private mutating func fireTimers() {
        if let isTyping = typing.expire(at: now) { reportTyping(isTyping) }
        if typingUsers.deadline.map({ $0 <= now }) ?? false {
            typingUsers.expire(at: now)
            observe(.peerTypingChanged)
        }
        if draft.expire(at: now) { emit(.draftChanged) }
        fireCompletionTimers()
    }

    /// Passes the event to the input controller first; its replacements aren't passed to it again (HKW-6).
    private mutating func offer(_ event: ComposerEvent) {
        guard let controller = plugIns.controller else { return perform(event) }
        switch controller.control(event, in: self) {
        case .pass: perform(event)
        case .replace(let events): events.forEach { perform($0) }
        }
    }

    private mutating func perform(_ event: ComposerEvent) {
        if isHidden, event.isUserInput {
            return reject(.hidden)
        }
        switch event {
        case .edit, .insert, .deleteBackward, .deleteForward, .select, .undo, .redo, .clear: performText(event)
        case .holdSelection(let isHeld): holdSelection(isHeld)
        case .preedit(let text): showPreedit(text)
        case .commit(let text): commit(text)
        case .key(let chord): press(chord)
        case .cut: cut()
        case .copy: copy()
        case .paste(let offers): paste(offers)
        case .pasteInternalClipboard: if let clipboard { paste([.fragment(clipboard)]) }
        case .format(let name): format(name)
        case .setStyle(let style, let isOn): setStyle(style, isOn)
        case .clearStyles: clearStyles()
        case .load, .startEdit, .commitEdit, .cancelEdit, .editFailed, .messageDeleted, .reply, .replyPreview:
            performMode(event)
        case .attach, .detach, .upload, .moveAttachment, .updateAttachment, .placeInText: performAttachment(event)
        case .measured, .send, .sendAccepted, .sendFailed, .restoreFailedMessage, .connected: performSending(event)
        case .focus, .hide, .expand, .layout, .userTyping: performWindow(event)
        case .complete, .completionResults, .completionFailed, .retryCompletion, .selectCompletion, .acceptCompletion,
            .acceptEntity,
            .cancelCompletion, .addMention:
            performCompletion(event)
        }
    }

    private mutating func performText(_ event: ComposerEvent) {
        switch event {
        case .edit(let range, let text, let origin): edit(range, text, origin)
        case .insert(let text, let origin): edit(selection, text, origin)
        case .deleteBackward(let byWord): deleteBackward(byWord: byWord)
        case .deleteForward(let byWord): deleteForward(byWord: byWord)
        case .select(let range): select(range)
        case .undo: undo()
        case .redo: redo()
        case .clear: replaceAll(with: ComposerDocument(), selection: .caret(0))
        default: break
        }
    }

    private mutating func performMode(_ event: ComposerEvent) {
        closeCompletion()
        switch event {
        case .load(let written, let selection): load(written, selection)
        case .startEdit(let id, let written, let selection, let mayBeEmpty):
            startEdit(id, written, selection, mayBeEmpty: mayBeEmpty)
        case .editFailed(let id, let message): editFailed(id, message)
        case .messageDeleted(let id): forgetEdit(id)
        case .commitEdit: commitEdit()
        case .cancelEdit: cancelEdit()
        case .reply(let target): setReply(target)
        case .replyPreview(let id, let preview): setReplyPreview(id, preview)
        default: break
        }
    }

    private mutating func performSending(_ event: ComposerEvent) {
        switch event {
        case .measured(let size): measured = size
        case .send: send()
        case .sendAccepted(let id): sendAccepted(id)
        case .sendFailed(let id): sendFailed(id)
        case .restoreFailedMessage: restoreFailedMessage()
        case .connected(let isConnected): self.isConnected = isConnected
        default: break
        }
    }
}

extension ComposerEvent {
    /// Whether the event is user input, which a hidden composer rejects (SLK-53).
    fileprivate var isUserInput: Bool {
        switch self {
        case .edit(_, _, let origin), .insert(_, let origin): origin != .code
        case .deleteBackward, .deleteForward, .select, .preedit, .commit, .key, .undo, .redo, .cut, .paste,
            .pasteInternalClipboard,
            .format, .setStyle, .clearStyles, .startEdit, .send, .complete, .acceptCompletion, .acceptEntity:
            true
        default: false
        }
    }
}
