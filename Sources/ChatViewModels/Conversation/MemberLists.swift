import ChatCore

/// Requests a room's whole member list from the server when it is first needed, and records what it permits the
/// user.
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
                // Completion does without the missing members; the next mention requests the list again.
                self?.requested.remove(room)
            }
        }
    }

    /// Makes the next opening of the room request the list again.
    func roomClosed(_ room: RoomID) { requested.remove(room) }

    /// Whether mentioning everyone notifies them. If the server decides, false until the member list is loaded.
    func mayNotifyEveryone(in room: RoomID) -> Bool {
        !service.capabilities.contains(.memberList) || notifiable.contains(room)
    }

    private func note(_ permissions: RoomMembers.Permissions, in room: RoomID) {
        if permissions.contains(.notifyEveryone) { notifiable.insert(room) } else { notifiable.remove(room) }
    }
}
