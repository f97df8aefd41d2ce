import GtkKit

/// Retains objects until ``end()``.
final class RetainedWidgets {
    private var objects: [AnyObject]
    init(_ objects: [AnyObject]) { self.objects = objects }
    func end() { objects = [] }
}

/// Dialog windows.
extension TopLevel {
    /// Presents the window, and retains its controller until it is closed.
    func presentDialog(of object: AnyObject) {
        let retained = RetainedWidgets([object])
        onCloseRequest {
            retained.end()
            return false
        }
        present()
    }
}
