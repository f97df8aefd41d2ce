import Synchronization

/// The timer with which libdispatch looks for worker threads that are blocked, once a second from the first use of its
/// global queues on (`workqueue.c`): nearly all wake-ups of the program while nothing happens.
///
/// A blocked thread takes its place among as many as there are processors, and is replaced when the timer fires. Here
/// only disks block those threads; what waits for other processes has threads of its own.
///
/// libdispatch has no setting for the interval. The linker redirects calls of `dispatch_source_set_timer` to the function below
/// (`--wrap` in Package.swift), which finds the timer where libdispatch is linked statically, as in the installed
/// program; elsewhere it stays as it is.
nonisolated enum DispatchMonitor {
    private static let timer = Atomic<UInt>(0)
    private static let second: UInt64 = 1_000_000_000

    /// Sets the interval of the timer, which may be half of that late.
    static func setInterval(seconds: UInt64) {
        guard let timer = UnsafeMutableRawPointer(bitPattern: timer.load(ordering: .acquiring)) else { return }
        let interval = second * seconds
        setTimer(timer, startOfTimer(0, Int64(interval)), interval, interval / 2)
    }

    /// Remembers the timer of the library's own call, which is the first with these values.
    fileprivate static func note(_ timer: UnsafeMutableRawPointer, _ interval: UInt64, _ leeway: UInt64) {
        guard interval == second, leeway == 0 else { return }
        _ = Self.timer.compareExchange(
            expected: 0, desired: UInt(bitPattern: timer), ordering: .acquiringAndReleasing)
    }
}

@_silgen_name("__real_dispatch_source_set_timer")
private nonisolated func setTimer(
    _ source: UnsafeMutableRawPointer, _ start: UInt64, _ interval: UInt64, _ leeway: UInt64)

@_silgen_name("dispatch_time")
private nonisolated func startOfTimer(_ base: UInt64, _ nanoseconds: Int64) -> UInt64

@_cdecl("__wrap_dispatch_source_set_timer")
nonisolated func wrappedSetTimer(
    _ source: UnsafeMutableRawPointer, _ start: UInt64, _ interval: UInt64, _ leeway: UInt64
) {
    DispatchMonitor.note(source, interval, leeway)
    setTimer(source, start, interval, leeway)
}
