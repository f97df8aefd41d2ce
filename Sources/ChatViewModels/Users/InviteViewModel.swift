public import ChatCore
public import Observation

/// Invites people to a room.
@Observable
public final class InviteViewModel: ViewModel {
    public nonisolated struct State: Equatable, Sendable {
        public var isInviting = false
        /// Whether all chosen users have been invited, so that the dialog can close.
        public var isDone = false
        /// The first error; users who could not be invited stay selected.
        public var error: ChatError?
    }

    public nonisolated enum Action: Equatable, Sendable {
        case invite
    }

    public let userSearch: UserSearchViewModel
    public private(set) var state = State()
    @ObservationIgnored private let onDone: ([User]) -> Void
    @ObservationIgnored private let onFailure: (ChatError) -> Void
    @ObservationIgnored private var isAbandoned = false
    @ObservationIgnored private let room: RoomID
    @ObservationIgnored private let service: any RoomCapabilityService

    /// - Parameters:
    ///   - excluded: users not to offer, such as members.
    ///   - onDone: called with those who have been invited, also if others could not be.
    ///   - onFailure: receives an error that occurs after ``abandon()``.
    public init(
        room: RoomID, service: any RoomCapabilityService & RoomMembersService, excluding excluded: Set<MemberID> = [],
        onDone: @escaping ([User]) -> Void = { _ in }, onFailure: @escaping (ChatError) -> Void = { _ in }
    ) {
        self.room = room
        self.service = service
        self.onDone = onDone
        self.onFailure = onFailure
        userSearch = UserSearchViewModel(service: service, excluding: excluded)
    }

    public var canInvite: Bool { !state.isInviting && !userSearch.state.chosen.isEmpty }

    public func send(_ action: Action) {
        guard canInvite else { return }
        state = State(isInviting: true)
        let chosen = userSearch.state.chosen
        Task { [self, service, room] in
            var invited: [User] = []
            var problem: ChatError?
            for user in chosen {
                do {
                    try await service.invite(user.id.rawValue, to: room)
                    invited.append(user)
                } catch {
                    problem = problem ?? ChatError(error)
                }
            }
            // The user may have chosen others meanwhile, or given up some whose invitation failed.
            userSearch.exclude(Set(invited.map(\.id)))
            state = State(isDone: problem == nil && userSearch.state.chosen.isEmpty, error: problem)
            if let problem, isAbandoned { onFailure(problem) }
            if !invited.isEmpty { onDone(invited) }
        }
    }

    /// Call when the dialog is closed: pending invitations are still sent.
    public func abandon() { isAbandoned = true }
}
