package import ChatCore
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

    func make() async throws -> KeyMaterial {
        let key = try KeyMaterial()
        let text = key.withBytes { Base64.encoded(Array(UnsafeBufferPointer(start: $0, count: KeyMaterial.count))) }
        do {
            try await place.store(AccountCredential(text), of: name)
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
