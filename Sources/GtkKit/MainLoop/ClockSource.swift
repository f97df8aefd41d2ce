import CGtk
import Glibc

/// Calls a handler when the system's clock is set. The kernel also reports this when the computer resumes from
/// suspension. Uses a timer that never expires and therefore costs nothing.
final class ClockSource {
    private let descriptor: Int32
    private var source: guint = 0
    private let expiry: time_t

    /// In 285 years: the kernel cancels only armed timers, and its clock ends shortly after that.
    private static let never: time_t = 9_000_000_000

    /// - Parameter expiry: when the timer expires, in seconds since 1970. For tests, as the kernel reports this like a
    ///   clock change.
    /// - Returns: `nil` without timers, as in a sandbox that does not allow them.
    init?(expiry: time_t = ClockSource.never, _ handler: @escaping @MainActor () -> Void) {
        descriptor = shim_clock_timer()
        self.expiry = expiry
        guard descriptor >= 0, arm() else { return nil }
        let tick: @MainActor () -> Bool = { [weak self] in
            guard let self, self.source != 0 else { return false }
            var count: UInt64 = 0
            // Fails with ECANCELED if the clock was set, which disarms the timer.
            _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
            handler()
            // In tests, the expired timer would immediately expire again.
            if expiry == Self.never, self.arm() { return true }
            self.source = 0
            return false
        }
        source = g_unix_fd_add_full(
            G_PRIORITY_DEFAULT, descriptor, shim_io_in,
            { _, _, data in
                nonisolated(unsafe) let data = data
                return MainActor.assumeIsolated {
                    guard let data else { return gboolean(0) }
                    let box = Unmanaged<ClosureBox<@MainActor () -> Bool>>.fromOpaque(data)
                    return box.takeUnretainedValue().closure() ? 1 : 0
                }
            }, Unmanaged.passRetained(ClosureBox(tick)).toOpaque(),
            { data in
                if let data { Unmanaged<ClosureBox<@MainActor () -> Bool>>.fromOpaque(data).release() }
            })
    }

    isolated deinit {
        if source != 0 { g_source_remove(source) }
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    private func arm() -> Bool { shim_arm_clock_timer(descriptor, expiry) != 0 }
}
