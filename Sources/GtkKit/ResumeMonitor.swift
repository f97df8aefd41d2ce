import CGtk
import Glibc

/// Tells when what was connected may not be any more: the computer slept, or the network changed.
///
/// Sleep is seen by the kernel's clocks, one of which stands still meanwhile, so that no service has to be asked: a
/// Flatpak needs no permission for it.
@MainActor public final class ResumeMonitor {
    private let monitor: Object
    private var connection: SignalConnection?
    private var timer: Timeout?
    private var gauge = SuspendDetector(suspendedDuration: SuspendDetector.currentSuspendedDuration())
    private static let interval = Duration.seconds(10)

    public init(_ action: @escaping @MainActor () -> Void) {
        monitor = Object(borrowing: UnsafeMutableRawPointer(g_network_monitor_get_default()))
        connection = monitor.connect("network-changed") { arguments in
            // Without a network there is nothing to try.
            if arguments.bool(0) { action() }
        }
        timer = Timeout(every: Self.interval) { [weak self] in
            if self?.gauge.hasSuspended(asleep: SuspendDetector.currentSuspendedDuration()) == true { action() }
        }
    }

    isolated deinit {
        connection?.disconnect()
        timer?.cancel()
    }
}

/// Whether a computer slept between two looks at how long it has been asleep since its start.
public nonisolated struct SuspendDetector: Sendable {
    private var suspendedDuration: Duration
    /// Shorter naps break no connection.
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
