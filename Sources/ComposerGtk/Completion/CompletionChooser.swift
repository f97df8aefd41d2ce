public import Composer
public import GtkKit

/// A host's replacement for the bar's list of suggestions (HKW-51): see ``ComposerBar/chooser``.
///
/// The bar opens and closes the widget in the list's place, a popover or the dock of narrow windows, and handles the
/// keys. The focus stays in the text.
public protocol CompletionChooser: AnyObject {
    /// The widget that shows the suggestions. Must be constant, and must not take the focus.
    var widget: Widget { get }
    /// Called by the chooser when the user picks a row. Set by the bar.
    var onAccept: ((Int) -> Void)? { get set }
    /// Called by the chooser when the user wants to retry a failed query. Set by the bar.
    var onRetry: (() -> Void)? { get set }
    /// Shows the completion, or updates it.
    func show(_ completion: CompletionState)
    /// Called when completion has ended; the chooser may free its content.
    func clear()
    /// Returns the widget to expose as the active descendant for the row at `index`, or `nil` if it is not in view.
    func accessibleRow(at index: Int) -> Widget?
}

extension CompletionChooser {
    public func accessibleRow(at index: Int) -> Widget? { nil }
}
