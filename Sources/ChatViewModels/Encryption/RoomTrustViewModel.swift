public import ChatCore
public import Observation

/// What the user is to know of the identities of a room's members before writing.
@Observable
public final class RoomTrustViewModel: ViewModel {
    public nonisolated struct State: Equatable, Sendable {
        public internal(set) var trust = RoomTrust()
        /// The members without an identity of whom the user knows.
        public internal(set) var acknowledged: Set<MemberID> = []

        public var notice: Notice? {
            if let first = trust.holding.first { return .holding(first, others: trust.holding.count - 1) }
            if let first = trust.changed.first { return .changed(first, others: trust.changed.count - 1) }
            let missing = trust.withoutIdentity
            return missing.isEmpty || acknowledged == Set(missing) ? nil : .withoutIdentity(missing)
        }
    }

    /// The most urgent of what there is to say.
    public nonisolated enum Notice: Equatable, Sendable {
        /// The identity of verified members has changed, so that nothing is sent.
        case holding(MemberID, others: Int)
        case changed(MemberID, others: Int)
        /// Members who cannot read what is sent.
        case withoutIdentity([MemberID])
    }

    public nonisolated enum Action: Equatable, Sendable {
        /// The user knows who cannot read what is sent.
        case acknowledge
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
        case .acknowledge:
            state.acknowledged = Set(state.trust.withoutIdentity)
            encryption.membersWithoutIdentity[room] = state.acknowledged
        }
    }

    /// The user in question; `nil` if there is no notice of a changed identity.
    public var changedUser: MemberID? {
        switch state.notice {
        case .holding(let user, _), .changed(let user, _): user
        case .withoutIdentity, nil: nil
        }
    }

    /// Returns what a user of the room is called.
    public func name(_ user: MemberID) -> String {
        members().first { $0.id == user }?.displayName ?? user.rawValue
    }
}

extension Conversation {
    /// Does what the button of the notice about the members' identities says.
    public func answerTrustNotice() {
        guard let trust else { return }
        if let user = trust.changedUser { requests.add(.showIdentity(user)) } else { trust.send(.acknowledge) }
    }
}
