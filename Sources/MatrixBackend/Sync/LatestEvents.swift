import ChatCore
import Synchronization

/// The latest event of each room that a sync has brought, of any type.
///
/// Servers count what they cannot read, such as an edit in an encrypted room, as unread: the receipt for the message
/// before it would leave it so on the user's other devices.
final class LatestEvents: Sendable {
    private let events = Mutex<[RoomID: MessageID]>([:])

    /// Call it within the ``RoomWriter/serialized(_:)`` operation that stores the event.
    func note(_ event: MessageID, in room: RoomID) { events.withLock { $0[room] = event } }

    func forget(_ room: RoomID) { events.withLock { $0[room] = nil } }

    func event(in room: RoomID) -> MessageID? { events.withLock { $0[room] } }
}
