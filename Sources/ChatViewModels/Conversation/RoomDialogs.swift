public import ChatCore

/// Makes the view models of the dialogs about rooms and their members. What fails after a dialog has closed is shown in
/// the window.
public struct RoomDialogs {
    let service: any ChatService
    let session: AccountSession
    let rooms: RoomListViewModel
    let openRooms: OpenRooms
    let requests: WindowRequests

    /// Whether the backend has a user directory.
    public var canSearchUsers: Bool { service.capabilities.contains(.userDirectory) }

    /// Returns the view model of a room's details, or `nil` if the room is not in the list.
    public func details(of room: RoomID) -> RoomDetailsViewModel? {
        guard let row = rooms.state.rows.first(where: { $0.id == room }) else { return nil }
        return RoomDetailsViewModel(
            room: room, name: row.name, kind: row.kind, avatar: row.avatar, service: service,
            encryption: session.encryption, onFailure: showFailure)
    }

    /// Returns the view model of the dialog that creates and opens a room, or `nil` if only local rooms exist.
    /// - Parameter ownUserID: the user's Matrix ID.
    public func newRoom(by ownUserID: MemberID?) -> NewRoomViewModel? {
        guard canSearchUsers else { return nil }
        return NewRoomViewModel(
            service: service, ownUserID: ownUserID, encryption: { [session] in session.encryption },
            onCreated: { [weak rooms] in rooms?.send(.select($0)) },
            onFailure: showFailure)
    }

    /// Returns the view model of the user search, or `nil` if there is no user directory.
    public func userSearch() -> UserSearchViewModel? {
        canSearchUsers ? UserSearchViewModel(service: service) : nil
    }

    /// Returns the view model of the invitation dialog, or `nil` if there is no user directory.
    public func inviting(to room: RoomID) -> InviteViewModel? {
        guard canSearchUsers else { return nil }
        return InviteViewModel(
            room: room, service: service, excluding: Set(openRooms.otherMembers(of: room).map(\.id)),
            onFailure: showFailure)
    }

    private var showFailure: (ChatError) -> Void { { [requests] in requests.show(.failed($0)) } }
}
