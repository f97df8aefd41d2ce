public import Composer

/// What the widgets of a composer need of whoever runs the engine for them.
public protocol ComposerModel: AnyObject {
    /// All but the text. Must be observable: widgets follow it.
    var composer: ComposerState { get }
    /// The text and its spans, for widgets that begin to mirror it.
    var document: ComposerDocument { get }
    /// The first line of the message that is being edited.
    var editQuote: String? { get }
    var configuration: ComposerConfiguration { get }
    /// Which key does what.
    var keys: KeyTable { get }
    /// Told at once, in order, of what a view of the text must mirror: edits, selection, clipboard and focus.
    var onTextEffect: ((ComposerEffect) -> Void)? { get set }
    /// - Returns: whether the composer took a key press for itself.
    @discardableResult
    func handle(_ event: ComposerEvent) -> Bool
    /// Stops a message that is on its way, as far as that can be; it comes back into the composer (MIB-10).
    func cancelSending()
}

extension ComposerModel {
    /// The rules of Markdown that it offers, in the order of menus.
    public var markdownRules: [MarkdownRule] { configuration.markdown }

    /// The key that applies a rule.
    public func chord(for rule: MarkdownRule) -> KeyChord? {
        keys.bindings.first { $0.action == .format(rule.title) }?.chord
    }
}

extension ComposerViewModel: ComposerModel {
    public var composer: ComposerState { state.composer }
    public var editQuote: String? { state.editQuote }
}
