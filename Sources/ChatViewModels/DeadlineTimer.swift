/// Calls back when the engine of a composer has something to do.
final class DeadlineTimer {
    private let time: Timekeeper
    private var pending: (deadline: Duration, task: Task<Void, Never>)?

    init(_ time: Timekeeper) {
        self.time = time
    }

    isolated deinit { pending?.task.cancel() }

    /// Plans the one call to come; nil plans none.
    /// - Parameter fire: told what time it is, which is not before the deadline.
    func schedule(_ deadline: Duration?, _ fire: @escaping (Duration) -> Void) {
        guard let deadline else {
            pending?.task.cancel()
            pending = nil
            return
        }
        if let pending, pending.deadline == deadline { return }
        pending?.task.cancel()
        let task = Task { [weak self, time] in
            guard (try? await time.sleep(deadline)) != nil, !Task.isCancelled, let self else { return }
            self.pending = nil
            fire(max(deadline, time.now()))
        }
        pending = (deadline, task)
    }
}
