/// Keeps what signs accounts in.
public protocol CredentialStore: Sendable {
    /// nil where nothing is kept.
    /// - Throws: ``CredentialStoreError``, or `CancellationError`.
    func credential(of account: String) async throws -> AccountCredential?
    /// In the place of what was kept before.
    /// - Throws: ``CredentialStoreError``, or `CancellationError`.
    func store(_ credential: AccountCredential, of account: String) async throws
    /// Does nothing where nothing is kept.
    /// - Throws: ``CredentialStoreError``, or `CancellationError`.
    func removeCredential(of account: String) async throws
}

public enum CredentialStoreError: Error, Equatable, Sendable {
    /// It is there and closed: the user did not open it.
    case locked
    /// There is none, or it does not answer. The reason is technical.
    case unavailable(reason: String)
}

/// Where a secret is to be kept.
public enum CredentialLocation: Equatable, Sendable, CaseIterable {
    /// The desktop's keyring.
    case keyring
    /// Nowhere: the account is signed out when the application ends.
    case memory
    /// A file that this user alone may read. Only where the user asked for it.
    case file
}

/// Keeps secrets until the application ends.
public actor MemoryCredentialStore: CredentialStore {
    private var credentials: [String: AccountCredential] = [:]

    public init() {}

    public func credential(of account: String) -> AccountCredential? { credentials[account] }
    public func store(_ credential: AccountCredential, of account: String) { credentials[account] = credential }
    public func removeCredential(of account: String) { credentials[account] = nil }
}
