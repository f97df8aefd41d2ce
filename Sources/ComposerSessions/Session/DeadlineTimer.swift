/// Fires at a deadline, such as that of a composer's engine.
@MainActor package final class DeadlineTimer {
    private let time: Timekeeper
    private var pending: (deadline: Duration, task: Task<Void, Never>)?

    package init(_ time: Timekeeper) {
        self.time = time
    }

    isolated deinit { pending?.task.cancel() }

    /// Schedules the only call, replacing any other; `nil` cancels it.
    /// - Parameter fire: receives the current time, which is never before the deadline.
    package func schedule(_ deadline: Duration?, _ fire: @escaping (Duration) -> Void) {
        guard let deadline else {
            pending?.task.cancel()
            pending = nil
            return
        }
        if let pending, pending.deadline == deadline { return }
        pending?.task.cancel()
        let task = Task { [weak self, time] in
            do { try await time.sleep(deadline) } catch { return }
            guard !Task.isCancelled, let self else { return }
            self.pending = nil
            fire(max(deadline, time.now()))
        }
        pending = (deadline, task)
    }
}
