package import ChatCore
import ChatStore
import Foundation
import Ratchets

/// The credential that encrypts an account's stored keys. It is kept where the access token is.
package struct KeyCredential: Sendable {
    let account: String
    /// The store that has it, or gets it.
    let place: any CredentialStore
    /// Other stores that may have it, if the user has changed the place.
    var others: [any CredentialStore]
    /// Whether one of the stores that cannot be reached may have it.
    var needsOthers: Bool

    package init(
        account: String, place: any CredentialStore, others: [any CredentialStore] = [], needsOthers: Bool = true
    ) {
        self.account = account
        self.place = place
        self.others = others
        self.needsOthers = needsOthers
    }

    /// Appended to the account's name, which contains no space.
    private static let suffix = " keys"
    static func name(of account: String) -> String { account + suffix }

    /// - Returns: `nil` if there is no credential.
    /// - Throws: ``EncryptionCondition/Problem``, or `CancellationError`.
    func read() async throws -> KeyMaterial? {
        var failure: CredentialStoreError?
        for (index, place) in ([place] + others).enumerated() {
            do {
                if let credential = try await place.credential(of: name) { return try Self.key(credential) }
            } catch let error as CredentialStoreError {
                if index == 0 || needsOthers { failure = failure ?? error }
            }
        }
        if let failure { throw EncryptionCondition.Problem.locked(failure) }
        return nil
    }

    private var name: String { Self.name(of: account) }

    private static func key(_ credential: AccountCredential) throws(EncryptionCondition.Problem) -> KeyMaterial {
        do {
            return try KeyMaterial(bytes: Base64.decoded(credential.value))
        } catch {
            throw .credentialLost
        }
    }

    /// Moves the credential to ``place``, which the user chose, and removes it from the other stores. Call this once the
    /// key has opened the keys. Until the move is complete, both have it, and the next start goes on.
    func move(_ key: KeyMaterial) async {
        // What was stored durably is not lost with the program: without a backup, its messages would be.
        guard !(place is MemoryCredentialStore) else { return }
        let isElsewhere: Bool
        do {
            isElsewhere = try await place.credential(of: name) == nil
            if isElsewhere { try await store(key) }
            guard let stored = try await place.credential(of: name), try Self.key(stored).isEqual(to: key) else {
                return
            }
        } catch {
            // It stays where it was found.
            return
        }
        // A keyring that the user does not use may ask for a password: it is used only in the first attempt.
        for other in others where isElsewhere || other is FileCredentialStore || other is MemoryCredentialStore {
            // The next start tries again.
            if (try? await other.credential(of: name)) != nil { try? await other.removeCredential(of: name) }
        }
    }

    private func store(_ key: KeyMaterial) async throws {
        let text = key.withBytes { Base64.encoded(Array(UnsafeBufferPointer(start: $0, count: KeyMaterial.count))) }
        try await place.store(AccountCredential(text), of: name)
    }

    func make() async throws -> KeyMaterial {
        let key = try KeyMaterial()
        do {
            try await store(key)
        } catch let error as CredentialStoreError {
            throw EncryptionCondition.Problem.locked(error)
        }
        // A store that does not retain it would make the keys unreadable at the next start.
        guard let stored = try await read(), stored.isEqual(to: key) else {
            throw EncryptionCondition.Problem.credentialLost
        }
        return key
    }
}
