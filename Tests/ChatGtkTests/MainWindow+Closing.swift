import ChatGtk
import GtkKit
import GtkTestSupport

extension MainWindow {
    /// Closes the window, and returns once its drafts are stored and its rooms are closed.
    ///
    /// It is hidden at once: waiting for that ends before the store has what was written.
    @MainActor
    func finishClosing() throws {
        var isClosed = false
        onClosed = { isClosed = true }
        close()
        guard MainLoop.pump(until: { isClosed }) else { throw TimedOut() }
    }
}
