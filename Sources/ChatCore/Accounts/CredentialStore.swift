/// Stores the credentials of accounts.
public protocol CredentialStore: Sendable {
    /// Returns the account's credential, or `nil` if none is stored.
    /// - Throws: ``CredentialStoreError``, or `CancellationError`.
    func credential(of account: String) async throws -> AccountCredential?
    /// Stores or replaces the account's credential.
    /// - Throws: ``CredentialStoreError``, or `CancellationError`.
    func store(_ credential: AccountCredential, of account: String) async throws
    /// Removes the account's credential, if any.
    /// - Throws: ``CredentialStoreError``, or `CancellationError`.
    func removeCredential(of account: String) async throws
    /// Returns whether the user has to unlock the store before the account's credential can be read.
    /// - Throws: ``CredentialStoreError``, or `CancellationError`.
    func isLocked(_ account: String) async throws -> Bool
}

extension CredentialStore {
    /// Returns `false`, for stores without a lock.
    public func isLocked(_ account: String) async throws -> Bool { false }
}

public enum CredentialStoreError: Error, Equatable, Sendable {
    /// The keyring is locked, and the user did not unlock it.
    case locked
    /// There is no keyring, or it does not respond. The reason is technical.
    case unavailable(reason: String)
}

/// Where to store a credential.
public enum CredentialLocation: Equatable, Sendable, CaseIterable {
    /// The desktop's keyring.
    case keyring
    /// Memory only: the account is signed out when the application exits.
    case memory
    /// A file that only the user can read. Used only at the user's explicit choice.
    case file
}

/// Stores credentials in memory until the application exits.
public actor MemoryCredentialStore: CredentialStore {
    private var credentials: [String: AccountCredential] = [:]

    public init() {}

    public func credential(of account: String) -> AccountCredential? { credentials[account] }
    public func store(_ credential: AccountCredential, of account: String) { credentials[account] = credential }
    public func removeCredential(of account: String) { credentials[account] = nil }
}
