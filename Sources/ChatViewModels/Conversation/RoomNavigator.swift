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
    /// The replies to start once their rooms open: the user moved on to another room before.
    private var laterReplies: [RoomID: MessageID] = [:]
    /// The maximum time for which a reply waits for its message to load.
    private static let loadingTime = Duration.seconds(10)

    init(rooms: RoomListViewModel, openRooms: OpenRooms, time: Timekeeper) {
        self.rooms = rooms
        self.openRooms = openRooms
        self.time = time
    }

    /// Opens a room once it is listed, and jumps to a message. A room with a window of its own is shown there; if that
    /// window is closing, in the main window afterwards. A user who has opened another room since the choice stays there,
    /// and a reply is started once they open this one.
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
        guard !choice.isOutdated(by: rooms.lastChoice) else {
            if let message { showWithoutMoving(message) }
            return
        }
        awaited = message
        rooms.select(room, as: choice)
        if let conversation = openRooms.conversation, conversation.roomID == room { roomOpened(conversation) }
    }

    private func showWithoutMoving(_ message: Awaited) {
        if let conversation = openRooms.conversation(in: message.room) {
            show(message, in: conversation)
        } else if message.replies {
            laterReplies[message.room] = message.message
        }
    }

    /// Jumps to the awaited message. If another room was opened instead, the user has moved on.
    func roomOpened(_ conversation: Conversation) {
        let room = conversation.roomID
        if let awaited {
            self.awaited = nil
            if awaited.room == room { return show(awaited, in: conversation) }
            showWithoutMoving(awaited)
        }
        if let message = laterReplies[room] {
            show(Awaited(room: room, message: message, replies: true), in: conversation)
        }
    }

    private func show(_ message: Awaited, in conversation: Conversation) {
        conversation.timeline.send(.pages(.jump(.message(message.message))))
        if message.replies { reply(to: message.message, in: conversation) }
    }

    private func reply(to message: MessageID, in conversation: Conversation) {
        laterReplies[conversation.roomID] = nil
        Task { [weak self, time] in
            await time.wait(atMost: Self.loadingTime) {
                conversation.timeline.rows.message(message) != nil || self?.isOpen(conversation) != true
            }
            guard let self else { return }
            if isOpen(conversation) {
                conversation.timeline.send(.message(message, .reply))
            } else {
                showWithoutMoving(Awaited(room: conversation.roomID, message: message, replies: true))
            }
        }
    }

    private func isOpen(_ conversation: Conversation) -> Bool {
        openRooms.conversation(in: conversation.roomID) === conversation
    }
}
