import ChatCore
import Synchronization

/// Publishes the display names under which the user appears in rooms.
final class OwnNames: Sendable {
    private struct State {
        var observers = Observers<String>()
        var isFinished = false
    }

    private let state = Mutex(State())

    /// Names published from now on, including repeated ones. The stream buffers only the newest.
    func names() -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(1))
        let isFinished = state.withLock { state in
            if !state.isFinished { _ = state.observers.add(continuation) }
            return state.isFinished
        }
        if isFinished { continuation.finish() }
        return stream
    }

    func publish(_ name: String) { state.withLock { $0.observers.yield(name) } }

    /// Ends all streams, including any that begin later.
    func finish() {
        var observers = state.withLock { state in
            state.isFinished = true
            defer { state.observers = Observers() }
            return state.observers
        }
        observers.finish()
    }
}
