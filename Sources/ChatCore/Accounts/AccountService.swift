/// The accounts of the user, beside the one that is on this computer alone.
public protocol AccountService: Sendable {
    /// All of them in the order in which they came: at once, and after each change.
    func accountStates() -> AsyncStream<[AccountState]>
    /// Tries again what does not work: the keyring, the storage, the server. Returns when it was begun.
    func retry(_ account: String) async
    /// Talks to all servers anew: the computer slept, or is in another network.
    func reconnect() async
    /// What would be lost with the account.
    /// - Throws: ``ChatError/notFound``, or a storage error.
    func pendingCount(of account: String) async throws -> PendingCount
    /// Ends the session at the server, then deletes all that is kept of the account here.
    ///
    /// - Parameter isForced: whether it goes on without a server that cannot be told.
    /// - Throws: ``SignInProblem/unreachable(reason:)`` if the server could not be told: nothing was changed.
    func logOut(_ account: String, isForced: Bool) async throws
}

/// An account and how it stands.
public struct AccountState: Identifiable, Equatable, Sendable {
    public var account: Account
    public var condition: AccountCondition

    public var id: String { account.id }

    public init(account: Account, condition: AccountCondition) {
        self.account = account
        self.condition = condition
    }
}

public enum AccountCondition: Equatable, Sendable {
    case connecting
    case online
    /// The server does not answer; it is tried again, later and later.
    case offline
    /// What answers does not prove to be the account's server: nothing is sent to it. It is tried again.
    case untrusted(SignInProblem.Certificate)
    /// What is kept is there; to go on, the user signs in again. If `isSoft`, nothing else was lost.
    case signedOut(isSoft: Bool)
    /// What signs it in could not be read.
    case locked(CredentialStoreError)
    /// What is kept of it here could not be opened. The reason is technical.
    case broken(reason: String)

    /// Whether the user has to sign in for it to go on.
    public var needsSignIn: Bool { if case .signedOut = self { true } else { false } }
}

/// What was written and is not sent.
public struct PendingCount: Equatable, Sendable {
    public var messages: Int
    /// Edits, deletions and reactions.
    public var changes: Int
    /// Also those that hold only files, or an answer that was begun.
    public var drafts: Int

    public init(messages: Int = 0, changes: Int = 0, drafts: Int = 0) {
        self.messages = messages
        self.changes = changes
        self.drafts = drafts
    }
}
