import ChatCore
import Synchronization

/// The names and topics of rooms that this client has set, until a sync that began later.
///
/// The response to a sync that began before may be older, and would bring back what was there before.
final class SentState: Sendable {
    private struct Sent {
        let event: MessageID
        /// The number of syncs that had begun when the server had accepted it.
        let syncs: Int
    }

    /// By room and type.
    private let sent = Mutex<[RoomID: [String: Sent]]>([:])

    /// Notes an event that no sync has brought yet, whose state key is empty. Call it within the
    /// ``RoomWriter/serialized(_:)`` operation that stores what it sets.
    /// - Parameter count: The number of syncs that have begun.
    func note(_ event: MessageID, _ type: String, in room: RoomID, during count: Int) {
        sent.withLock { $0[room, default: [:]][type] = Sent(event: event, syncs: count) }
    }

    /// Returns an update of a sync without the state that this client has replaced since.
    /// - Parameter count: The number of syncs that have begun.
    func removingEarlier(from update: RoomUpdate, during count: Int) -> RoomUpdate {
        sent.withLock { sent in
            guard let own = sent[update.id] else { return update }
            let events = Set((update.state + update.timeline).map(\.id))
            // What came after such an event comes with it, or in a sync that began later.
            let remaining = own.filter { $0.value.syncs >= count && !events.contains($0.value.event) }
            sent[update.id] = remaining.isEmpty ? nil : remaining
            // With a gap, the event may be in it.
            guard !remaining.isEmpty, update.gap == nil else { return update }
            var update = update
            update.state.removeAll { $0.stateKey == "" && remaining[$0.type] != nil }
            return update
        }
    }
}
