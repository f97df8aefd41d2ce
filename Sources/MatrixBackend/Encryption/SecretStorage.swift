package import ChatCore
import JSONReading
package import MatrixCrypto
package import Ratchets

/// The user's secrets in their account data, encrypted with a key that the user keeps (specification, "Secret
/// storage").
///
/// It reports something as missing only if the server says so, and throws any other failure.
package struct SecretStorage: Sendable {
    let client: MatrixClient
    let user: MemberID

    package init(client: MatrixClient, user: MemberID) {
        self.client = client
        self.user = user
    }

    /// The server's current storage.
    package struct State: Equatable, Sendable {
        /// The description of the default key.
        let key: SecretStorageKey
        /// The secrets encrypted with it.
        let secrets: [SecretName: EncryptedSecret]
        /// The secrets that claim to be encrypted with it but cannot be parsed.
        let malformed: Set<SecretName>
        /// Whether another key, such as a former recovery key, decrypts any of them.
        let hasOtherKeys: Bool

        var missing: Set<SecretName> { Set(SecretName.allCases).subtracting(secrets.keys) }
        var hasPassphrase: Bool { key.passphrase?.isUsable ?? false }
    }

    /// The secrets that a key decrypts.
    package struct Opened: Sendable {
        let state: State
        let key: KeyMaterial
        package let secrets: [SecretName: KeyMaterial]
        /// The secrets that are damaged, or encrypted with another key than they claim.
        package let unreadable: Set<SecretName>
    }

    /// A key for a storage that is about to be created.
    struct NewKey: Sendable {
        let key: KeyMaterial
        let description: SecretStorageKey

        init() throws {
            key = try KeyMaterial()
            description = try SecretStorageKey(describing: key)
        }
    }

    /// A newly created storage.
    struct Created: Sendable {
        let key: KeyMaterial
        let recoveryKey: RecoveryKey
        let secrets: [SecretName: EncryptedSecret]
        /// Whether the former key no longer decrypts anything. Otherwise, call ``removeOtherKeys()`` again.
        let isFormerKeyRemoved: Bool
    }

    // MARK: Reading

    /// - Returns: `nil` if there is no storage.
    /// - Throws: ``EncryptionError/incompleteRecovery`` if the storage is unusable.
    package func state() async throws -> State? {
        guard let id = try await defaultKey() else { return nil }
        guard let content = try await client.accountData(SecretStorageKey.type(of: id), of: user) else {
            throw EncryptionError.incompleteRecovery
        }
        let key: SecretStorageKey
        do {
            key = try SecretStorageKey(id: id, content: content)
        } catch {
            throw EncryptionError.incompleteRecovery
        }
        return try await state(of: key)
    }

    private func defaultKey() async throws -> ExactText? {
        guard let content = try await client.accountData(SecretStorageKey.defaultType, of: user),
            // Account data cannot be deleted, so clients empty it instead.
            let member = content["key"], member != .null
        else { return nil }
        guard let id = member.string, (1...255).contains(id.utf8.count) else {
            throw EncryptionError.incompleteRecovery
        }
        return ExactText(id)
    }

    /// The default key that a new one replaces; `nil` also for one that is not a key's ID, which opens nothing.
    private func formerKey() async throws -> ExactText? {
        do { return try await defaultKey() } catch EncryptionError.incompleteRecovery { return nil }
    }

    private func state(of key: SecretStorageKey) async throws -> State {
        var secrets: [SecretName: EncryptedSecret] = [:]
        var malformed: Set<SecretName> = []
        var hasOtherKeys = false
        for (name, content) in try await contents() {
            switch EncryptedSecret.entry(in: content, for: key.id) {
            case .none: break
            case .encrypted(let secret): secrets[name] = secret
            case .malformed: malformed.insert(name)
            }
            if EncryptedSecret.hasOthers(in: content, than: key.id) { hasOtherKeys = true }
        }
        return State(key: key, secrets: secrets, malformed: malformed, hasOtherKeys: hasOtherKeys)
    }

    private func contents() async throws -> [SecretName: JSONValue] {
        try await withThrowingTaskGroup(of: (SecretName, JSONValue?).self) { group in
            for name in SecretName.allCases {
                group.addTask { [client, user] in (name, try await client.accountData(name.rawValue, of: user)) }
            }
            var contents: [SecretName: JSONValue] = [:]
            for try await (name, content) in group { contents[name] = content }
            return contents
        }
    }

    // MARK: Opening

    /// Decrypts the storage with the recovery key or passphrase that the user typed.
    /// - Throws: ``EncryptionError``, or the error of the request.
    func open(with typed: String) async throws -> Opened {
        guard let state = try await state() else { throw EncryptionError.noRecovery }
        return try await open(state, with: typed)
    }

    func open(_ state: State, with typed: String) async throws -> Opened {
        do {
            return try Self.open(state, with: try RecoveryKeyCodec.key(from: typed))
        } catch is RecoveryKeyCodec.Failure {
            guard state.hasPassphrase else { throw EncryptionError.malformedRecoveryKey }
        }
        do {
            return try Self.open(state, with: try await state.key.key(from: typed))
        } catch EncryptionError.wrongRecoveryKey where SecretStorageKey.resemblesRecoveryKey(typed) {
            throw EncryptionError.malformedRecoveryKey
        }
    }

    package static func open(_ state: State, with key: KeyMaterial) throws -> Opened {
        let proof = try state.key.proof(of: key)
        guard proof != .wrong else { throw EncryptionError.wrongRecoveryKey }
        var secrets: [SecretName: KeyMaterial] = [:]
        var unreadable = state.malformed
        for (name, secret) in state.secrets {
            do {
                secrets[name] = try secret.secret(name, with: key)
            } catch {
                unreadable.insert(name)
            }
        }
        // There is nothing that proves the key right.
        if proof == .unproven, secrets.isEmpty {
            throw state.secrets.isEmpty ? EncryptionError.incompleteRecovery : .wrongRecoveryKey
        }
        return Opened(state: state, key: key, secrets: secrets, unreadable: unreadable)
    }

    // MARK: Writing

    /// Creates a storage for these secrets, with a new key, in place of what is stored under their names.
    ///
    /// The former key keeps working until the new one becomes the default: a failure before that changes nothing for
    /// the user.
    /// - Parameters:
    ///   - new: The key; `nil` for one that only the caller gets.
    ///   - replacesFormer: Whether these secrets are those that the former key opens, or outdate them. Asked before
    ///     the former key's copies are removed.
    func create(
        _ secrets: [SecretName: KeyMaterial], with new: NewKey? = nil,
        replacesFormer: @Sendable () async throws -> Bool = { true }
    ) async throws -> Created {
        let former = try await formerKey()
        let new = try new ?? NewKey()
        let (key, description) = (new.key, new.description)
        var encrypted: [SecretName: EncryptedSecret] = [:]
        try await client.setAccountData(description.type, description.content, of: user)
        var isFormerKeyRemoved = true
        for (name, secret) in secrets.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let entry = try EncryptedSecret(name, secret, with: key)
            encrypted[name] = entry
            var entries = [description.id: entry]
            if let former, let content = try await client.accountData(name.rawValue, of: user),
                case .encrypted(let known) = EncryptedSecret.entry(in: content, for: former)
            {
                entries[former] = known
                isFormerKeyRemoved = false
            }
            try await client.setAccountData(name.rawValue, EncryptedSecret.content(entries), of: user)
        }
        try await client.setAccountData(
            SecretStorageKey.defaultType, ["key": .string(description.id.text)], of: user)
        if !isFormerKeyRemoved {
            // The user must see the new key even if removing the former one fails.
            if let isReplaced = try? await replacesFormer(), isReplaced {
                isFormerKeyRemoved = (try? await removeOtherKeys()) != nil
            }
        }
        return Created(
            key: key, recoveryKey: RecoveryKeyCodec.text(of: key), secrets: encrypted,
            isFormerKeyRemoved: isFormerKeyRemoved)
    }

    /// Removes the secrets' copies for keys other than the default one.
    package func removeOtherKeys() async throws {
        guard let id = try await defaultKey() else { return }
        for (name, content) in try await contents() where EncryptedSecret.hasOthers(in: content, than: id) {
            // Keep a secret that the default key cannot decrypt: it may be the only copy.
            guard case .encrypted(let secret) = EncryptedSecret.entry(in: content, for: id) else { continue }
            try await client.setAccountData(name.rawValue, EncryptedSecret.content([id: secret]), of: user)
        }
    }

    /// Adds a secret to the current storage.
    /// - Parameter key: The storage's default key.
    func add(_ name: SecretName, _ secret: KeyMaterial, with key: KeyMaterial) async throws {
        guard let state = try await state() else { throw EncryptionError.noRecovery }
        // A secret encrypted with a wrong key could not be recovered with the recovery key.
        _ = try Self.open(state, with: key)
        let content = EncryptedSecret.content([state.key.id: try EncryptedSecret(name, secret, with: key)])
        try await client.setAccountData(name.rawValue, content, of: user)
    }
}
