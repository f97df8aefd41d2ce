import GtkKit

/// Gives the focus back that a dialog loses while it is busy: GTK takes it from a widget that becomes insensitive.
final class BusyFocus {
    private var isBusy = false
    /// What had the focus when the dialog became busy.
    private var saved: Widget?

    /// Call this before widgets of the dialog become insensitive.
    func prepare(for isBusy: Bool, in dialog: Widget) {
        if isBusy, !self.isBusy { saved = dialog.root?.focus }
        self.isBusy = isBusy
    }

    /// Call this once they are as the dialog's state has them. Another widget that has the focus by then retains it.
    /// - Parameters:
    ///   - isNewPage: whether the dialog shows another page, which has a focus of its own.
    ///   - other: what gets the focus if the widget that had it is no longer displayed.
    func restore(in dialog: Widget, isNewPage: Bool = false, or other: Widget? = nil) {
        guard !isBusy, let widget = saved else { return }
        saved = nil
        guard !isNewPage, dialog.root?.focus == nil else { return }
        if widget.isMapped { widget.grabFocus() } else { other?.grabFocus() }
    }
}
