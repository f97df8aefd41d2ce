import ChatCore
import Observation

/// The open rooms, shared by the objects that act on them: one in the main window, others in windows of their own.
@Observable
final class OpenRooms {
    /// The room in the main window.
    var conversation: Conversation?
    /// The rooms in windows of their own, in the order in which those were opened.
    var inWindows: [Conversation] = []
    /// The rooms whose windows are closing: hidden, but not yet destroyed.
    @ObservationIgnored var closingWindows: Set<RoomID> = []
    /// Those of them that were opened again meanwhile, and get another window.
    @ObservationIgnored var reopeningWindows: Set<RoomID> = []

    var all: [Conversation] { (conversation.map { [$0] } ?? []) + inWindows }

    /// Returns the conversation if the room is open in any window.
    func conversation(in room: RoomID) -> Conversation? { all.first { $0.roomID == room } }

    /// Returns the conversation if the room has a window of its own.
    func window(of room: RoomID) -> Conversation? { inWindows.first { $0.roomID == room } }

    /// Returns the conversation if the room has a window of its own that is not closing.
    func visibleWindow(of room: RoomID) -> Conversation? { closingWindows.contains(room) ? nil : window(of: room) }

    /// The known other members of a room; empty unless it is open.
    func otherMembers(of room: RoomID) -> [Member] {
        conversation(in: room)?.timeline.otherMembers ?? []
    }

    /// The name of a member of an open room; `nil` for others.
    func name(of user: MemberID) -> String? {
        all.lazy.compactMap { $0.timeline.member(user) }.first?.displayName
    }
}
