import ChatCore
import ChatStore
import Foundation
import MatrixCrypto
import Ratchets

/// Opens an account's `keys.sqlite`: finds the credential that decrypts it, repairs a damaged file, and sets aside keys
/// that no credential decrypts any more. Keys that cannot be opened are left untouched.
///
/// ``AccountEncryption`` owns it, and makes calls that open or close the file in turn.
final class KeyOpener {
    private let user: ExactText
    /// The folder of the account's store, which contains `keys.sqlite`.
    private let folder: URL
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date
    /// The open file. It may be open without the credential, as which rooms are encrypted is stored in the clear.
    private(set) var store: KeyStore?
    /// The check of a store's file that was too large to be checked first.
    private var check: Task<Void, Never>?
    /// The credential that the user does not want stored, which other places may have nevertheless.
    private var unstoredCredential: (credential: KeyCredential, key: KeyMaterial)?
    /// Whether rebuilding the file without its keys has been tried.
    private var hasTriedRepair = false

    init(user: MemberID, folder: URL, clock: any Clock<Duration>, now: @escaping @Sendable () -> Date) {
        self.user = ExactText(user.rawValue)
        self.folder = folder
        self.clock = clock
        self.now = now
    }

    /// Whether the file was found damaged while it was in use. Opening it again repairs it.
    var isSuspect: Bool { store?.isSuspect == true }

    // MARK: With the credential

    /// Opens the keys of a device, or creates them if the account never had any. Call ``didOpen()`` once the machine is
    /// in use.
    /// - Returns: The machine, and the file that it uses.
    /// - Throws: The error that ``ChatCore/EncryptionCondition/Problem/init(opening:)`` describes. The file may be open
    ///   nevertheless.
    func open(_ device: String, _ credential: KeyCredential) async throws -> (machine: CryptoMachine, store: KeyStore) {
        guard !device.isEmpty else { throw EncryptionCondition.Problem.noDevice }
        let begun = try KeyStore.begunDevice(in: folder)
        // After a new sign-in, the keys of another device may be set aside.
        let isNext = begun != device
        guard KeyStore.exists(in: folder) || isNext else { throw EncryptionCondition.Problem.missing }
        let (machine, store, key) = try await opened(ExactText(device), credential, isNext: isNext)
        try KeyStore.noteBegun(device, in: folder)
        await credential.move(key, notingIn: folder)
        if credential.place is MemoryCredentialStore { unstoredCredential = (credential, key) }
        if try await store.wasRepaired() {
            // Only once that is stored: if the process ends before, the next opening does it again.
            try await machine.outdate()
            try await store.noteOutdated()
        }
        return (machine, store)
    }

    /// Allows another repair of the file while its keys are locked.
    func didOpen() { hasTriedRepair = false }

    private typealias Opened = (machine: CryptoMachine, store: KeyStore, key: KeyMaterial)

    /// Opens the keys of a device with the first credential that decrypts them. Of another device, keys that none
    /// decrypts are set aside.
    private func opened(
        _ device: ExactText, _ credential: KeyCredential, isNext: Bool
    ) async throws -> Opened {
        let hasFormer = KeyStore.exists(in: folder)
        let found = try await credential.first(hasFormer: hasFormer) {
            try await opened(device, with: $0, isNext: isNext)
        }
        if let found { return found }
        // No credential was found with which to open it.
        if isNext, store == nil, hasFormer { _ = use(try openStore(isNext: isNext)) }
        // Without the note of which device they are of, they may be this one's.
        let isThis = if let store { try await CryptoMachine.device(in: store) == device } else { false }
        guard isNext, !isThis else { throw EncryptionCondition.Problem.credentialLost }
        try await replaceFile()
        guard let made = try await opened(device, with: try await credential.make(), isNext: true) else {
            throw EncryptionCondition.Problem.credentialLost
        }
        return made
    }

    /// Sets the file aside, and begins another one with what has to outlast the keys.
    private func replaceFile() async throws {
        let lasting = if let store { try await CryptoMachine.lastingRecords(in: store) } else { [CryptoRecord]() }
        check?.cancel()
        await check?.value
        try await store?.close()
        store = nil
        if KeyStore.exists(in: folder) { try KeyStore.setAside(in: folder, now: now(), lasting: lasting) }
        _ = use(try openStore(isNext: true))
    }

    /// - Returns: `nil` if the key does not decrypt the stored keys.
    private func opened(_ device: ExactText, with key: KeyMaterial, isNext: Bool) async throws -> Opened? {
        let store = if let known = self.store { known } else { use(try openStore(isNext: isNext)) }
        guard try await CryptoMachine.isReadable(store, with: key) else { return nil }
        return (try await machine(of: device, in: store, key, isNext: isNext), store, key)
    }

