public import Composer

/// What the widgets of a composer need of whoever runs the engine for them.
public protocol ComposerModel: AnyObject {
    /// All but the text. Must be observable: widgets follow it.
    var composer: ComposerState { get }
    /// The text and its spans, for widgets that begin to mirror it.
    var document: ComposerDocument { get }
    /// The first line of the message that is being edited.
    var editQuote: String? { get }
    /// What saving the edit will lose, in words for the user; nil for nothing.
    var editWarning: String? { get }
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
    /// Does with the engine what no event does, at the time that is handed in, and carries out the effects. Called by a
    /// plug-in it is done after what the plug-in was called about.
    func withEngine(_ body: @escaping (inout ComposerEngine, Duration) -> [ComposerEffect])
    /// The way of files into the composer; nil where it takes none.
    var attachments: AttachmentQueue? { get }
}

extension ComposerModel {
    public var editWarning: String? { nil }

    /// The rules of Markdown that it offers, in the order of menus.
    public var markdownRules: [MarkdownRule] { configuration.markdown }

    /// The key that applies a rule.
    public func chord(for rule: MarkdownRule) -> KeyChord? {
        keys.bindings.first { $0.action == .format(rule.title) }?.chord
    }
}

extension ComposerModel {
    /// Hands on what an event led to: to the view of the text at once, to completion when the state is the new one.
    ///
    /// - Parameters:
    ///   - handleRemaining: given what is left, in order.
    ///   - refresh: takes the new state over.
    /// - Returns: whether the composer took a key press for itself.
    func distribute(
        _ effects: [ComposerEffect], completing completion: CompletionQueries,
        _ handleRemaining: (ComposerEffect) -> Void,
        refresh: () -> Void
    ) -> Bool {
        var handledKey = false
        var requests: [CompletionRequest] = []
        for effect in effects {
            switch effect {
            case .edited, .selectionChanged, .copied, .focusRequested: onTextEffect?(effect)
            case .keyHandled: handledKey = true
            case .completion(let request): requests.append(request)
            default: handleRemaining(effect)
            }
        }
        refresh()
        requests.forEach { completion.handle($0) }
        return handledKey
    }
}

extension ComposerViewModel: AttachmentHolder {
    public var composer: ComposerState { state.composer }
    public var editQuote: String? { state.editQuote }
    public var editWarning: String? { state.editWarning }
}
