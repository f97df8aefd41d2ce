import ChatCore
import Observation

/// The open room, shared by the objects that act on it.
@Observable
final class OpenRoom {
    var conversation: Conversation?

    /// Returns the conversation if it is of this room.
    func conversation(in room: RoomID) -> Conversation? {
        conversation.flatMap { $0.roomID == room ? $0 : nil }
    }

    /// The known other members of a room; empty unless it is open.
    func otherMembers(of room: RoomID) -> [Member] {
        conversation(in: room)?.timeline.state.otherMembers ?? []
    }
}
