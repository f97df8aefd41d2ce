public import ChatCore
public import Observation

/// Encryption of one account as its windows show it: how it stands, what is being verified, and the dialogs about both.
@Observable
@MainActor
public final class EncryptionCoordinator {
    /// `nil` until it is known.
    public private(set) var status: EncryptionStatus?
    /// In the order in which they began.
    public private(set) var verifications: [Verification] = []

    /// The members without an identity of whom the user was told, by room.
    @ObservationIgnored var membersWithoutIdentity: [RoomID: Set<MemberID>] = [:]
    @ObservationIgnored public let service: any EncryptionService
    @ObservationIgnored private let nameOfUser: @MainActor (MemberID) -> String?
    @ObservationIgnored private var listening: [Task<Void, Never>] = []

    /// - Parameter name: what a user is called, if that is known.
    init(_ service: any EncryptionService, name: @escaping @MainActor (MemberID) -> String?) {
        self.service = service
        nameOfUser = name
        let (statuses, verifications) = (service.encryptionStatuses(), service.verifications())
        listening = [
            Task { [weak self] in
                for await status in statuses { self?.status = status }
            },
            Task { [weak self] in
                for await verifications in verifications { self?.verifications = verifications }
            },
        ]
    }

    isolated deinit { for task in listening { task.cancel() } }

    /// Returns what a user is called, as far as known.
    func name(of user: MemberID) -> String { nameOfUser(user) ?? user.rawValue }

    /// What is missing so that encryption works and nothing can be lost; `nil` if there is nothing to do.
    public var need: EncryptionNeed? { status?.need }

    /// Returns the dialog about what is missing; `nil` if there is nothing to do.
    public func setUp() -> EncryptionSetUpViewModel? {
        need.map { EncryptionSetUpViewModel($0, of: self) }
    }

    /// Returns the dialog that makes another recovery key.
    public func newRecoveryKey() -> EncryptionSetUpViewModel { EncryptionSetUpViewModel(.saveRecoveryKey, of: self) }

    /// Returns the dialog that makes another identity.
    public func reset() -> EncryptionSetUpViewModel { EncryptionSetUpViewModel(.confirmDevice, of: self, resets: true) }

    /// Returns the dialog about a user's identity.
    /// - Parameter knownName: what the user is called, if that is known.
    public func identity(of user: MemberID, named knownName: String? = nil) -> IdentityViewModel {
        IdentityViewModel(user, name: knownName ?? name(of: user), of: self)
    }

    /// Returns the preferences of the account's encryption.
    public func preferences(account: String, name: String) -> EncryptionPreferencesViewModel {
        EncryptionPreferencesViewModel(account: account, name: name, of: self)
    }

    func viewModel(
        of verification: Verification, onOver: @escaping @MainActor (VerificationViewModel) -> Void
    ) -> VerificationViewModel {
        let (user, nameOfUser) = (verification.user, nameOfUser)
        let viewModel = VerificationViewModel(
            verification, name: name(of: user), service: service, onOver: onOver)
        viewModel.follow { nameOfUser(user) }
        return viewModel
    }

    func dismiss(_ verification: Verification.ID) {
        // It has ended and nobody waits for it: at worst it stays in the service's list.
        Task { [service] in try? await service.perform(.dismiss, in: verification) }
    }
}

/// What is missing so that an account's encryption works on this device and nothing can be lost.
public nonisolated enum EncryptionNeed: Equatable, Sendable {
    /// The account has no identity.
    case setUp
    /// The account's identity has not confirmed this device.
    case confirmDevice
    /// The recovery key was shown, and not confirmed as saved.
    case saveRecoveryKey
}

extension EncryptionStatus {
    public var need: EncryptionNeed? {
        // Without keys there is nothing to set up: the account's row says why.
        guard condition == .on else { return nil }
        switch identity {
        case .unknown: return nil
        case .none: return .setUp
        case .unconfirmed, .replaced: return .confirmDevice
        case .confirmed: return recovery == .unsaved ? .saveRecoveryKey : nil
        }
    }
}
