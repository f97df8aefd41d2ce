import CGtk
import GtkKit

/// Holds objects until it is told to end.
final class RetainedWidgets {
    private var objects: [AnyObject]
    init(_ objects: [AnyObject]) { self.objects = objects }
    func end() { objects = [] }
}

/// Of a window that asks something.
extension Widget {
    /// Shows the window; what acts in it lives until it is closed.
    func presentDialog(of object: AnyObject) {
        let retained = RetainedWidgets([object])
        intercept("close-request") { _ in
            retained.end()
            return false
        }
        gtk_window_present(cast())
    }

    func closeWindow() { gtk_window_close(cast()) }
}
