public import ChatCore
public import Observation

/// Provides an account's windows with its encryption state, its verifications, and the view models of the dialogs.
@Observable
@MainActor
public final class EncryptionCoordinator {
    /// `nil` until known.
    public var status: EncryptionStatus? {
        guard var status = reportedStatus, status.condition == .none, case .off = session.encryption else {
            return reportedStatus
        }
        // Without the account's token, the service has no condition to report.
        status.condition = session.encryption
        return status
    }
    private var reportedStatus: EncryptionStatus?
    /// Whether the account is signed out.
    public var isSignedOut: Bool { session.isSignedOut }
    /// Oldest first.
    public private(set) var verifications: [Verification] = []

    /// The members without an identity that the user has been told of, by room.
    @ObservationIgnored var membersWithoutIdentity: [RoomID: Set<MemberID>] = [:]
    @ObservationIgnored public let service: any EncryptionService
    @ObservationIgnored private let session: AccountSession
    @ObservationIgnored private let nameOfUser: @MainActor (MemberID) -> String?
    @ObservationIgnored private var listening: [Task<Void, Never>] = []
    /// The setup dialog that is open in any of the windows.
    @ObservationIgnored private weak var openSetUp: EncryptionSetUpViewModel?

    /// - Parameter name: returns the user's display name, if known.
    init(
        _ service: any EncryptionService, session: AccountSession = AccountSession(),
        name: @escaping @MainActor (MemberID) -> String?
    ) {
        self.service = service
        self.session = session
        nameOfUser = name
        let (statuses, verifications) = (service.encryptionStatuses(), service.verifications())
        listening = [
            Task { [weak self] in
                for await status in statuses { self?.reportedStatus = status }
            },
            Task { [weak self] in
                for await verifications in verifications { self?.verifications = verifications }
            },
        ]
    }

    isolated deinit { for task in listening { task.cancel() } }

    /// Returns the user's display name, or their ID if it is not known.
    func name(of user: MemberID) -> String { nameOfUser(user) ?? user.rawValue }

    /// The next step to working encryption without risk of losing keys, or `nil` if there is none.
    public var need: EncryptionNeed? { status?.need }

    /// Returns the dialog for ``need`` or for the keys that the recovery key supplies; `nil` if there is nothing to do.
    /// While such a dialog is open in any window, returns that one.
    public func setUp() -> EncryptionSetUpViewModel? {
        let need = need ?? (status?.canRecoverKeys == true ? .enterRecoveryKey : nil)
        return openedSetUp ?? need.map { present(EncryptionSetUpViewModel($0, of: self)) }
    }

    /// Returns the dialog that creates another recovery key, or the one that is open.
    public func newRecoveryKey() -> EncryptionSetUpViewModel {
        openedSetUp ?? present(EncryptionSetUpViewModel(.saveRecoveryKey, of: self))
    }

    /// A second dialog would replace the recovery key that the first one shows, and the user would save a useless one.
    private var openedSetUp: EncryptionSetUpViewModel? { openSetUp?.state.step == .over ? nil : openSetUp }

    private func present(_ setUp: EncryptionSetUpViewModel) -> EncryptionSetUpViewModel {
        openSetUp = setUp
        return setUp
    }

    /// Returns the dialog that checks whether the recovery key that the user has unlocks everything.
    public func recoveryKeyCheck() -> EncryptionSetUpViewModel {
        EncryptionSetUpViewModel(.enterRecoveryKey, of: self, purpose: .check)
    }

    /// Returns the dialog that creates another identity.
    public func reset() -> EncryptionSetUpViewModel {
        present(EncryptionSetUpViewModel(.confirmDevice, of: self, purpose: .reset))
    }

    /// Returns the dialog about a user's identity.
    /// - Parameter knownName: the user's display name, if known.
    public func identity(of user: MemberID, named knownName: String? = nil) -> IdentityViewModel {
        IdentityViewModel(user, name: knownName ?? name(of: user), of: self)
    }

    /// Returns the preferences of the account's encryption.
    /// - Parameters:
    ///   - ongoingWork: counts exports and imports of keys until they have ended.
    ///   - onUnseenEnd: receives the outcome of those that end after the preferences were closed.
    public func preferences(
        account: String, name: String, countedBy ongoingWork: OngoingWork = .shared,
        onUnseenEnd: @escaping (EncryptionPreferencesViewModel.KeyFile) -> Void = { _ in }
    ) -> EncryptionPreferencesViewModel {
        EncryptionPreferencesViewModel(
            account: account, name: name, of: self, countedBy: ongoingWork, onUnseenEnd: onUnseenEnd)
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

    /// Reconnects and opens the keys again.
    public func retry() { session.retry() }

    func dismiss(_ verification: Verification.ID) {
        // A failure only leaves the ended verification in the service's list.
        Task { [service] in try? await service.perform(.dismiss, in: verification) }
    }
}

/// A step that an account's encryption needs to work on this device without risk of losing keys.
public nonisolated enum EncryptionNeed: Equatable, Sendable {
    /// The account has no identity.
    case setUp
    /// The account's identity has not confirmed this device.
    case confirmDevice
    /// The user has not confirmed that the recovery key is saved.
    case saveRecoveryKey
    /// This confirmed device lacks keys that the recovery key may unlock. They may also come from another device, so
    /// this is offered, not asked for.
    case enterRecoveryKey
}

extension EncryptionStatus {
    /// Whether the recovery key may supply private keys that this confirmed device lacks.
    public nonisolated var canRecoverKeys: Bool {
        guard condition == .on, identity == .confirmed, lacksBackupKey || lacksIdentityKeys else { return false }
        switch recovery {
        case .unknown, .none: return false
        case .incomplete, .unsaved, .ready: return true
        }
    }

    /// Whether this confirmed device can restore keys from the account's backup.
    nonisolated var canReadBackup: Bool {
        guard identity == .confirmed, !lacksBackupKey else { return false }
        switch backup {
        // A backup that rejects uploads can be read all the same.
        case .on, .failing: return true
        case .unknown, .off, .untrusted: return false
        }
    }

    public var need: EncryptionNeed? {
        // Without keys there is nothing to set up; the account's row shows the reason.
        guard condition == .on else { return nil }
        switch identity {
        case .unknown: return nil
        case .none: return .setUp
        case .unconfirmed, .replaced: return .confirmDevice
        case .confirmed: return recovery == .unsaved ? .saveRecoveryKey : nil
        }
    }
}
