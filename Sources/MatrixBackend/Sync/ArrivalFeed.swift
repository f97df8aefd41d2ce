import ChatCore
import Synchronization

extension [MessageArrival] {
    /// Marks the arrivals whose notifications play no sound.
    func silenced(except audible: Set<MessageID>) -> [MessageArrival] {
        map { arrival in
            var arrival = arrival
            arrival.isSilent = !audible.contains(arrival.message.id)
            return arrival
        }
    }
}

/// Publishes new messages for notifications.
final class ArrivalFeed: Sendable {
    private struct State {
        var observers = Observers<MessageArrival>()
        var isFinished = false
        /// Whether the sync has caught up since the start, or had before a restart. Earlier messages do not notify.
        var hasCaughtUp = false
        /// The messages that arrived while the sync is catching up again.
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

    /// Holds back messages while the sync is catching up, as another device may have read them.
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

    /// Call this when the sync has caught up, and first of all after a restart.
    /// - Returns: the messages that were held back; empty the first time.
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
