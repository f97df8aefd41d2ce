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
    /// The names of former credentials of the same place, whose keys may have been set aside. When all are used, the
    /// last one is replaced.
    static func earlierNames(of account: String) -> [String] {
        let first = name(of: account) + " earlier"
        return [first] + (2...9).map { "\(first) \($0)" }
    }

    /// Uses the credentials of all places in turn, until one of them fits. More than one place has it while it is being
    /// moved, and one may have that of keys that were set aside.
    /// - Parameters:
    ///   - hasFormer: Whether there are keys that would be set aside if none fits. Then a place that is only locked is
    ///     not done without: it may have the credential.
    ///   - use: Returns `nil` for a key that does not fit.
    /// - Returns: `nil` if none fits.
    /// - Throws: ``EncryptionCondition/Problem``, `CancellationError`, or an error of `use`.
    func first<T>(hasFormer: Bool = false, _ use: (KeyMaterial) async throws -> T?) async throws -> T? {
        var failure: CredentialStoreError?
        var skipped: CredentialStoreError?
        var isOther = false
        for (index, place) in ([place] + others).enumerated() {
            let isNeeded = index == 0 || needsOthers
            do {
                // The user need not unlock what may be done without.
                if !isNeeded, try await place.isLocked(name) { throw CredentialStoreError.locked }
                guard let credential = try await place.credential(of: name) else { continue }
                if let key = Self.key(credential), let result = try await use(key) { return result }
                isOther = true
            } catch let error as CredentialStoreError {
                if isNeeded { failure = failure ?? error } else { skipped = skipped ?? error }
            }
        }
        let isSkippedNeeded = isOther || (hasFormer && skipped == .locked)
        if let failure = failure ?? (isSkippedNeeded ? skipped : nil) {
            throw EncryptionCondition.Problem.locked(failure)
        }
        return nil
    }

    private var name: String { Self.name(of: account) }

    /// - Returns: `nil` if it is none.
    private static func key(_ credential: AccountCredential) -> KeyMaterial? {
        // Whatever is wrong with it, it opens nothing.
        try? KeyMaterial(bytes: Base64.decoded(credential.value))
    }

    /// Whether ``place`` returns this key.
    private func isStored(_ key: KeyMaterial) async throws -> Bool {
        try await place.credential(of: name).flatMap { Self.key($0) }?.isEqual(to: key) == true
    }

    private func store(_ key: KeyMaterial) async throws {
        let text = key.withBytes { Base64.encoded(Array(UnsafeBufferPointer(start: $0, count: KeyMaterial.count))) }
        try await place.store(AccountCredential(text), of: name)
    }

    /// Stores another credential of ``place`` under another name: it may open keys that were set aside.
    private func setAside(_ former: AccountCredential) async throws {
        let names = Self.earlierNames(of: account)
        for earlier in names {
            let found = try await place.credential(of: earlier)
            if found == former { return }
            if found == nil || earlier == names.last { return try await place.store(former, of: earlier) }
        }
    }

    func make() async throws -> KeyMaterial {
        let key = try KeyMaterial()
        let isStored: Bool
        do {
            if let former = try await place.credential(of: name) { try await setAside(former) }
            try await store(key)
            isStored = try await self.isStored(key)
        } catch let error as CredentialStoreError {
            throw EncryptionCondition.Problem.locked(error)
        }
        // A store that does not retain it would make the keys unreadable at the next start.
        guard isStored else { throw EncryptionCondition.Problem.credentialLost }
        return key
    }

    // MARK: Moving

    /// Moves the credential to ``place``, which the user chose: stores it there, reads it back, and only then removes
    /// it elsewhere. Call this once the key has opened the keys. If the process ends before the move is complete, two
    /// places have the credential, and the next call goes on.
    /// - Parameter folder: Where to note that a move is under way.
    func move(_ key: KeyMaterial, notingIn folder: URL) async {
        // What was stored durably must not end with the program while messages depend on it: ``removeElsewhere(_:)``.
        guard !(place is MemoryCredentialStore) else { return }
        do {
            let found = try await place.credential(of: name)
            if found.flatMap({ Self.key($0) })?.isEqual(to: key) != true {
                try KeyStore.noteMovingCredential(true, in: folder)
                if let found { try await setAside(found) }
                try await store(key)
                guard try await isStored(key) else { return }
            }
            let isMoving = try KeyStore.isMovingCredential(in: folder)
            // A keyring that the user does not use is asked only if something is left to move.
            let former = others.filter { isMoving || $0 is FileCredentialStore || $0 is MemoryCredentialStore }
            if await remove(key, from: former), isMoving { try KeyStore.noteMovingCredential(false, in: folder) }
        } catch {
            // It stays where it was found.
            return
        }
    }

    /// Leaves the key in memory alone, where the user chose to keep it. Call this only while nothing is lost with the
    /// key. A place that cannot be reached keeps its copy.
    func removeElsewhere(_ key: KeyMaterial) async {
        guard place is MemoryCredentialStore else { return }
        do {
            // The keys may be opened again while the program runs.
            if try await place.credential(of: name) == nil { try await store(key) }
            guard try await isStored(key) else { return }
        } catch {
            return
        }
        _ = await remove(key, from: others)
    }

    /// Removes the key, but no other one: that may open keys that were set aside.
    /// - Returns: Whether none of these places has it any more.
    private func remove(_ key: KeyMaterial, from places: [any CredentialStore]) async -> Bool {
        var isRemoved = true
        for place in places {
            do {
                // A place that the user does not use is not unlocked for this.
                if try await place.isLocked(name) { throw CredentialStoreError.locked }
                guard let copy = try await place.credential(of: name), Self.key(copy)?.isEqual(to: key) == true else {
                    continue
                }
                try await place.removeCredential(of: name)
            } catch {
                isRemoved = false
            }
        }
        return isRemoved
    }
}
