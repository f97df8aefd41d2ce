import Observation

/// Reports a value of observable state now and after each change, for the lifetime of this object.
final class ChangeSubscription {
    private let task: Task<Void, Never>

    init<Value: Sendable>(
        to value: @escaping @MainActor () -> Value, _ receive: @escaping @MainActor (Value) -> Void
    ) {
        task = Task {
            for await next in Observations<Value, Never>({ value() }) {
                guard !Task.isCancelled else { return }
                receive(next)
            }
        }
    }

    isolated deinit { task.cancel() }
}
