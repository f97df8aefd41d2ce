import ChatCore
import Observation

/// The room that is open, shared by those who act on it.
@Observable
final class OpenRoom {
    var conversation: Conversation?

    /// Returns the conversation if it is of this room.
    func conversation(in room: RoomID) -> Conversation? {
        conversation.flatMap { $0.roomID == room ? $0 : nil }
    }

    /// The other members of a room, as far as they are known; empty unless it is open.
    func otherMembers(of room: RoomID) -> [Member] {
        conversation(in: room)?.timeline.state.otherMembers ?? []
    }
}
