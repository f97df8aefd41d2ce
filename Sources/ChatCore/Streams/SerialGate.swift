import Synchronization

/// Runs operations one at a time, in the order of the calls, across their suspensions.
///
/// An operation may pass the gate again: in the same task a nested call runs at once, as part of the operation that
/// holds the gate, and so cannot wait for itself. This does not hold for other tasks: an operation must not await a
/// task that waits at the same gate.
public final class SerialGate: Sendable {
    private struct Waiter {
        let id: Int
        let task: TaskIdentity
        /// Receives whether the waiter now holds the gate; `false` after a cancellation.
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        /// The task whose operation is running.
        var holder: TaskIdentity?
        var waiters: [Waiter] = []
        var lastID = 0
    }

    private enum Entry {
        case first, nested, canceled
    }

    private let state = Mutex(State())

    public init() {}

    /// Runs an operation when all earlier ones have ended.
    /// - Throws: `CancellationError` if the task is canceled before that, in which case the operation does not run.
    ///   Otherwise the operation's error.
    public func run<T>(_ operation: () async throws -> T) async throws -> T {
        try Task.checkCancellation()
        switch await enter(isCancelable: true) {
        case .canceled: throw CancellationError()
        case .nested: return try await operation()
        case .first:
            defer { leave() }
            return try await operation()
        }
    }

    /// Runs an operation when all earlier ones have ended, even if the task is canceled: for work that must happen
    /// in any case, such as closing. The operation sees the cancellation.
    public func runEvenIfCanceled<T>(_ operation: () async throws -> T) async rethrows -> T {
        let entry = await enter(isCancelable: false)
        defer { if entry == .first { leave() } }
        return try await operation()
    }

    private func enter(isCancelable: Bool) async -> Entry {
        let task = TaskIdentity.current
        let id: Int? = state.withLock { state in
            if state.holder == task { return nil }
            state.lastID += 1
            return state.lastID
        }
        guard let id else { return .nested }
        let isHolder = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = Waiter(id: id, task: task, continuation: continuation)
                if let isHolder = enqueue(waiter, isCancelable: isCancelable) {
                    continuation.resume(returning: isHolder)
                }
            }
        } onCancel: {
            if isCancelable { removeWaiter(id)?.resume(returning: false) }
        }
        return isHolder ? .first : .canceled
    }

    /// - Returns: Whether the waiter holds the gate, or `nil` if it has to wait.
    private func enqueue(_ waiter: Waiter, isCancelable: Bool) -> Bool? {
        state.withLock { state in
            // A cancellation before this point found no waiter to remove; a later one will find it.
            if isCancelable, Task.isCancelled { return false }
            if state.holder == nil {
                state.holder = waiter.task
                return true
            }
            state.waiters.append(waiter)
            return nil
        }
    }

    private func removeWaiter(_ id: Int) -> CheckedContinuation<Bool, Never>? {
        state.withLock { state in
            state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0).continuation }
        }
    }

    /// Hands the gate over, so that no later call gets ahead of those that wait.
    private func leave() {
        let next = state.withLock { state in
            let next = state.waiters.isEmpty ? nil : state.waiters.removeFirst()
            state.holder = next?.task
            return next
        }
        next?.continuation.resume(returning: true)
    }
}

/// Tells tasks apart while they run. Not a task-local value: tasks that an operation starts would inherit that.
private struct TaskIdentity: Equatable, @unchecked Sendable {
    /// Used only for comparison.
    private let task: UnsafeCurrentTask?

    static var current: TaskIdentity { withUnsafeCurrentTask { TaskIdentity(task: $0) } }
}
