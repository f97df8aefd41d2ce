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
    private let openRoom: OpenRoom
    private let time: Timekeeper
    /// A message to jump to once its room opens.
    private var awaited: Awaited?
    /// How long a reply waits for its message to be loaded.
    private static let loadingTime = Duration.seconds(10)

    init(rooms: RoomListViewModel, openRoom: OpenRoom, time: Timekeeper) {
        self.rooms = rooms
        self.openRoom = openRoom
        self.time = time
    }

    /// Opens a room once it is in the list, and jumps to a message in it.
    /// - Parameter replies: whether the composer begins a reply to the message.
    func show(_ message: MessageID?, in room: RoomID, replies: Bool = false) {
        awaited = message.map { Awaited(room: room, message: $0, replies: replies) }
        rooms.send(.select(room))
        if openRoom.conversation(in: room) != nil { roomOpened() }
    }

    /// Jumps to the awaited message. If another room was opened instead, the user has moved on.
    func roomOpened() {
        guard let awaited, let conversation = openRoom.conversation else { return }
        self.awaited = nil
        guard conversation.roomID == awaited.room else { return }
        conversation.timeline.send(.pages(.jump(.message(awaited.message))))
        if awaited.replies { reply(to: awaited.message, in: conversation) }
    }

    private func reply(to message: MessageID, in conversation: Conversation) {
        Task { [time, weak openRoom] in
            await time.wait(atMost: Self.loadingTime) { conversation.timeline.rows.message(message) != nil }
            guard openRoom?.conversation === conversation else { return }
            conversation.timeline.send(.message(message, .reply))
        }
    }
}
