/// Whether a new message is written or a stored one changed.
public enum ComposerMode: Hashable, Sendable, Codable {
    case compose
    /// The identifier of the message that is being edited.
    case edit(String)
}

/// Everything about a composer but its text: cheap to build and to compare, so that views take it as a whole.
public struct ComposerState: Equatable, Sendable {
    public var selection: TextRange
    public var preedit: String
    /// In UTF-16 units.
    public var length: Int
    /// Nothing but white space and line breaks: the send button gives its place to others (SLK-10).
    public var isBlank: Bool
    /// Counts up with every change of text or spans, so that views know when to read ``ComposerEngine/document``.
    public var revision: Int
    /// Neither text nor preedit (SLK-7).
    public var showsPlaceholder: Bool
    public var mode: ComposerMode
    public var reply: ReplyTarget?
    public var canSend: Bool
    public var canSave: Bool
    /// Messages handed over and not answered yet.
    public var isSending: Bool
    /// Messages that failed and wait to be brought back.
    public var failedCount: Int
    public var counter: CounterState?
    /// Lines that the text has.
    public var lines: Int
    /// The most lines shown at once.
    public var maximumLines: Int
    /// The bar's height in logical pixels; 0 while hidden.
    public var height: Int
    /// The text has reached the most lines or gone beyond: what is written now scrolls inside (SLK-4, SLK-32).
    public var isExpanding: Bool
    /// The text is taller than the bar shows.
    public var scrollsInside: Bool
    /// The editor is held at its full height (MIB-8).
    public var isExpanded: Bool
    /// Titles of the Markdown rules offered for the selection, in order.
    public var formatting: [String]
    /// Styles that text typed now takes.
    public var typingStyles: Set<TextStyle>
    /// Whether there is a style to take: in the selection, or from what is typed next (SLK-35).
    public var canClearStyles: Bool
    /// The typing indicator's text (SLK-41).
    public var typing: String?
    public var typingNames: [String]
    public var attachments: [Attachment]
    public var canUndo: Bool
    public var canRedo: Bool
    /// The mention that is drawn as selected (HKW-56).
    public var highlightedMention: Span.ID?
    /// What completion shows; nil while it is closed.
    public var completion: CompletionState?
    public var isFocused: Bool
    public var isHidden: Bool

    /// The message that is being edited.
    public var editing: String? {
        if case .edit(let id) = mode { id } else { nil }
    }
}
