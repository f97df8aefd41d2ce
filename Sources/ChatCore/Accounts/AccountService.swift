/// The user's server accounts, in addition to the local one.
public protocol AccountService: Sendable {
    /// All accounts in the order they were added: once immediately, then after each change.
    func accountStates() -> AsyncStream<[AccountState]>
    /// Retries whatever failed: the keyring, the store or the connection. Returns once the attempt has started.
    func retry(_ account: String) async
    /// Reconnects to all servers, after resume from suspend or a network change.
    func reconnect() async
    /// Returns whether the accounts go on by themselves after a restart that interrupts nothing: all are online, nothing
    /// waits to be sent, and their credentials can be read without the user. `false` if one of these is uncertain.
    func mayRestart() async -> Bool
    /// Returns the unsent content that would be lost with the account.
    /// - Throws: ``ChatError/notFound``, or a storage error.
    func pendingCount(of account: String) async throws -> PendingCount
    /// Ends the session on the server, then deletes the account's local data.
    ///
    /// - Parameter isForced: Whether to continue if the server cannot be reached.
    /// - Throws: ``SignInProblem/unreachable(reason:)`` if the server could not be reached: nothing was changed.
    func signOut(_ account: String, isForced: Bool) async throws
}

/// An account and its connection state.
public struct AccountState: Identifiable, Equatable, Sendable {
    public var account: Account
    public var condition: AccountCondition
    public var encryption: EncryptionCondition

    public var id: String { account.id }

    public init(account: Account, condition: AccountCondition, encryption: EncryptionCondition = .none) {
        self.account = account
        self.condition = condition
        self.encryption = encryption
    }
}

public enum AccountCondition: Equatable, Sendable {
    case connecting
    case online
    /// The server is unreachable. Retried with increasing delays.
    case offline
    /// The server's certificate is not trusted: nothing is sent to it. Retried.
    case untrusted(SignInProblem.Certificate)
    /// The session has ended, local data is intact, and the user has to sign in again. `isSoft` marks a soft logout, in
    /// which the server keeps the device.
    case signedOut(isSoft: Bool)
    /// The credential could not be read.
    case locked(CredentialStoreError)
    /// The store could not be opened. The reason is technical.
    case broken(reason: String)

    /// Whether the user has to sign in again.
    public var needsSignIn: Bool { if case .signedOut = self { true } else { false } }
}

/// The number of unsent items of an account, and what else is lost with its local data.
public struct PendingCount: Equatable, Sendable {
    public var messages: Int
    /// Edits, deletions and reactions.
    public var changes: Int
    /// Includes drafts with only attachments or a reply.
    public var drafts: Int
    /// The number of room keys that are in no backup; `nil` if they could not be counted.
    public var keys: Int?
    /// Whether encrypted messages can be read without this device: see ``EncryptionStatus/recoveryAfterSignOut``.
    public var recovery: EncryptionStatus.Recovery

    public init(
        messages: Int = 0, changes: Int = 0, drafts: Int = 0, keys: Int? = 0,
        recovery: EncryptionStatus.Recovery = .ready
    ) {
        self.messages = messages
        self.changes = changes
        self.drafts = drafts
        self.keys = keys
        self.recovery = recovery
    }
}
