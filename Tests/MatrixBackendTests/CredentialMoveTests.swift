import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing
import ToolSupport

@testable import MatrixBackend

/// The credential of an account's keys on its way to the place that the user has chosen.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct CredentialMoveTests {
    private static let user = MemberID("@me:example.org")
    private static let name = KeyCredential.name(of: user.rawValue)
    private static let earlierName = KeyCredential.earlierNames(of: user.rawValue)[0]
    private let folder = TemporaryFolder()
    private let keyring = FakeCredentialStore()

    private func encryption(in folder: TemporaryFolder) throws -> AccountEncryption {
        let server = try #require(URL(string: "https://example.org"))
        let client = MatrixClient(server: server, token: nil, transport: FakeHomeserver { _ in nil })
        return AccountEncryption(
            user: Self.user, client: client, folder: folder.url, clock: ManualClock(), now: { Fixtures.date })
    }

    private func credential(
        in place: any CredentialStore, others: [any CredentialStore] = [], needsOthers: Bool = true
    ) -> KeyCredential {
        KeyCredential(account: Self.user.rawValue, place: place, others: others, needsOthers: needsOthers)
    }

    /// Opens the keys as at a start, and closes them again.
    @discardableResult
    private func start(
        _ credential: KeyCredential, in folder: TemporaryFolder? = nil, as device: String = "D"
    ) async throws -> EncryptionCondition {
        let encryption = try encryption(in: folder ?? self.folder)
        await encryption.open(device: device, credential: credential)
        let condition = encryption.condition
        await encryption.close()
        return condition
    }

    private func setAsideFiles() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter { $0.contains("-earlier-") }
    }

    /// Another key, which opens nothing.
    private static func makeOther(in place: any CredentialStore) async throws -> AccountCredential {
        let text = try KeyMaterial().withBytes {
            Base64.encoded(Array(UnsafeBufferPointer(start: $0, count: KeyMaterial.count)))
        }
        let other = AccountCredential(text)
        try await place.store(other, of: name)
        return other
    }

    @Test(
        "If the process ends anywhere in the move, the next start goes on with it, and one place has the credential",
        arguments: [true, false])
    func interruptedMove(toFile: Bool) async throws {
        var step = 0
        var hasDied = true
        while hasDied {
            for isPerformed in [true, false] {
                let (folder, keyring) = (TemporaryFolder(), FakeCredentialStore())
                let file = FileCredentialStore(folder: folder.path("secrets"))
                let (place, other): (any CredentialStore, any CredentialStore) =
                    toFile ? (file, keyring) : (keyring, file)
                #expect(try await start(credential(in: other), in: folder) == .on)
                let original = try #require(try await other.credential(of: Self.name))

                let death = Death(after: step, isPerformed: isPerformed)
                let dying = credential(
                    in: DyingStore(place, death), others: [DyingStore(other, death)])
                try await start(dying, in: folder)
                hasDied = await death.hasCome
                #expect(try await start(credential(in: place, others: [other]), in: folder) == .on)
                #expect(try await place.credential(of: Self.name) == original, "\(step) \(isPerformed)")
                #expect(try await other.credential(of: Self.name) == nil, "\(step) \(isPerformed)")
                #expect(try await start(credential(in: place), in: folder) == .on)
            }
            step += 1
        }
        #expect(step > 5)
    }

    @Test("A keyring that is locked when the move goes on is not unlocked for it, and loses its copy once it is open")
    func lockedKeyring() async throws {
        #expect(try await start(credential(in: keyring)) == .on)
        let original = try #require(await keyring.credentials[Self.name])
        // The process ends before the copy in the keyring is removed.
        let (place, death) = (FakeCredentialStore(), Death(after: 0, isPerformed: false))
        try await place.store(original, of: Self.name)
        try KeyStore.noteMovingCredential(true, in: folder.url)
        let interrupted = credential(in: place, others: [DyingStore(keyring, death)])
        #expect(try await start(interrupted) == .on)
        #expect(await death.hasCome)

        await keyring.fail(with: .locked)
        let lookups = await keyring.lookups
        #expect(try await start(credential(in: place, others: [keyring])) == .on)
        #expect(await keyring.lookups == lookups)
        await keyring.fail(with: nil)
        #expect(try await start(credential(in: place, others: [keyring])) == .on)
        #expect(await keyring.credentials.isEmpty)
        #expect(try !KeyStore.isMovingCredential(in: folder.url))
    }

    @Test("A credential of other keys neither hides the right one nor is lost")
    func otherCredential() async throws {
        #expect(try await start(credential(in: keyring)) == .on)
        let place = FakeCredentialStore()
        let other = try await Self.makeOther(in: place)
        #expect(try await start(credential(in: place, others: [keyring])) == .on)
        #expect(await place.credentials[Self.earlierName] == other)
        #expect(await keyring.credentials.isEmpty)
        #expect(try await start(credential(in: place)) == .on, "the right one is in the chosen place")

        // Elsewhere it stays as it is.
        let former = try await Self.makeOther(in: keyring)
        let file = FakeCredentialStore()
        #expect(try await start(credential(in: file, others: [place, keyring])) == .on)
        #expect(await keyring.credentials[Self.name] == former)
        #expect(await place.credentials[Self.name] == nil)
    }

    @Test("Keys that no credential opens are set aside for another device, and the credential that opens none stays")
    func keysOfFormerDevice() async throws {
        #expect(try await start(credential(in: MemoryCredentialStore())) == .on)
        let other = try await Self.makeOther(in: keyring)
        #expect(try await start(credential(in: keyring)) == .off(.credentialLost), "the same device")
        #expect(await keyring.credentials[Self.name] == other)
        #expect(try await start(credential(in: keyring), as: "E") == .on)
        #expect(try await start(credential(in: keyring), as: "E") == .on)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(files.contains { $0.hasPrefix("keys.sqlite-earlier") })
        #expect(await keyring.credentials[Self.earlierName] == other)
    }

    @Test("A keyring that another device can do without is not unlocked")
    func unneededKeyring() async throws {
        await keyring.fail(with: .locked)
        let unneeded = credential(in: MemoryCredentialStore(), others: [keyring], needsOthers: false)
        #expect(try await start(unneeded) == .on)
        #expect(await keyring.lookups == 0)
    }

    @Test("Keys whose credential may be in a keyring that is only locked are not set aside for another device")
    func lockedKeyringOfFormerKeys() async throws {
        #expect(try await start(credential(in: keyring)) == .on)
        await keyring.fail(with: .locked)
        let next = credential(in: MemoryCredentialStore(), others: [keyring], needsOthers: false)
        #expect(try await start(next, as: "E") == .off(.locked(.locked)))
        #expect(try KeyStore.begunDevice(in: folder.url) == "D")
        await keyring.fail(with: nil)
        #expect(try await start(next, as: "E") == .on)
        #expect(try setAsideFiles().isEmpty)
    }

    @Test("A keyring that is gone for good does not keep another device from encrypting")
    func missingKeyringOfFormerKeys() async throws {
        #expect(try await start(credential(in: keyring)) == .on)
        await keyring.fail(with: .unavailable(reason: "gone"))
        let next = credential(in: MemoryCredentialStore(), others: [keyring], needsOthers: false)
        #expect(try await start(next, as: "E") == .on)
        #expect(try !setAsideFiles().isEmpty)
    }

    @Test(
        "What is known of rooms and identities outlasts keys that are set aside, also if the process ends meanwhile",
        arguments: [false, true])
    func lastingRecords(isInterrupted: Bool) async throws {
        #expect(try await start(credential(in: MemoryCredentialStore())) == .on)
        var store = try KeyStore(folder: folder.url, isNew: false)
        let left: ExactText = "!left:b"
        let settings: JSONValue = ["algorithm": "m.megolm.v1.aes-sha2"]
        try await EncryptedRoom.note([(left, settings)], in: store, at: Fixtures.date)
        let pinned = CryptoRecord(CryptoRecord.Key(.identity, owner: "@a:b", id: "keys"), value: Data("any".utf8))
        try await store.commit(CryptoChange(put: [pinned]))
        let lasting = try await CryptoMachine.lastingRecords(in: store)
        try await store.close()
        if isInterrupted {
            try KeyStore.setAside(in: folder.url, now: Fixtures.date, lasting: lasting)
            // What needs no credential knows it even before the next device has keys.
            let encryption = try encryption(in: folder)
            let storage = try #require(try await encryption.roomStorage())
            #expect(try await storage.cryptoRecords(.encryptedRoom, owner: left).count == 1)
            await encryption.close()
        }
        // The credential has ended with the program.
        #expect(try await start(credential(in: MemoryCredentialStore()), as: "E") == .on)
        #expect(try !setAsideFiles().isEmpty)
        store = try KeyStore(folder: folder.url, isNew: false)
        #expect(try await store.cryptoRecords(.encryptedRoom, owner: left).count == 1)
        #expect(try await store.cryptoRecord(pinned.key) == pinned)
        try await store.close()
    }

    @Test("A credential that is to end with the program leaves the keyring on request, but not one that is locked")
    func credentialInMemory() async throws {
        #expect(try await start(credential(in: keyring)) == .on)
        let encryption = try encryption(in: folder)
        let inMemory = credential(in: MemoryCredentialStore(), others: [keyring])
        await encryption.open(device: "D", credential: inMemory)
        #expect(encryption.condition == .on)
        #expect(await keyring.credentials[Self.name] != nil)
        await keyring.fail(with: .locked)
        var machine = try #require(await encryption.machine)
        await encryption.removeStoredCredential(of: machine)
        await keyring.fail(with: nil)
        #expect(await keyring.credentials[Self.name] != nil)

        await encryption.open(device: "D", credential: inMemory)
        machine = try #require(await encryption.machine)
        await encryption.removeStoredCredential(of: machine)
        #expect(await keyring.credentials.isEmpty)
        // The program goes on with it.
        await encryption.open(device: "D", credential: inMemory)
        #expect(encryption.condition == .on)
        await encryption.close()
    }
}

