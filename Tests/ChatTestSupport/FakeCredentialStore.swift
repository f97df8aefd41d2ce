public import ChatCore

/// Stores credentials in memory unless set to fail.
public actor FakeCredentialStore: CredentialStore {
    public private(set) var credentials: [String: AccountCredential] = [:]
    public private(set) var lookups = 0
    private var failure: CredentialStoreError?

    public init(failure: CredentialStoreError? = nil) {
        self.failure = failure
    }

    public func fail(with failure: CredentialStoreError?) { self.failure = failure }

    public func credential(of account: String) throws -> AccountCredential? {
        lookups += 1
        if let failure { throw failure }
        return credentials[account]
    }

    public func store(_ credential: AccountCredential, of account: String) throws {
        if let failure { throw failure }
        credentials[account] = credential
    }

    public func isLocked(_ account: String) throws -> Bool {
        if let failure, failure != .locked { throw failure }
        return failure == .locked
    }

    public func removeCredential(of account: String) throws {
        if let failure { throw failure }
        credentials[account] = nil
    }
}
