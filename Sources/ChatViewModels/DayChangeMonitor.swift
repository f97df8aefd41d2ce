import Foundation

/// Tells when the wall clock has come into another day.
final class DayChangeMonitor {
    private let time: Timekeeper
    private let now: () -> Date
    private let onChange: () -> Void
    private var watching: Task<Void, Never>?

    /// The wall clock may be set, and the machine may sleep: no wait is longer than this.
    static let maxWait = Duration.seconds(15 * 60)

    init(time: Timekeeper, now: @escaping () -> Date, onChange: @escaping () -> Void) {
        self.time = time
        self.now = now
        self.onChange = onChange
    }

    isolated deinit { watching?.cancel() }

    func start() {
        guard watching == nil else { return }
        let first = CalendarDay(of: now())
        watching = Task { [weak self, time] in
            var day = first
            while let wait = self?.wait {
                guard (try? await time.sleep(time.now() + wait)) != nil, let self, !Task.isCancelled else { return }
                let today = CalendarDay(of: self.now())
                if today != day { self.onChange() }
                day = today
            }
        }
    }

    private var wait: Duration {
        let now = now()
        // A moment past midnight, for a clock that is a little ahead of the other.
        let rest = CalendarDay(of: now).end.timeIntervalSince(now) + 0.01
        return min(max(.seconds(rest), .seconds(1)), Self.maxWait)
    }
}
