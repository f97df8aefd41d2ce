import ChatCore
import Synchronization

/// Tells of what was unsent in rooms that are removed.
final class UnsentFeed: Sendable {
    private struct State {
        var observers = Observers<UnsentContent>()
        /// What nobody has observed.
        var waiting: [UnsentContent] = []
        var isFinished = false
    }

    private let state = Mutex(State())

    func contents() -> AsyncStream<UnsentContent> {
        let (stream, continuation) = AsyncStream.makeStream(of: UnsentContent.self)
        state.withLock { state in
            for content in state.waiting { continuation.yield(content) }
            state.waiting = []
            if state.isFinished { continuation.finish() } else { _ = state.observers.add(continuation) }
        }
        return stream
    }

    func publish(_ content: UnsentContent) {
        state.withLock { state in
            state.observers.yield(content)
            // The observers that were there may have ended.
            if state.observers.isEmpty { state.waiting.append(content) }
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
