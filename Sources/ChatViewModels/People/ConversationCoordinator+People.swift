public import ChatCore

/// Rooms that are made for people, and people who are asked into rooms.
extension ConversationCoordinator {
    /// Whether people can be searched for.
    public var canSearchUsers: Bool { service.capabilities.contains(.userDirectory) }

    /// View model of a dialog that makes a room and opens it; nil where rooms are for oneself.
    /// - Parameter ownUserID: who the user is.
    public func newRoom(by ownUserID: MemberID?) -> NewRoomViewModel? {
        guard canSearchUsers else { return nil }
        let viewModel = NewRoomViewModel(service: service, ownUserID: ownUserID)
        viewModel.onCreated = { [weak rooms] in rooms?.send(.select($0)) }
        viewModel.onFailure = { [weak self] in self?.onToast?(.failed($0)) }
        return viewModel
    }

    /// View model of a dialog that finds somebody to write to; nil where nobody is to be found.
    public func userSearch() -> UserSearchViewModel? {
        canSearchUsers ? UserSearchViewModel(service: service) : nil
    }

    /// View model of a dialog that asks people into a room; nil where nobody can be asked.
    public func inviting(to room: RoomID) -> InviteViewModel? {
        guard canSearchUsers else { return nil }
        let open = conversation.flatMap { $0.roomID == room ? $0.timeline.state.otherMembers : nil } ?? []
        let viewModel = InviteViewModel(room: room, service: service, excluding: Set(open.map(\.id)))
        viewModel.onFailure = { [weak self] in self?.onToast?(.failed($0)) }
        return viewModel
    }
}
