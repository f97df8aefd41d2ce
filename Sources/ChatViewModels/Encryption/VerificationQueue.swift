import ChatCore
public import Observation

/// The verifications of all accounts, shown one at a time.
@Observable
@MainActor
public final class VerificationQueue {
    /// The displayed verification, or `nil` if none needs the user.
    public private(set) var current: VerificationViewModel?

    private struct Source {
        let account: String
        let encryption: EncryptionCoordinator
        let subscription: ChangeSubscription
    }

    /// In the order in which the accounts were opened.
    @ObservationIgnored private var sources: [Source] = []
    @ObservationIgnored private var currentAccount = ""
    /// Verifications that the user has closed and the service still lists.
    @ObservationIgnored private var finished: Set<Verification.ID> = []
    /// Those of them that had succeeded.
    @ObservationIgnored private var succeeded: Set<Verification.ID> = []

    public init() {}

    func follow(_ encryption: EncryptionCoordinator, of account: String) {
        let subscription = ChangeSubscription(to: { [weak encryption] in encryption?.verifications ?? [] }) {
            [weak self] in self?.apply($0, of: account)
        }
        sources.append(Source(account: account, encryption: encryption, subscription: subscription))
    }

    func forget(_ account: String) {
        sources.removeAll { $0.account == account }
        if currentAccount == account { current?.vanish() }
    }

    private func apply(_ verifications: [Verification], of account: String) {
        if let current, currentAccount == account {
            if let shown = verifications.first(where: { $0.id == current.state.verification.id }) {
                current.show(shown)
            } else {
                current.vanish()
            }
        }
        advance()
    }

    /// Shows the next verification unless one is displayed.
    private func advance() {
        guard current == nil else { return }
        for source in sources {
            for verification in source.encryption.verifications
            where !finished.contains(verification.id) || isRevoked(verification) {
                guard !verification.hasEnded || isRevoked(verification) else {
                    // Never shown, for example as another device answered first.
                    finished.insert(verification.id)
                    source.encryption.dismiss(verification.id)
                    continue
                }
                currentAccount = source.account
                current = source.encryption.viewModel(of: verification) { [weak self] in self?.finish($0) }
                return
            }
        }
    }

    /// Whether the user was told of a success that the server has undone since.
    private func isRevoked(_ verification: Verification) -> Bool {
        succeeded.contains(verification.id) && verification.phase == .canceled(.signatureRejected)
    }

    private func finish(_ ended: VerificationViewModel) {
        let verification = ended.state.verification
        finished.insert(verification.id)
        if verification.phase == .done { succeeded.insert(verification.id) } else { succeeded.remove(verification.id) }
        guard ended === current else { return }
        current = nil
        advance()
    }
}
