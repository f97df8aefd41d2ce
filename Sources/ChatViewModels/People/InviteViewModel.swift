public import ChatCore
public import Observation

/// Invites people to a room.
@Observable
public final class InviteViewModel: ViewModel {
    public nonisolated struct State: Equatable, Sendable {
        public var isInviting = false
        /// The first error; users who could not be invited stay selected.
        public var error: ChatError?
    }

    public nonisolated enum Action: Equatable, Sendable {
        case invite
    }

    public let userSearch: UserSearchViewModel
    public private(set) var state = State()
    /// Called when all users have been invited.
    @ObservationIgnored public var onDone: (([User]) -> Void)?
    /// Receives an error that occurs after ``abandon()``.
    @ObservationIgnored public var onFailure: ((ChatError) -> Void)?
    @ObservationIgnored private var isAbandoned = false
    @ObservationIgnored private let room: RoomID
    @ObservationIgnored private let service: any RoomCapabilityService

    public init(
        room: RoomID, service: any RoomCapabilityService & RoomMembersService, excluding excluded: Set<MemberID> = []
    ) {
        self.room = room
        self.service = service
        userSearch = UserSearchViewModel(service: service, excluding: excluded)
    }

    public var canInvite: Bool { !state.isInviting && !userSearch.state.chosen.isEmpty }

    public func send(_ action: Action) {
        guard canInvite else { return }
        state = State(isInviting: true)
        let chosen = userSearch.state.chosen
        Task { [self, service, room] in
            var failedUsers: [User] = []
            var problem: ChatError?
            for user in chosen {
                do {
                    try await service.invite(user.id.rawValue, to: room)
                } catch {
                    failedUsers.append(user)
                    problem = problem ?? ChatError(error)
                }
            }
            state = State(error: problem)
            userSearch.setChosen(failedUsers)
            if let problem, isAbandoned { onFailure?(problem) }
            if failedUsers.isEmpty { onDone?(chosen) }
        }
    }

    /// Call when the dialog is closed: pending invitations are still sent.
    public func abandon() { isAbandoned = true }
}
