import ChatCore
public import Observation

/// The verifications of all accounts, shown one at a time.
@Observable
@MainActor
public final class VerificationQueue {
    /// The displayed verification, or `nil` if none needs the user.
    public var current: VerificationViewModel? { entries.last?.viewModel }

    private struct Source {
        let account: String
        let encryption: EncryptionCoordinator
        let subscription: ChangeSubscription
    }

    /// Two accounts that verify each other have the same ID for it.
    private nonisolated struct Key: Hashable {
        let account: String
        let id: Verification.ID
    }

    private struct Entry {
        let key: Key
        let viewModel: VerificationViewModel
    }

    /// The displayed verification, preceded by those that are set aside for it.
    private var entries: [Entry] = []
    /// In the order in which the accounts were opened.
    @ObservationIgnored private var sources: [Source] = []
    /// Verifications that the user has closed and the service still lists.
    @ObservationIgnored private var finished: Set<Key> = []
    /// Those of them that had succeeded.
    @ObservationIgnored private var succeeded: Set<Key> = []

    public init() {}

    /// Whether the dialog of another verification than ``current`` is still open.
    var isOtherPresented: Bool { entries.dropLast().contains { $0.viewModel.isPresented } }

    func follow(_ encryption: EncryptionCoordinator, of account: String) {
        let subscription = ChangeSubscription(to: { [weak encryption] in encryption?.verifications ?? [] }) {
            [weak self] in self?.apply($0, of: account)
        }
        sources.append(Source(account: account, encryption: encryption, subscription: subscription))
    }

    func forget(_ account: String) {
        sources.removeAll { $0.account == account }
        for entry in entries where entry.key.account == account { entry.viewModel.vanish() }
    }

    private func apply(_ verifications: [Verification], of account: String) {
        for entry in entries where entry.key.account == account {
            if let shown = verifications.first(where: { $0.id == entry.key.id }) {
                entry.viewModel.show(shown)
            } else {
                entry.viewModel.vanish()
            }
        }
        advance()
    }

    /// Shows the next verification unless one is displayed that needs the user.
    ///
    /// Two accounts that verify each other would wait for each other forever: while the displayed one waits for the
    /// other side, it is set aside for what only the user can answer in another account.
    private func advance() {
        guard let state = current?.state else { return showNext() }
        guard state.page == .progress, !state.isOver else { return }
        if let other = entries.last(where: { $0.viewModel.state.isComparing && !$0.viewModel.state.isOver }) {
            display(other)
        } else if state.verification.phase == .waiting, let account = entries.last?.key.account {
            showRequest(to: state.verification.user, from: account)
        }
    }

    private func showNext() {
        for source in sources {
            for verification in source.encryption.verifications {
                let key = Key(account: source.account, id: verification.id)
                let isRevoked = isRevoked(verification, key)
                guard isRevoked || !finished.contains(key) else { continue }
                guard isRevoked || !verification.hasEnded else {
                    // Never shown, for example as another device answered first.
                    finished.insert(key)
                    source.encryption.dismiss(verification.id)
                    continue
                }
                return show(verification, of: source)
            }
        }
    }

    /// Shows the request that one account of this program has sent to another one. Others wait: anyone can send them.
    private func showRequest(to user: MemberID, from account: String) {
        for source in sources where MemberID(source.account) == user && source.account != account {
            guard !entries.contains(where: { $0.key.account == source.account }) else { continue }
            let request = source.encryption.verifications.first {
                $0.isIncoming && $0.phase == .requested && $0.user == MemberID(account)
                    && !finished.contains(Key(account: source.account, id: $0.id))
            }
            if let request { return show(request, of: source) }
        }
    }

    private func show(_ verification: Verification, of source: Source) {
        let key = Key(account: source.account, id: verification.id)
        let viewModel = source.encryption.viewModel(of: verification) { [weak self] in self?.finish($0, key) }
        display(Entry(key: key, viewModel: viewModel))
    }

    /// Displays a verification, and sets the others aside.
    private func display(_ entry: Entry) {
        current?.setAside(true)
        entry.viewModel.setAside(false)
        entries = entries.filter { $0.viewModel !== entry.viewModel } + [entry]
    }

    /// Whether the user was told of a success that has been undone since: by the server, which rejects the signature,
    /// or by the other device, which has not confirmed this one.
    private func isRevoked(_ verification: Verification, _ key: Key) -> Bool {
        guard case .canceled = verification.phase else { return false }
        return succeeded.contains(key)
    }

    private func finish(_ ended: VerificationViewModel, _ key: Key) {
        finished.insert(key)
        if ended.state.verification.phase == .done { succeeded.insert(key) } else { succeeded.remove(key) }
        entries.removeAll { $0.viewModel === ended }
        current?.setAside(false)
        advance()
    }
}