/// Ends the process, as far as its credentials are concerned, at one of their operations.
private actor Death {
    private var remaining: Int
    private let isPerformed: Bool
    private(set) var hasCome = false

    /// - Parameters:
    ///   - count: The number of operations before it.
    ///   - isPerformed: Whether the one at which it comes still reaches the store.
    init(after count: Int, isPerformed: Bool) {
        remaining = count
        self.isPerformed = isPerformed
    }

    func pass<T: Sendable>(_ operation: @Sendable () async throws -> T) async throws -> T {
        let failure = CredentialStoreError.unavailable(reason: "the process has ended")
        guard !hasCome else { throw failure }
        if remaining == 0 {
            hasCome = true
            if isPerformed { _ = try await operation() }
            throw failure
        }
        remaining -= 1
        return try await operation()
    }
}

private struct DyingStore: CredentialStore {
    private let wrapped: any CredentialStore
    private let death: Death

    init(_ store: any CredentialStore, _ death: Death) {
        wrapped = store
        self.death = death
    }

    func credential(of account: String) async throws -> AccountCredential? {
        try await death.pass { [wrapped] in try await wrapped.credential(of: account) }
    }

    func store(_ credential: AccountCredential, of account: String) async throws {
        try await death.pass { [wrapped] in try await wrapped.store(credential, of: account) }
    }

    func removeCredential(of account: String) async throws {
        try await death.pass { [wrapped] in try await wrapped.removeCredential(of: account) }
    }

    func isLocked(_ account: String) async throws -> Bool {
        try await death.pass { [wrapped] in try await wrapped.isLocked(account) }
    }
}
