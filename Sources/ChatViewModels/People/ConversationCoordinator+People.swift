public import ChatCore

/// Creating rooms, and finding and inviting people.
extension ConversationCoordinator {
    /// Whether the backend has a user directory.
    public var canSearchUsers: Bool { service.capabilities.contains(.userDirectory) }

    /// Returns the view model of the dialog that creates and opens a room, or `nil` if only local rooms exist.
    /// - Parameter ownUserID: the user's Matrix ID.
    public func newRoom(by ownUserID: MemberID?) -> NewRoomViewModel? {
        guard canSearchUsers else { return nil }
        let viewModel = NewRoomViewModel(service: service, ownUserID: ownUserID)
        viewModel.onCreated = { [weak rooms] in rooms?.send(.select($0)) }
        viewModel.onFailure = { [weak self] in self?.onToast?(.failed($0)) }
        return viewModel
    }

    /// Returns the view model of the user search dialog, or `nil` if there is no user directory.
    public func userSearch() -> UserSearchViewModel? {
        canSearchUsers ? UserSearchViewModel(service: service) : nil
    }

    /// Returns the view model of the invitation dialog, or `nil` if there is no user directory.
    public func inviting(to room: RoomID) -> InviteViewModel? {
        guard canSearchUsers else { return nil }
        let open = conversation.flatMap { $0.roomID == room ? $0.timeline.state.otherMembers : nil } ?? []
        let viewModel = InviteViewModel(room: room, service: service, excluding: Set(open.map(\.id)))
        viewModel.onFailure = { [weak self] in self?.onToast?(.failed($0)) }
        return viewModel
    }
}
