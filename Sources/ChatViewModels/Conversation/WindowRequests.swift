public import ChatCore
public import Composer
public import Observation

/// Toasts and questions for a window, in order: those of an account for the main window while that displays it, or
/// those of a room for the room's own window. They wait here until there is one.
@Observable
@MainActor
public final class WindowRequests: ViewModel {
    /// A passing message.
    public nonisolated enum Toast: Equatable, Sendable {
        case failed(ChatError)
        case rejected(ComposerRejection)
        /// The user's newest message cannot be edited.
        case notEdited(TimelineViewModel.EditRejection)
        /// A localized text.
        case message(String)
        /// A room's composer was cleared; undo with ``ConversationCoordinator/undoClearing(_:)``.
        case cleared(RoomID)
        /// Another user removed the user from a room.
        case removed(RoomRemoval)
    }

    public nonisolated enum Request: Equatable, Sendable {
        case show(Toast)
        /// Leaving a room deletes its messages, so it needs confirmation.
        case confirmLeaving(RoomID, name: String)
        /// Forwarding out of an encrypted room into one that is not needs confirmation.
        case confirmForwarding(UnencryptedForwarding)
        /// The setup of the account's encryption.
        case setUpEncryption
        /// A user's identity.
        case showIdentity(MemberID)
        /// The window itself, in front.
        case present
    }

    public nonisolated struct State: Equatable, Sendable {
        /// Numbered in the order of arrival.
        public nonisolated struct Entry: Equatable, Sendable, Identifiable {
            public let id: Int
            public let request: Request
        }

        public var pending: [Entry] = []
    }

    public nonisolated enum Action: Equatable, Sendable {
        /// The window has handled the requests up to this one.
        case handled(through: Int)
        /// A window begins to show the account. Pending requests are outdated by then, except the first time:
        /// nobody could have seen them before. Removals from rooms are not: nothing else says why a room is gone.
        case windowAppeared
    }

    public private(set) var state = State()
    @ObservationIgnored private var count = 0
    @ObservationIgnored private var hasHadWindow = false

    public init() {}

    public func send(_ action: Action) {
        switch action {
        case .handled(let id): state.pending.removeAll { $0.id <= id }
        case .windowAppeared:
            if hasHadWindow { state.pending.removeAll { if case .show(.removed) = $0.request { false } else { true } } }
            hasHadWindow = true
        }
    }

    func add(_ request: Request) {
        count += 1
        state.pending.append(State.Entry(id: count, request: request))
    }

    func show(_ toast: Toast) { add(.show(toast)) }
}
