import Observation

/// Reports a value of observable state now and after each change, for the lifetime of this object.
final class ChangeSubscription {
    private let task: Task<Void, Never>
    private let end: SubscriptionEnd

    init<Value: Sendable>(
        to value: @escaping @MainActor () -> Value, _ receive: @escaping @MainActor (Value) -> Void
    ) {
        let end = SubscriptionEnd()
        self.end = end
        let changes = Observations<Value, Never> {
            _ = end.isReached
            return value()
        }
        task = Task {
            for await next in changes {
                guard !Task.isCancelled else { return }
                receive(next)
            }
        }
    }

    isolated deinit {
        task.cancel()
        end.isReached = true
    }
}

/// Is tracked with the value: a tracking stays with every object that was read, also after the task is canceled, until
/// one of them changes. Those of an account live for days, and many never change.
@Observable private final class SubscriptionEnd {
    var isReached = false
}
