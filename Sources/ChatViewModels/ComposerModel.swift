public import Composer

/// What the widgets of a composer need of whoever runs the engine for them.
public protocol ComposerModel: AnyObject {
    /// All but the text. Must be observable: widgets follow it.
    var composer: ComposerState { get }
    /// The text and its spans, for widgets that begin to mirror it.
    var document: ComposerDocument { get }
    /// Told at once, in order, of what a view of the text must mirror: edits, selection, clipboard and focus.
    var onTextEffect: ((ComposerEffect) -> Void)? { get set }
    /// - Returns: whether the composer took a key press for itself.
    @discardableResult
    func handle(_ event: ComposerEvent) -> Bool
}

extension ComposerViewModel: ComposerModel {
    public var composer: ComposerState { state.composer }
}
