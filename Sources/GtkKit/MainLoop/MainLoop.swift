import CGtk
import Glibc

/// The only main loop: GLib's, with the Dispatch main queue attached.
///
/// Main-actor tasks, `Task.sleep` and `Observations` then run whenever GLib iterates, without polling.
/// Do not combine it with an `async` main or a nested main loop: libdispatch does not drain its queue from within one
/// of its own blocks.
public enum MainLoop {
    private static var source: guint = 0

    /// Attaches the Dispatch main queue to the default GLib main context, once. Main thread only.
    public static func attachDispatchQueue() {
        guard source == 0 else { return }
        source = g_unix_fd_add_full(
            G_PRIORITY_DEFAULT, _dispatch_get_main_queue_handle_4CF(), shim_io_in,
            { descriptor, _, _ in
                var count: UInt64 = 0
                // The eventfd counts wake-ups. Reset it before draining the queue so that no wake-up is lost.
                _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
                _dispatch_main_queue_callback_4CF(nil)
                return gboolean(1)
            }, nil, nil)
    }

    /// Returns when the main loop is idle, after idle sources that were already waiting.
    public static func idle() async {
        var timeout: Timeout?
        await withCheckedContinuation { continuation in
            timeout = Timeout(whenIdle: { continuation.resume() })
        }
        withExtendedLifetime(timeout) {}
    }

    /// Runs one iteration of the default main context. For tests and tools that own the main thread.
    /// - Returns: Whether any source was dispatched.
    @discardableResult
    public static func iterate(mayBlock: Bool = false) -> Bool {
        g_main_context_iteration(nil, mayBlock ? 1 : 0) != 0
    }

    /// Iterates until `condition` holds.
    /// - Returns: `false` on timeout after `seconds`.
    public static func pump(forAtMost seconds: Double = 10, until condition: () -> Bool) -> Bool {
        let deadline = g_get_monotonic_time() + gint64(seconds * 1_000_000)
        // Wakes the loop periodically so that the deadline is checked even without other events.
        let alarm = g_timeout_add(50, { _ in gboolean(1) }, nil)
        defer { g_source_remove(alarm) }
        while !condition() {
            if g_get_monotonic_time() >= deadline { return false }
            iterate(mayBlock: true)
        }
        return true
    }
}
