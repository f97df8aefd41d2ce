public import Composer
public import GtkKit

/// What shows the suggestions, in the place of the bar's own list (HKW-51): ``ComposerBar/chooser``.
///
/// The bar puts its widget where the list would be, in a popover or docked in narrow windows, opens and closes it, and takes
/// the keys. The focus stays in the text.
public protocol CompletionChooser: AnyObject {
    /// Always the same one. Must not take the focus.
    var widget: Widget { get }
    /// To be called with the row that the user chose. The bar sets it.
    var onAccept: ((Int) -> Void)? { get set }
    /// To be called when what failed is to be asked again. The bar sets it.
    var onRetry: (() -> Void)? { get set }
    /// There is something to show, or something else than before.
    func show(_ completion: CompletionState)
    /// Nothing is shown any more, and nothing need be kept.
    func clear()
    /// What assistive technology is told to be the row at this place; nil if it is not in view.
    func accessibleRow(at index: Int) -> Widget?
}

extension CompletionChooser {
    public func accessibleRow(at index: Int) -> Widget? { nil }
}
