public import ChatCore

/// Rooms that are made for people, and people who are asked into rooms.
extension ConversationCoordinator {
    /// Whether people can be searched for.
    public var findsPeople: Bool { service.abilities.contains(.people) }

    /// View model of a dialog that makes a room and opens it; nil where rooms are for oneself.
    /// - Parameter own: who the user is.
    public func newRoom(by own: MemberID?) -> NewRoomViewModel? {
        guard findsPeople else { return nil }
        let viewModel = NewRoomViewModel(service: service, own: own)
        viewModel.onCreated = { [weak rooms] in rooms?.send(.select($0)) }
        viewModel.onFailure = { [weak self] in self?.onNotice?(.failed($0)) }
        return viewModel
    }

    /// View model of a dialog that finds somebody to write to; nil where nobody is to be found.
    public func peopleSearch() -> PeopleSearchViewModel? {
        findsPeople ? PeopleSearchViewModel(service: service) : nil
    }

    /// View model of a dialog that asks people into a room; nil where nobody can be asked.
    public func inviting(to room: RoomID) -> InviteViewModel? {
        guard findsPeople else { return nil }
        let open = conversation.flatMap { $0.roomID == room ? $0.timeline.state.otherMembers : nil } ?? []
        let viewModel = InviteViewModel(room: room, service: service, excluding: Set(open.map(\.id)))
        viewModel.onFailure = { [weak self] in self?.onNotice?(.failed($0)) }
        return viewModel
    }
}
