import CGtk
import GtkKit
import GtkToolSupport

/// The window manager, which gives windows the focus in its own time.
@MainActor
public enum WindowManager {
    /// Waits until it has handled what this program asked for, and the events that follow from it have arrived.
    ///
    /// A window that closes, opens or asks for the focus changes the focus later. Keys and assertions that do not wait
    /// for that find another window active, or a window active that no longer will be a moment later.
    public static func wait() throws {
        guard let display = gdk_display_get_default() else { return }
        gdk_display_sync(display)
        // The answer comes within a millisecond on an idle machine, and wakes no main loop.
        let alarm = Timeout(every: .milliseconds(1)) {}
        defer { alarm.cancel() }
        guard let barrier = WindowManagerBarrier.shared, MainLoop.pump(until: barrier.reached()) else {
            throw TimedOut()
        }
        gdk_display_sync(display)
        for _ in 0..<1_000 where g_main_context_pending(nil) != 0 { g_main_context_iteration(nil, 0) }
    }
}
