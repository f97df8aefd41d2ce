/// Repeats housekeeping in a program that stays open for months.
public enum DailyUpkeep {
    /// The time between two runs. It is long, because each wakes an idle program.
    static let pause = Duration.seconds(24 * 60 * 60)

    /// Runs an operation now and then once a day, until the task is canceled.
    public static func run(on clock: any Clock<Duration>, _ operation: () async -> Void) async {
        while !Task.isCancelled {
            await operation()
            do { try await clock.sleep(for: pause, tolerance: nil) } catch { return }
        }
    }
}
