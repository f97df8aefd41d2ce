import CGtk
import GtkKit
import XCTest

/// A test on real GTK. Its methods are nonisolated and enter the main actor by ``onMain(_:)``: corelibs XCTest
/// runs them on the main thread.
class GtkTestCase: XCTestCase {
    override func setUpWithError() throws {
        try onMain {
            guard gtk_init_check() != 0 else { throw NoDisplay() }
            adw_init()
            MainLoop.attachDispatchQueue()
        }
    }

    func onMain<R: Sendable>(_ body: @MainActor () throws -> R) rethrows -> R {
        try MainActor.assumeIsolated(body)
    }

    /// A missing display is a failure, not a reason to skip: the Makefile provides one.
    struct NoDisplay: Error {}
}

/// A window for tests that is shown until it is closed.
@MainActor
final class TestWindow {
    let window: Widget

    init(_ child: Widget, width: Int32 = 300, height: Int32 = 200) {
        window = Widget(borrowing: gtk_window_new())
        gtk_window_set_default_size(window.cast(), width, height)
        gtk_window_set_child(window.cast(), child.cast())
        gtk_window_present(window.cast())
        _ = MainLoop.pump { child.isMapped && child.width > 0 }
    }

    func close() {
        gtk_window_destroy(window.cast())
    }
}