    private func machine(
        of device: ExactText, in store: KeyStore, _ key: KeyMaterial, isNext: Bool
    ) async throws -> CryptoMachine {
        if try await CryptoMachine.device(in: store) == device {
            return try await CryptoMachine(user: user, device: device, storage: store, key: key)
        }
        guard isNext else { throw EncryptionCondition.Problem.damaged(reason: "no device") }
        return try await CryptoMachine.begun(user: user, device: device, in: store, key: key, at: now())
    }

    /// Removes the credential that the user does not want stored from where it was stored before. Call this only while
    /// nothing is lost with the keys.
    func removeStoredCredential() async {
        guard let (credential, key) = unstoredCredential else { return }
        // Once, so that a keyring that cannot be reached is not asked again and again.
        unstoredCredential = nil
        await credential.removeElsewhere(key)
    }

    // MARK: The file

    /// The check of a large file takes as long as the rest of a start, and can wait until that is over.
    private static let checkDelay = Duration.seconds(60)

    /// Makes a store the one in use. A large file is checked later; the store notes damage, so that the next opening
    /// repairs it.
    private func use(_ opened: KeyStore) -> KeyStore {
        store = opened
        guard opened.needsCheck else { return opened }
        check = Self.check(of: opened, on: clock)
        return opened
    }

    private static func check(of store: KeyStore, on clock: any Clock<Duration>) -> Task<Void, Never> {
        Task {
            do { try await clock.sleep(for: checkDelay, tolerance: nil) } catch { return }
            _ = await store.check()
        }
    }

    private func openStore(isNext: Bool) throws -> KeyStore {
        let isNew = isNext && !KeyStore.exists(in: folder)
        let wasBegun = try KeyStore.begunDevice(in: folder) != nil
        do {
            return try KeyStore(folder: folder, isNew: isNew || !wasBegun)
        } catch {
            guard case .damaged = error, KeyStore.exists(in: folder) else { throw error }
        }
        do {
            // Keeps a copy of the damaged file.
            try KeyStore.repair(in: folder, now: now())
            return try KeyStore(folder: folder, isNew: false)
        } catch {
            guard isNext else { throw error }
        }
        try KeyStore.setAside(in: folder, now: now())
        return try KeyStore(folder: folder, isNew: true)
    }

    /// The file, opened without the credential if need be; `nil` if the account never had keys.
    /// - Throws: If it cannot be opened, or if it is missing although there once was one.
    func openWithoutCredential() throws -> KeyStore? {
        if let store { return store }
        guard try KeyStore.begunDevice(in: folder) != nil || KeyStore.exists(in: folder) else { return nil }
        return use(try storeWithoutCredential())
    }

    private func storeWithoutCredential() throws -> KeyStore {
        do {
            return try KeyStore(folder: folder, isNew: false)
        } catch {
            guard case .damaged = error, !hasTriedRepair else { throw error }
        }
        // Only once, since each repair keeps a copy.
        hasTriedRepair = true
        do {
            try KeyStore.repair(in: folder, now: now())
        } catch {
            // Any other failure can go away, as that of a full disk. Until then, the server keeps what it has.
            if case .damaged = error { throw error }
            hasTriedRepair = false
            throw error
        }
        return try KeyStore(folder: folder, isNew: false)
    }

    /// Gives the file up at once, so that nothing begins with it.
    /// - Returns: What closes it, to be called when nothing uses it any more.
    func release() -> @Sendable () async -> Void {
        let (closing, check) = (self.store, self.check)
        (store, self.check, unstoredCredential) = (nil, nil, nil)
        return {
            // It reads the file, which may be replaced next.
            check?.cancel()
            await check?.value
            // Everything is already on disk, and the process's end closes the file otherwise.
            try? await closing?.close()
        }
    }
}

extension EncryptionCondition.Problem {
    /// Why an error keeps the keys from being opened or used.
    init(opening error: any Error) {
        self =
            switch error {
            case let problem as EncryptionCondition.Problem: problem
            case StoreOpeningError.damaged(_, let reason): .damaged(reason: reason)
            // That of any other record says nothing about the credential, which has decrypted these.
            case KeyUpkeep.Failure.rejected(.pickle): .credentialLost
            case is StoreOpeningError, is ChatError: .storage(reason: "\(type(of: error))")
            default: .damaged(reason: "\(type(of: error))")
            }
    }
}
