/// Whether the composer writes a new message or edits a sent one.
public enum ComposerMode: Hashable, Sendable, Codable {
    case compose
    /// Editing the message with this identifier.
    case edit(String)
}

/// The state of a composer apart from its text; cheap to build and compare as a whole.
public struct ComposerState: Equatable, Sendable {
    public var selection: TextRange
    public var preedit: String
    /// In UTF-16 code units.
    public var length: Int
    /// Whether the text is empty or only white space. Whether it can be sent also depends on attachments: see
    /// ``canSend``.
    public var isBlank: Bool
    /// Incremented on every change of text or spans, so that views know when to read ``ComposerEngine/document``.
    public var revision: Int
    /// Whether both text and preedit text are empty (SLK-7).
    public var showsPlaceholder: Bool
    public var mode: ComposerMode
    public var reply: ReplyTarget?
    public var canSend: Bool
    public var canSave: Bool
    /// Whether messages await the host's response.
    public var isSending: Bool
    /// The number of failed messages that wait to be restored.
    public var failedCount: Int
    public var counter: CounterState?
    /// The number of lines in the text.
    public var lines: Int
    /// The maximum number of visible lines.
    public var maxLines: Int
    /// The height of the bar in logical pixels; 0 while hidden.
    public var height: Int
    /// Whether the text has reached the maximum number of lines, so that further lines scroll (SLK-4, SLK-32).
    public var isExpanding: Bool
    /// Whether the text exceeds the visible lines.
    public var scrollsInside: Bool
    /// Whether the editor is expanded to its full height (MIB-8).
    public var isExpanded: Bool
    /// The titles of the Markdown rules available for the selection, in order.
    public var formatting: [String]
    /// The styles of the text typed next.
    public var typingStyles: Set<TextStyle>
    /// Whether the selection, or else the text typed next, has a style to clear (SLK-35).
    public var canClearStyles: Bool
    /// The text of the typing indicator (SLK-41).
    public var typing: String?
    public var typingNames: [String]
    public var attachments: [Attachment]
    public var canUndo: Bool
    public var canRedo: Bool
    /// The mention to draw as selected (HKW-56).
    public var highlightedMention: Span.ID?
    /// The state of completion, or `nil` while it is closed.
    public var completion: CompletionState?
    public var isFocused: Bool
    public var isHidden: Bool

    /// The identifier of the message being edited, or `nil`.
    public var editing: String? {
        if case .edit(let id) = mode { id } else { nil }
    }
}

// Not an initializer of the state: that would copy the whole message for each key press.
extension MessageSender {
    func state(of message: MessageWriter) -> ComposerState {
        let isEditing = message.writing.isEditing
        let lines = message.editor.bar.lineCount(of: message.editor.text.document)
        let maximum = message.editor.bar.maxLines(message.editor.configuration, isEditing: isEditing)
        return ComposerState(
            selection: message.editor.selection, preedit: message.editor.preedit.text,
            length: message.editor.text.document.length, isBlank: message.editor.text.document.isBlank,
            revision: message.revision,
            showsPlaceholder: message.editor.text.document.isEmpty && message.editor.preedit.isEmpty,
            mode: message.writing.mode, reply: message.writing.reply,
            canSend: sendRejection(of: message) == nil && !isEditing, canSave: message.saveRejection == nil,
            isSending: !outbox.pending.isEmpty, failedCount: outbox.failedEntries.count,
            counter: message.editor.counter, lines: lines, maxLines: maximum, height: message.height,
            isExpanding: lines >= maximum, scrollsInside: lines > maximum, isExpanded: message.editor.bar.isExpanded,
            formatting: message.editor.offeredFormats, typingStyles: message.editor.text.typingStyles,
            canClearStyles: message.editor.text.canClearStyles, typing: message.typingText,
            typingNames: message.editor.followers.presence.names, attachments: message.attachments.items,
            canUndo: message.editor.text.history.canUndo, canRedo: message.editor.text.history.canRedo,
            highlightedMention: message.editor.text.highlightedMention,
            completion: message.editor.followers.completionState,
            isFocused: message.editor.bar.isFocused, isHidden: message.editor.bar.isHidden)
    }
}

extension MessageWriter {
    /// Who is typing; hidden while editing and during completion, whose list covers it or is about to (SLK-41).
    fileprivate var typingText: String? {
        let isCompleting = editor.followers.completing.session.map { $0.isVisible || $0.phase == .awaiting } ?? false
        guard !writing.isEditing, !isCompleting else { return nil }
        return editor.configuration.typingPhrases.text(for: editor.followers.presence.names)
    }
}
