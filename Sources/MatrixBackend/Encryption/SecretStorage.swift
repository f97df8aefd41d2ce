package import ChatCore
import JSONReading
package import MatrixCrypto
package import Ratchets

/// The user's secrets in their account data, each encrypted with a key that the user keeps: the specification's "Secret
/// storage".
///
/// What it does not find is not there only if the server says so; any other failure is thrown.
package struct SecretStorage: Sendable {
    let client: MatrixClient
    let user: MemberID

    package init(client: MatrixClient, user: MemberID) {
        self.client = client
        self.user = user
    }

    /// What the server has.
    package struct State: Equatable, Sendable {
        /// What describes the default key.
        let key: SecretStorageKey
        /// The secrets that it encrypts.
        let secrets: [SecretName: EncryptedSecret]
        /// Those that are there for it and cannot be read.
        let malformed: Set<SecretName>
        /// Whether another key reads one of them, as the former recovery key does.
        let hasOtherKeys: Bool

        var missing: Set<SecretName> { Set(SecretName.allCases).subtracting(secrets.keys) }
        var hasPassphrase: Bool { key.passphrase?.isUsable ?? false }
    }

    /// What a key has opened.
    package struct Opened: Sendable {
        let state: State
        let key: KeyMaterial
        package let secrets: [SecretName: KeyMaterial]
        /// Those that are there and damaged, or encrypted with another key than is said.
        package let unreadable: Set<SecretName>
    }

    /// A new storage.
    struct Created: Sendable {
        let key: KeyMaterial
        let recoveryKey: RecoveryKey
        /// Whether nothing opens with the former key any more; if not, ``removeOtherKeys()`` is worth another attempt.
        let isFormerKeyRemoved: Bool
    }

    // MARK: Reading

    /// - Returns: `nil` if there is no storage.
    /// - Throws: ``EncryptionError/incompleteRecovery`` if what is there cannot be used.
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
            // Account data cannot be deleted: clients empty it instead.
            let member = content["key"], member != .null
        else { return nil }
        guard let id = member.string, (1...255).contains(id.utf8.count) else {
            throw EncryptionError.incompleteRecovery
        }
        return ExactText(id)
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

    /// Opens the storage by what the user has typed: the recovery key, or the passphrase if there is one.
    /// - Throws: ``EncryptionError``, or what the server says.
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
        // Nothing else says that it is the right one.
        if proof == .unproven, secrets.isEmpty {
            throw state.secrets.isEmpty ? EncryptionError.incompleteRecovery : .wrongRecoveryKey
        }
        return Opened(state: state, key: key, secrets: secrets, unreadable: unreadable)
    }

    // MARK: Writing

    /// Makes a storage of these secrets, with a key of its own. What else is stored under their names goes.
    ///
    /// Until the new key is the default one, the former key opens what it did: whatever fails before that has changed
    /// nothing for the user.
    func create(_ secrets: [SecretName: KeyMaterial]) async throws -> Created {
        let former = try await defaultKey()
        let key = try KeyMaterial()
        let description = try SecretStorageKey(describing: key)
        try await client.setAccountData(description.type, description.content, of: user)
        var isFormerKeyRemoved = true
        for (name, secret) in secrets.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            var entries = [description.id: try EncryptedSecret(name, secret, with: key)]
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
            // The user has to be shown the new key, whatever becomes of the former one.
            isFormerKeyRemoved = (try? await removeOtherKeys()) != nil
        }
        return Created(
            key: key, recoveryKey: RecoveryKeyCodec.text(of: key), isFormerKeyRemoved: isFormerKeyRemoved)
    }

    /// Removes what other keys than the default one read.
    package func removeOtherKeys() async throws {
        guard let id = try await defaultKey() else { return }
        for (name, content) in try await contents() where EncryptedSecret.hasOthers(in: content, than: id) {
            // What the default key does not read is not removed: it may be all that is left of a secret.
            guard case .encrypted(let secret) = EncryptedSecret.entry(in: content, for: id) else { continue }
            try await client.setAccountData(name.rawValue, EncryptedSecret.content([id: secret]), of: user)
        }
    }

    /// Adds a secret to the storage that is there.
    /// - Parameter key: The storage's.
    func add(_ name: SecretName, _ secret: KeyMaterial, with key: KeyMaterial) async throws {
        guard let state = try await state() else { throw EncryptionError.noRecovery }
        // What another key encrypts, nobody could open by the recovery key.
        _ = try Self.open(state, with: key)
        let content = EncryptedSecret.content([state.key.id: try EncryptedSecret(name, secret, with: key)])
        try await client.setAccountData(name.rawValue, content, of: user)
    }
}
