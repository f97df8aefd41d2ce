/// Keeps what signs accounts in.
public protocol SecretStorage: Sendable {
    /// nil where nothing is kept.
    /// - Throws: ``SecretStorageError``, or `CancellationError`.
    func secret(of account: String) async throws -> Secret?
    /// In the place of what was kept before.
    /// - Throws: ``SecretStorageError``, or `CancellationError`.
    func keep(_ secret: Secret, of account: String) async throws
    /// Does nothing where nothing is kept.
    /// - Throws: ``SecretStorageError``, or `CancellationError`.
    func removeSecret(of account: String) async throws
}

public enum SecretStorageError: Error, Equatable, Sendable {
    /// It is there and closed: the user did not open it.
    case locked
    /// There is none, or it does not answer. The reason is technical.
    case unavailable(reason: String)
}

/// Where a secret is to be kept.
public enum SecretPlace: Equatable, Sendable, CaseIterable {
    /// The desktop's keyring.
    case keyring
    /// Nowhere: the account is signed out when the application ends.
    case memory
    /// A file that this user alone may read. Only where the user asked for it.
    case file
}

/// Keeps secrets until the application ends.
public actor MemorySecretStorage: SecretStorage {
    private var secrets: [String: Secret] = [:]

    public init() {}

    public func secret(of account: String) -> Secret? { secrets[account] }
    public func keep(_ secret: Secret, of account: String) { secrets[account] = secret }
    public func removeSecret(of account: String) { secrets[account] = nil }
}
