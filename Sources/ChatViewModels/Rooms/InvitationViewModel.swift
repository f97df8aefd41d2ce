public import ChatCore
public import Observation

/// An open invitation, which can be accepted or declined.
@Observable
public final class InvitationViewModel: ViewModel {
    public nonisolated enum Decision: Equatable, Sendable {
        case accept, decline
    }

    public nonisolated struct State: Equatable, Sendable {
        public var invitation: Invitation
        /// The decision being sent.
        public var pendingDecision: Decision?
        /// Why the last decision could not be sent.
        public var error: ChatError?

        public var canDecide: Bool { pendingDecision == nil }
        /// Whether there is something to accept: the user's own knock can only be withdrawn.
        public var canBeAccepted: Bool { !invitation.isKnock }
    }

    public nonisolated enum Output: Equatable, Sendable {
        case accepted(RoomID)
        /// The invitation was declined or withdrawn.
        case removed(RoomID)
    }

    public private(set) var state: State
    @ObservationIgnored private let onOutput: (Output) -> Void
    @ObservationIgnored private let service: any InvitationService

    public init(
        _ invitation: Invitation, service: any InvitationService, onOutput: @escaping (Output) -> Void = { _ in }
    ) {
        state = State(invitation: invitation)
        self.service = service
        self.onOutput = onOutput
    }

    /// Updates the displayed details of the invitation.
    func update(_ invitation: Invitation) {
        if invitation != state.invitation { state.invitation = invitation }
    }

    public func send(_ decision: Decision) {
        guard state.canDecide else { return }
        state.pendingDecision = decision
        state.error = nil
        let room = state.invitation.room
        Task { [weak self, service] in
            do {
                switch decision {
                case .accept: try await service.accept(room)
                case .decline: try await service.decline(room)
                }
                // A user who has moved on meanwhile is not brought back.
                self?.onOutput(decision == .accept ? .accepted(room) : .removed(room))
            } catch {
                self?.state.pendingDecision = nil
                self?.state.error = ChatError(error)
            }
        }
    }
}
