public import ChatCore

/// Keeps secrets unless it is told to fail.
public actor FakeSecretStorage: SecretStorage {
    public private(set) var secrets: [String: Secret] = [:]
    public private(set) var lookups = 0
    private var failure: SecretStorageError?

    public init(failure: SecretStorageError? = nil) {
        self.failure = failure
    }

    public func fail(with failure: SecretStorageError?) { self.failure = failure }

    public func secret(of account: String) throws -> Secret? {
        lookups += 1
        if let failure { throw failure }
        return secrets[account]
    }

    public func keep(_ secret: Secret, of account: String) throws {
        if let failure { throw failure }
        secrets[account] = secret
    }

    public func removeSecret(of account: String) throws {
        if let failure { throw failure }
        secrets[account] = nil
    }
}
