import ChatCore
import Foundation
import GtkKit

/// Replaces this process by one that runs as a service, some time after its last window has closed.
///
/// GTK cannot be stopped: without a window, what it has made for the first one is two thirds of the memory. The process
/// keeps its ID, so that the desktop and the user's terminal see one program.
final class ServiceRestart {
    /// The time from closing the last window, which many users reopen right away.
    private static let delay = Duration.seconds(10)
    /// While something would be lost, the delay doubles up to this.
    private static let maxDelay = Duration.seconds(3600)
    /// Composers can undo what was written before for ten minutes: the sum of the delays up to this one.
    private static let undoDelay = Duration.seconds(320)

    private let mayRestart: (_ losingUndo: Bool) async -> Bool
    private let restart: () -> Void
    private var waiting: Timeout?

    /// - Parameter mayRestart: returns whether nothing would be lost now.
    init(mayRestart: @escaping (_ losingUndo: Bool) async -> Bool, restart: @escaping () -> Void) {
        self.mayRestart = mayRestart
        self.restart = restart
    }

    /// Restarts after a while, once nothing would be lost.
    func schedule() { schedule(after: Self.delay) }

    func cancel() { waiting = nil }

    private func schedule(after delay: Duration) {
        waiting = Timeout(after: delay) { [weak self] in
            Task {
                guard let self, let waiting = self.waiting else { return }
                let mayRestart = await self.mayRestart(delay >= Self.undoDelay) && Self.program != nil
                guard self.waiting === waiting else { return }
                if mayRestart { self.restart() } else { self.schedule(after: min(delay * 2, Self.maxDelay)) }
            }
        }
    }

    // MARK: The process

    /// Holds the time of the restart in seconds since 1970.
    private static let variable = "PARLANCE_RESTARTED"

    /// Returns when the process before this one ended, or `nil` if the program was started. Call this while the process
    /// has a single thread.
    static func time() -> Date? {
        guard let text = getenv(variable).map({ String(cString: $0) }) else { return nil }
        unsetenv(variable)
        return Double(text).map { Date(timeIntervalSince1970: $0) }
    }

    /// The file of the program, or `nil` if it was replaced or removed since it was started.
    private static var program: String? {
        let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return path.flatMap { access($0, X_OK) == 0 ? $0 : nil }
    }

    /// Replaces the process. Returns only if the system refuses.
    static func perform() {
        guard let program else { return }
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(program), strdup(AutostartFile.option), nil]
        // Other threads have nothing to do any more, so that none reads the environment meanwhile.
        setenv(variable, "\(Date().timeIntervalSince1970)", 1)
        execv(program, &arguments)
        StandardError.write("cannot restart: \(String(cString: strerror(errno)))")
    }
}
