package import ChatCore
import Foundation
import Ratchets

/// What the keys of an account are encrypted with on the disk: a second credential, in the place that the access token
/// is in.
package struct KeyCredential: Sendable {
    let account: String
    /// Where it is stored.
    let place: any CredentialStore
    /// Where it may be from when the user had chosen another place.
    var others: [any CredentialStore]
    /// Whether it may be in one of those that cannot be asked.
    var needsOthers: Bool

    package init(
        account: String, place: any CredentialStore, others: [any CredentialStore] = [], needsOthers: Bool = true
    ) {
        self.account = account
        self.place = place
        self.others = others
        self.needsOthers = needsOthers
    }

    /// Stands behind the account's name, which contains no space.
    private static let suffix = " keys"
    static func name(of account: String) -> String { account + suffix }

    /// - Returns: `nil` if there is none.
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
        // A place that keeps nothing would make the keys unreadable at the next start.
        guard let stored = try await read(), stored.isEqual(to: key) else {
            throw EncryptionCondition.Problem.credentialLost
        }
        return key
    }
}
