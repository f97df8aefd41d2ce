import ChatCore

/// Requests a room's whole member list from the server when it is first needed, and notes what it permits the user.
final class MemberLists {
    private let service: any ChatService
    /// Rooms whose list was requested since they were opened.
    private var requested: Set<RoomID> = []
    /// Rooms in which power levels allow the user to notify everyone.
    private var notifiable: Set<RoomID> = []

    init(service: any ChatService) {
        self.service = service
    }

    /// Requests the list, once each time the room is opened. The members arrive with the room's timeline.
    func load(_ room: RoomID) {
        guard service.capabilities.contains(.memberList), requested.insert(room).inserted else { return }
        Task { [weak self, service] in
            do {
                let members = try await service.members(of: room)
                self?.note(members.permissions, in: room)
            } catch {
                // Mentions go without the members that are missing; the next one requests them again.
                self?.requested.remove(room)
            }
        }
    }

    /// The list is requested again when the room is opened the next time.
    func roomClosed(_ room: RoomID) { requested.remove(room) }

    /// Whether mentioning everyone notifies them. If the server decides, false until the member list is loaded.
    func mayNotifyEveryone(in room: RoomID) -> Bool {
        !service.capabilities.contains(.memberList) || notifiable.contains(room)
    }

    private func note(_ permissions: RoomMembers.Permissions, in room: RoomID) {
        if permissions.contains(.notifyEveryone) { notifiable.insert(room) } else { notifiable.remove(room) }
    }
}
