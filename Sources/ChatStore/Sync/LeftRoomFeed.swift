import ChatCore
import Synchronization

/// Tells of rooms that a sync removes.
final class LeftRoomFeed<Value: Sendable>: Sendable {
    private struct State {
        var observers = Observers<Value>()
        /// What nobody has observed.
        var waiting: [Value] = []
        var isFinished = false
    }

    private let state = Mutex(State())

    func values() -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self)
        state.withLock { state in
            for value in state.waiting { continuation.yield(value) }
            state.waiting = []
            if state.isFinished { continuation.finish() } else { _ = state.observers.add(continuation) }
        }
        return stream
    }

    func publish(_ value: Value) {
        state.withLock { state in
            state.observers.yield(value)
            // The observers that were there may have ended.
            if state.observers.isEmpty { state.waiting.append(value) }
        }
    }

    /// Ends all streams, including any that begin later.
    func finish() {
        state.withLock { state in
            state.isFinished = true
            state.observers.finish()
        }
    }
}
