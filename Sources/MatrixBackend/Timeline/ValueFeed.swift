import ChatCore
import Synchronization

/// A value and its observers. A slow observer gets only the newest value.
final class ValueFeed<Value: Equatable & Sendable>: Sendable {
    private struct State {
        var value: Value
        var observers = Observers<Value>()
        var isFinished = false
    }

    private let state: Mutex<State>

    init(_ value: Value) {
        state = Mutex(State(value: value))
    }

    var value: Value { state.withLock { $0.value } }
    /// Whether anybody waits for changes.
    var isObserved: Bool { state.withLock { !$0.observers.isEmpty } }

    /// The current value, then each change.
    func values() -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(1))
        let token: Int? = state.withLock { state in
            guard !state.isFinished else { return nil }
            continuation.yield(state.value)
            return state.observers.add(continuation)
        }
        if let token {
            // In a task of its own: the stream may end while a value is published under the lock.
            continuation.onTermination = { [weak self] _ in Task { self?.remove(token) } }
        } else {
            continuation.finish()
        }
        return stream
    }

    private func remove(_ token: Int) { state.withLock { $0.observers.remove(token) } }

    /// Publishes a value that differs.
    /// - Returns: `false` if it is the current one, or if all streams have ended.
    @discardableResult
    func set(_ value: Value) -> Bool {
        state.withLock { state in
            guard value != state.value, !state.isFinished else { return false }
            state.value = value
            state.observers.yield(value)
            return true
        }
    }

    /// Ends all streams, including any that begin later. The value does not change any more.
    func finish() {
        // Outside the lock, so that no termination handler runs while it is held.
        var observers = state.withLock { state in
            state.isFinished = true
            defer { state.observers = Observers() }
            return state.observers
        }
        observers.finish()
    }
}
