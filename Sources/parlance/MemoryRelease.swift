import GtkKit

/// Gives memory back some time after a session or window was opened or closed, once that has come to rest.
final class MemoryRelease {
    /// How often to look for blocked threads with a window, and without one; in seconds.
    private static let (intervalWithWindow, intervalWithoutWindow): (UInt64, UInt64) = (30, 60)

    private var releasing: Timeout?
    private var forgetting: Timeout?

    /// Call this before showing a window.
    func windowOpens() { DispatchMonitor.setInterval(seconds: Self.intervalWithWindow) }

    /// Gives back what only the start needed, and what a session without a window does not need.
    /// - Parameters:
    ///   - session: returns the session that runs by then, if any.
    ///   - hasWindow: returns whether there is a window by then.
    func schedule(
        for session: @escaping @MainActor () -> RunningSession?, hasWindow: @escaping @MainActor () -> Bool
    ) {
        // A start maps two thirds of the code, most of it because Linux maps what is around what runs.
        forgetting = Timeout(after: .milliseconds(1500)) { Task { await Memory.forgetCode() } }
        releasing = Timeout(after: .seconds(4)) {
            guard let session = session() else { return }
            let hasWindow = hasWindow()
            DispatchMonitor.setInterval(
                seconds: hasWindow ? Self.intervalWithWindow : Self.intervalWithoutWindow)
            Task {
                if !hasWindow {
                    await session.releaseMemory()
                    await Memory.trim()
                }
                await Memory.forgetCode()
            }
        }
    }
}
