import ComposerSessions
import Foundation

/// Reports when the local date changes.
final class DayChangeMonitor {
    private let time: Timekeeper
    private let now: () -> Date
    private let onChange: () -> Void
    private var watching: Task<Void, Never>?

    /// The longest wait before checking again, since the clock may be set and the machine may be suspended.
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
                do { try await time.sleep(time.now() + wait) } catch { return }
                guard let self, !Task.isCancelled else { return }
                let today = CalendarDay(of: self.now())
                if today != day { self.onChange() }
                day = today
            }
        }
    }

    func stop() {
        watching?.cancel()
        watching = nil
    }

    private var wait: Duration {
        let now = now()
        // Aim slightly past midnight, to tolerate drift between the two clocks.
        let rest = CalendarDay(of: now).end.timeIntervalSince(now) + 0.01
        return min(max(.seconds(rest), .seconds(1)), Self.maxWait)
    }
}
