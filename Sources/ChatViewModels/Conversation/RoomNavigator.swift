import ChatCore
import ComposerSessions

/// Opens rooms, including ones that are not listed yet, and jumps to messages in them.
final class RoomNavigator {
    private struct Awaited {
        let room: RoomID
        let message: MessageID
        let replies: Bool
    }

    private let rooms: RoomListViewModel
    private let openRooms: OpenRooms
    private let time: Timekeeper
    /// A message to jump to once its room opens.
    private var awaited: Awaited?
    /// The maximum time for which a reply waits for its message to load.
    private static let loadingTime = Duration.seconds(10)

    init(rooms: RoomListViewModel, openRooms: OpenRooms, time: Timekeeper) {
        self.rooms = rooms
        self.openRooms = openRooms
        self.time = time
    }

    /// Opens a room once it is listed, and jumps to a message. A room with a window of its own is shown there; if that
    /// window is closing, in the main window afterwards.
    /// - Parameters:
    ///   - replies: whether to start a reply to the message.
    ///   - choice: when the user chose the room.
    func show(
        _ message: MessageID?, in room: RoomID, replies: Bool = false, as choice: UserChoice = UserChoice()
    ) {
        let message = message.map { Awaited(room: room, message: $0, replies: replies) }
        if let window = openRooms.visibleWindow(of: room) {
            window.requests.add(.present)
            if let message { show(message, in: window) }
            return
        }
        awaited = message
        rooms.select(room, as: choice)
        if openRooms.conversation?.roomID == room { roomOpened() }
    }

    /// Jumps to the awaited message. If another room was opened instead, the user has moved on.
    func roomOpened() {
        guard let awaited, let conversation = openRooms.conversation else { return }
        self.awaited = nil
        if conversation.roomID == awaited.room { show(awaited, in: conversation) }
    }

    private func show(_ message: Awaited, in conversation: Conversation) {
        conversation.timeline.send(.pages(.jump(.message(message.message))))
        if message.replies { reply(to: message.message, in: conversation) }
    }

    private func reply(to message: MessageID, in conversation: Conversation) {
        Task { [time, weak openRooms] in
            await time.wait(atMost: Self.loadingTime) { conversation.timeline.rows.message(message) != nil }
            guard openRooms?.conversation(in: conversation.roomID) === conversation else { return }
            conversation.timeline.send(.message(message, .reply))
        }
    }
}
