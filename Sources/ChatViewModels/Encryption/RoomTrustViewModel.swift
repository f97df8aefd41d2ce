public import ChatCore
public import Observation

/// Warns about the identities of a room's members before the user writes.
@Observable
public final class RoomTrustViewModel: ViewModel {
    public nonisolated struct State: Equatable, Sendable {
        public internal(set) var trust = RoomTrust()
        /// The members without an identity that the user has been told of.
        public internal(set) var acknowledged: Set<MemberID> = []

        public var notice: Notice? {
            if trust.isOwnReplaced { return .ownReplaced }
            if let first = trust.holding.first { return .holding(first, others: trust.holding.count - 1) }
            if let first = trust.changed.first { return .changed(first, others: trust.changed.count - 1) }
            let missing = trust.withoutIdentity
            return acknowledged.isSuperset(of: missing) ? nil : .withoutIdentity(missing)
        }
    }

    /// The most urgent warning.
    public nonisolated enum Notice: Equatable, Sendable {
        /// The account has a new identity, which has not confirmed this device, so nothing is sent.
        case ownReplaced
        /// The identities of verified members have changed, so nothing is sent.
        case holding(MemberID, others: Int)
        case changed(MemberID, others: Int)
        /// Members who cannot read new messages.
        case withoutIdentity([MemberID])

        /// Whether the user has something to decide or to do.
        public var isProblem: Bool {
            switch self {
            case .ownReplaced, .holding, .changed: true
            case .withoutIdentity: false
            }
        }
    }

    public nonisolated enum Action: Equatable, Sendable {
        /// The user has read that these members cannot read new messages.
        case acknowledge([MemberID])
    }

    public private(set) var state = State()
    @ObservationIgnored private let room: RoomID
    @ObservationIgnored private let encryption: EncryptionCoordinator
    @ObservationIgnored private let members: @MainActor () -> [Member]
    @ObservationIgnored private var listening: Task<Void, Never>?

    init(_ room: RoomID, of encryption: EncryptionCoordinator, members: @escaping @MainActor () -> [Member]) {
        self.room = room
        self.encryption = encryption
        self.members = members
        state.acknowledged = encryption.membersWithoutIdentity[room] ?? []
        let stream = encryption.service.trust(of: room)
        listening = Task { [weak self] in
            for await trust in stream { self?.state.trust = trust }
        }
    }

    isolated deinit { listening?.cancel() }

    public func send(_ action: Action) {
        switch action {
        case .acknowledge(let members):
            state.acknowledged = Set(members)
            encryption.membersWithoutIdentity[room] = state.acknowledged
        }
    }

    /// Returns a member's display name.
    public func name(_ user: MemberID) -> String {
        members().first { $0.id == user }?.displayName ?? user.rawValue
    }
}

extension Conversation {
    /// Performs the action of the warning's button.
    /// - Parameter notice: The warning that the user saw. The current one may be about someone else.
    public func answerTrustNotice(_ notice: RoomTrustViewModel.Notice) {
        switch notice {
        case .ownReplaced: requests.add(.setUpEncryption)
        case .holding(let user, _), .changed(let user, _): requests.add(.showIdentity(user))
        case .withoutIdentity(let members): trust?.send(.acknowledge(members))
        }
    }

    /// The next step of the account's encryption setup, for a window without the banner above the room list; `nil` if
    /// there is none, if it does not concern the room, or if the room's own warning asks for it.
    public var setUpNeed: EncryptionNeed? {
        guard isEncrypted, trust?.state.notice != .ownReplaced else { return nil }
        return encryptionOfAccount?.need
    }

    /// Requests the setup of the account's encryption from the window.
    public func setUpEncryption() { requests.add(.setUpEncryption) }
}
