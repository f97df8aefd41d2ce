import CGtk
import GtkKit

/// Retains objects until ``end()``.
final class RetainedWidgets {
    private var objects: [AnyObject]
    init(_ objects: [AnyObject]) { self.objects = objects }
    func end() { objects = [] }
}

/// Dialog windows.
extension Widget {
    /// Presents the window, and retains its controller until it is closed.
    func presentDialog(of object: AnyObject) {
        let retained = RetainedWidgets([object])
        intercept("close-request") { _ in
            retained.end()
            return false
        }
        gtk_window_present(cast())
    }
}
