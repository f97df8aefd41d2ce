import CGtk
import Glibc

/// Detects when connections may have died: after the computer was suspended or the network changed.
///
/// Suspension is detected by comparing CLOCK_BOOTTIME with CLOCK_MONOTONIC, which stops during suspension, whenever the
/// kernel reports a clock change. Unlike logind's signals, this needs no D-Bus permission in a Flatpak, and unlike
/// polling, no wake-ups.
@MainActor public final class ResumeMonitor {
    private let monitor: Object
    private var connection: SignalConnection?
    private var clock: ClockSource?
    private var gauge = SuspendDetector(suspendedDuration: SuspendDetector.currentSuspendedDuration())

    /// Waits for the system bus, the first time: do not call it before the window is drawn. No other thread may wait
    /// instead: a monitor reports to the main loop while GLib is still making it, and where NetworkManager is missing GLib
    /// frees it again.
    public init(_ action: @escaping @MainActor () -> Void) {
        monitor = Object(borrowing: UnsafeMutableRawPointer(g_network_monitor_get_default()))
        connection = monitor.connect("network-changed") { arguments in
            // Reconnecting is pointless while there is no network.
            if arguments.bool(0) { action() }
        }
        clock = ClockSource { [weak self] in
            if self?.gauge.hasSuspended(asleep: SuspendDetector.currentSuspendedDuration()) == true { action() }
        }
    }

    isolated deinit { connection?.disconnect() }
}

/// Detects suspension by comparing successive values of the total time suspended since boot.
public nonisolated struct SuspendDetector: Sendable {
    private var suspendedDuration: Duration
    /// Shorter suspensions do not break connections.
    static let minDuration = Duration.seconds(2)

    public init(suspendedDuration: Duration) {
        self.suspendedDuration = suspendedDuration
    }

    public mutating func hasSuspended(asleep now: Duration) -> Bool {
        defer { suspendedDuration = now }
        return now - suspendedDuration >= Self.minDuration
    }

    static func currentSuspendedDuration() -> Duration { time(CLOCK_BOOTTIME) - time(CLOCK_MONOTONIC) }

    private static func time(_ clock: clockid_t) -> Duration {
        var time = timespec()
        clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
