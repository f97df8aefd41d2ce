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
        /// The sealed messages that have arrived since the start, and whether the sync was catching up then.
        var sealed: [MessageID: Bool] = [:]
        /// Whether the next response may have keys from before the sync caught up.
        var awaitsEarlierKeys = false
    }

    /// Rooms whose messages are never readable must not fill the memory.
    private static let maxSealed = 10_000

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

    /// Notes messages of a sync that cannot be read yet.
    /// - Parameter isLive: Whether the sync had caught up before.
    func noteSealed(_ messages: [MessageID], isLive: Bool) {
        state.withLock { state in
            guard isLive || state.hasCaughtUp else { return }
            if state.sealed.count + messages.count > Self.maxSealed { state.sealed = [:] }
            for message in messages { state.sealed[message] = !isLive }
        }
    }

    /// Notes whether a response has a full page of keys: those from before the sync caught up may then come with the
    /// next one.
    /// - Returns: Whether the keys of this response may be from before.
    func noteKeys(isFull: Bool, isLive: Bool) -> Bool {
        state.withLock { state in
            let areEarlier = !isLive || state.awaitsEarlierKeys
            state.awaitsEarlierKeys = isFull && areEarlier
            return areEarlier
        }
    }

    /// Publishes messages that could be read only after they had arrived.
    /// - Parameter mayBeEarlier: Whether they may have arrived before the start. Those do not notify, as what was
    ///   readable then has not.
    func publishOpened(_ arrivals: [MessageArrival], mayBeEarlier: Bool) {
        state.withLock { state in
            for var arrival in arrivals {
                if let isMissed = state.sealed.removeValue(forKey: arrival.message.id) {
                    arrival.isMissed = isMissed
                } else if mayBeEarlier {
                    continue
                }
                state.observers.yield(arrival)
            }
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

    /// Holds back messages that could be read only after they had arrived. Those from before the start do not notify.
    func keepOpened(_ arrivals: [MessageArrival]) {
        keep(state.withLock { state in arrivals.filter { state.sealed.removeValue(forKey: $0.message.id) != nil } })
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
