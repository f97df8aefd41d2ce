import ChatCore
import Synchronization

/// Publishes the messages that arrive while the program runs, for notifications.
final class ArrivalFeed: Sendable {
    private struct State {
        var observers = Observers<MessageArrival>()
        var isFinished = false
        /// Whether the sync has caught up since the start. What arrives before that was there before the start.
        var hasCaughtUp = false
        /// What has arrived while the sync catches up once more.
        var missed: [MessageArrival] = []
    }

    private let state = Mutex(State())

    /// All arrivals from now on.
    func arrivals() -> AsyncStream<MessageArrival> {
        let (stream, continuation) = AsyncStream.makeStream(of: MessageArrival.self, bufferingPolicy: .unbounded)
        let isFinished = state.withLock { state in
            if !state.isFinished { _ = state.observers.add(continuation) }
            return state.isFinished
        }
        if isFinished { continuation.finish() }
        return stream
    }

    func publish(_ arrivals: [MessageArrival]) {
        state.withLock { state in
            for arrival in arrivals { state.observers.yield(arrival) }
        }
    }

    /// Keeps what arrives while the sync catches up until it has: meanwhile another device may have read it.
    func keep(_ arrivals: [MessageArrival]) {
        state.withLock { state in
            guard state.hasCaughtUp else { return }
            state.missed += arrivals.map { arrival in
                var arrival = arrival
                arrival.isMissed = true
                return arrival
            }
        }
    }

    /// Notes that the sync has caught up.
    /// - Returns: what arrived meanwhile; nothing the first time.
    func caughtUp() -> [MessageArrival] {
        state.withLock { state in
            state.hasCaughtUp = true
            defer { state.missed = [] }
            return state.missed
        }
    }

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
