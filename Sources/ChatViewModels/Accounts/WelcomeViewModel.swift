public import ChatCore
public import Observation

/// The welcome page, which offers rooms on this computer and accounts.
@Observable
public final class WelcomeViewModel: ViewModel {
    public nonisolated struct State: Equatable, Sendable {
        /// Whether the user has not chosen yet.
        public var isPending = true
        /// Whether the first rooms are being created.
        public var isCreating = false
        /// Why they could not be created.
        public var error: ChatError?

        public var canChoose: Bool { !isCreating }
    }

    public nonisolated enum Action: Equatable, Sendable {
        /// Creates the rooms on this computer.
        case chooseThisComputer
    }

    public private(set) var state = State()
    @ObservationIgnored private let service: any FirstRoomsService

    public init(service: any FirstRoomsService) {
        self.service = service
        state.isPending = service.awaitsFirstRooms
    }

    public func send(_ action: Action) {
        guard state.isPending, state.canChoose else { return }
        state.isCreating = true
        state.error = nil
        Task {
            do {
                try await service.createFirstRooms()
                state.isPending = false
            } catch {
                state.error = ChatError(error)
            }
            state.isCreating = false
        }
    }
}
