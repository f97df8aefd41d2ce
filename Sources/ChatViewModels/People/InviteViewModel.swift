public import ChatCore
public import Observation

/// Asks people into a room.
@Observable
public final class InviteViewModel: ViewModel {
    public nonisolated struct State: Equatable, Sendable {
        public var isInviting = false
        /// Why somebody could not be asked: those stay chosen.
        public var error: ChatError?
    }

    public nonisolated enum Action: Equatable, Sendable {
        case invite
    }

    public let people: PeopleSearchViewModel
    public private(set) var state = State()
    /// All were asked.
    @ObservationIgnored public var onDone: (([Person]) -> Void)?
    /// Told of why somebody could not be asked, after ``abandon()``.
    @ObservationIgnored public var onFailure: ((ChatError) -> Void)?
    @ObservationIgnored private var isAbandoned = false
    @ObservationIgnored private let room: RoomID
    @ObservationIgnored private let service: any RoomAbilityService

    public init(
        room: RoomID, service: any RoomAbilityService & RoomPeopleService, excluding excluded: Set<MemberID> = []
    ) {
        self.room = room
        self.service = service
        people = PeopleSearchViewModel(service: service, excluding: excluded)
    }

    public var canInvite: Bool { !state.isInviting && !people.state.chosen.isEmpty }

    public func send(_ action: Action) {
        guard canInvite else { return }
        state = State(isInviting: true)
        let chosen = people.state.chosen
        Task { [self, service, room] in
            var left: [Person] = []
            var problem: ChatError?
            for person in chosen {
                do {
                    try await service.invite(person.id.rawValue, to: room)
                } catch {
                    left.append(person)
                    problem = problem ?? ChatError(error)
                }
            }
            state = State(error: problem)
            people.keep(left)
            if let problem, isAbandoned { onFailure?(problem) }
            if left.isEmpty { onDone?(chosen) }
        }
    }

    /// Nobody looks at this any more: whoever is being asked is asked still.
    public func abandon() { isAbandoned = true }
}
