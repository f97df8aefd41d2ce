import ChatCore

/// Opens rooms, including ones that are not listed yet, and jumps to messages in them.
final class RoomNavigator {
    private let rooms: RoomListViewModel
    private let openRoom: OpenRoom
    /// A message to jump to once its room opens.
    private var awaited: (room: RoomID, message: MessageID)?

    init(rooms: RoomListViewModel, openRoom: OpenRoom) {
        self.rooms = rooms
        self.openRoom = openRoom
    }

    /// Opens a room once it is in the list, and jumps to a message in it.
    func show(_ message: MessageID?, in room: RoomID) {
        awaited = message.map { (room, $0) }
        rooms.send(.select(room))
        if openRoom.conversation(in: room) != nil { roomOpened() }
    }

    /// Jumps to the awaited message. If another room was opened instead, the user has moved on.
    func roomOpened() {
        guard let awaited, let conversation = openRoom.conversation else { return }
        self.awaited = nil
        if conversation.roomID == awaited.room { conversation.timeline.send(.pages(.jump(.message(awaited.message)))) }
    }
}
