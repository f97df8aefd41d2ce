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
        /// Whether the user has accepted it, so that the room follows.
        public var isAccepted: Bool { pendingDecision == .accept }
        /// Whether there is something to accept: the user's own knock can only be withdrawn.
        public var canBeAccepted: Bool { !invitation.isKnock }
    }

    public nonisolated enum Output: Equatable, Sendable {
        case accepted(RoomID)
        /// The invitation was declined or withdrawn.
        case removed(RoomID)
        /// The decision could not be sent.
        case failed(RoomID, ChatError)

        var room: RoomID {
            switch self {
            case .accepted(let room), .removed(let room), .failed(let room, _): room
            }
        }
    }

    public private(set) var state: State
    @ObservationIgnored private let onOutput: (Output) -> Void
    @ObservationIgnored private let service: any InvitationService
    /// Whether the server has not answered yet. Unlike the decision, this ends with its answer.
    @ObservationIgnored private(set) var isSending = false

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
        isSending = true
        let room = state.invitation.room
        Task {
            do {
                switch decision {
                case .accept: try await service.accept(room)
                case .decline: try await service.decline(room)
                }
                isSending = false
                onOutput(decision == .accept ? .accepted(room) : .removed(room))
            } catch {
                isSending = false
                state.pendingDecision = nil
                state.error = ChatError(error)
                onOutput(.failed(room, ChatError(error)))
            }
        }
    }
}
