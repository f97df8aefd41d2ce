public import Composer

/// What composer widgets need from the object that runs the engine for them.
public protocol ComposerModel: AnyObject {
    /// The engine's state except the text. Must be observable, since widgets track it.
    var composer: ComposerState { get }
    /// The text and its spans, for a widget that starts mirroring them.
    var document: ComposerDocument { get }
    /// The first line of the message being edited.
    var editQuote: String? { get }
    /// A localized description of what saving the edit will lose, or `nil` if nothing.
    var editWarning: String? { get }
    var configuration: ComposerConfiguration { get }
    /// The key bindings.
    var keys: KeyTable { get }
    /// Sends to the text's only view, from now on, synchronously and in order, what it must mirror: edits, selection,
    /// clipboard and focus.
    func subscribe(_ onTextEffect: @escaping (ComposerEffect) -> Void)
    /// - Returns: whether the composer consumed a key press.
    @discardableResult
    func handle(_ event: ComposerEvent) -> Bool
    /// Cancels the message being sent, if that is still possible; its text returns to the composer (MIB-10).
    func cancelSending()
    /// Runs `body` on the engine, passing the current time, and applies the returned effects. When called from a
    /// plug-in's callback, it runs after the change that the callback is for.
    func withEngine(_ body: @escaping (inout ComposerEngine, Duration) -> [ComposerEffect])
    /// Adds files to the composer; `nil` if it does not accept any.
    var attachments: AttachmentQueue? { get }
    /// The spelling of the text; `nil` while it is not checked.
    var spelling: ComposerSpelling? { get }
    /// The misspelled words, for a view that starts mirroring them.
    var misspelled: [TextRange] { get }
    /// The misspelled word that contains an offset or ends there.
    func misspelling(at offset: Int) -> TextRange?
}

extension ComposerModel {
    public var editWarning: String? { nil }
    public var spelling: ComposerSpelling? { nil }
    public var misspelled: [TextRange] { [] }
    public func misspelling(at offset: Int) -> TextRange? { nil }

    /// The Markdown rules on offer, in menu order.
    public var markdownRules: [MarkdownRule] { configuration.markdown }

    /// The key binding of a rule.
    public func chord(for rule: MarkdownRule) -> KeyChord? {
        keys.bindings.first { $0.action == .format(rule.title) }?.chord
    }
}
