import ChatCore

/// To which rooms' notifications the user may reply.
final class ReplyPermissions {
    private let service: any ChatService
    private var obstructed: Set<RoomID> = []

    init(service: any ChatService) {
        self.service = service
    }

    /// Finds out whether the user can send messages to a room.
    func check(_ room: RoomID) async {
        if await SendingObstacle.of(room, in: service) == nil {
            obstructed.remove(room)
        } else {
            obstructed.insert(room)
        }
    }

    func acceptsReply(_ room: RoomID) -> Bool { !obstructed.contains(room) }
}
