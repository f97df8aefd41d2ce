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

/// Syncs that are processed while the file of the keys cannot be opened, not even to record that.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct MissedSyncTests {
    private let folder = TemporaryFolder()
    private let credentials = MemoryCredentialStore()

    private var place: URL { folder.path("store") }
    private var aside: URL { folder.path("aside") }

    /// Moves the files of the keys into another folder.
    private func move(from source: URL, to target: URL) throws {
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
        for name in try FileManager.default.contentsOfDirectory(atPath: source.path)
        where name.hasPrefix("keys.sqlite") {
            try FileManager.default.moveItem(at: source.appending(path: name), to: target.appending(path: name))
        }
    }

    /// Returns the version to answer with, if the machine has to know the room's members before it encrypts.
    private func version(requestedBy machine: CryptoMachine) async throws -> CryptoMachine.AudienceVersion? {
        let room = ExactText(EncryptedAccount.room.rawValue)
        let sealing = try await machine.seal("m.room.message", ["body": "x"], in: room, at: Fixtures.date)
        if case .needsMembers(let version) = sealing { return version }
        return nil
    }

    /// Creates the keys of an account that knows the members of its room.
    private func prepare() async throws {
        let account = try await EncryptedAccount.start(in: folder, credentials)
        _ = try await account.peer()
        let machine = try #require(await account.backend.keys.machine)
        let version = try #require(try await version(requestedBy: machine))
        let members: [ExactText: String] = ["@me:example.org": "join", "@ann:example.org": "join"]
        let room = ExactText(EncryptedAccount.room.rawValue)
        _ = try await machine.setMembers(members, visibility: "joined", of: room, since: version)
        #expect(try await self.version(requestedBy: machine) == nil)
        await account.close()
    }

    @Test(
        "After a sync while the file was gone, the members are requested again before anything is encrypted for them",
        arguments: [false, true])
    func restart(misses: Bool) async throws {
        try await prepare()
        try move(from: place, to: aside)
        var account = try await EncryptedAccount.start(in: folder, nil)
        if misses { try await account.sync() }
        #expect(try await account.store.setting(AccountEncryption.missedSetting) == (misses ? "1" : nil))
        await account.close()

        try move(from: aside, to: place)
        account = try await EncryptedAccount.start(in: folder, credentials)
        let machine = try #require(await account.backend.keys.machine)
        #expect((try await version(requestedBy: machine) != nil) == misses)
        // It has caught up.
        if misses { #expect(try await account.store.setting(AccountEncryption.missedSetting)?.isEmpty == true) }
        await account.close()
    }

    @Test("A sliding sync, which says nothing of keys meanwhile, is missed as well")
    func sliding() async throws {
        try await prepare()
        try move(from: place, to: aside)
        // Cannot be opened, but is there.
        let file = place.appending(path: "keys.sqlite")
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        let server = FakeHomeserver { _ in nil }
        let client = MatrixClient(
            server: try #require(URL(string: "https://example.org")), token: nil, transport: server)
        let encryption = AccountEncryption(
            user: EncryptedAccount.user, client: client, folder: place, clock: ManualClock(), now: { Fixtures.date })
        try await encryption.take(SyncUpdate(token: "s"))
        #expect(await encryption.hasUnnotedMiss)
        try FileManager.default.removeItem(at: file)
        try move(from: aside, to: place)
        let credential = KeyCredential(account: EncryptedAccount.user.rawValue, place: credentials)
        await encryption.open(device: "D", credential: credential)
        #expect(encryption.condition == .on)
        #expect(await !encryption.hasUnnotedMiss)
        #expect(try await version(requestedBy: #require(await encryption.machine)) != nil)
        await encryption.close()
    }

    @Test(
        "A sliding sync that was requested before the keys opened, and comes after that, is missed as well",
        arguments: [false, true])
    func requestedBefore(isAfter: Bool) async throws {
        try await prepare()
        let client = MatrixClient(
            server: try #require(URL(string: "https://example.org")), token: nil,
            transport: FakeHomeserver { _ in nil })
        let encryption = AccountEncryption(
            user: EncryptedAccount.user, client: client, folder: place, clock: ManualClock(), now: { Fixtures.date })
        await encryption.open(
            device: "D", credential: KeyCredential(account: EncryptedAccount.user.rawValue, place: credentials))
        let machine = try #require(await encryption.machine)
        #expect(try await version(requestedBy: machine) == nil)
        var update = SyncUpdate(token: "s")
        if isAfter { update.crypto = CryptoSync(kind: .sliding) }
        try await encryption.take(update)
        #expect((try await version(requestedBy: machine) == nil) == isAfter)
        #expect(await !encryption.hasUnnotedMiss)
        await encryption.close()
    }

    @Test("What changes about the members while the keys are closed is missed as well")
    func membersWhileClosed() async throws {
        try await prepare()
        let client = MatrixClient(
            server: try #require(URL(string: "https://example.org")), token: nil,
            transport: FakeHomeserver { _ in nil })
        let encryption = AccountEncryption(
            user: EncryptedAccount.user, client: client, folder: place, clock: ManualClock(), now: { Fixtures.date })
        let credential = KeyCredential(account: EncryptedAccount.user.rawValue, place: credentials)
        await encryption.open(device: "D", credential: credential)
        let former = try #require(await encryption.machine)
        #expect(try await version(requestedBy: former) == nil)
        // As after a failed encryption, between the parts of a sync.
        try await encryption.end(for: RatchetError.mac, of: former)
        #expect(await encryption.machine == nil)
        try await encryption.noteGone(MemberID("@ann:example.org"), from: EncryptedAccount.room)
        await encryption.open(device: "D", credential: credential)
        let machine = try #require(await encryption.machine)
        #expect(try await version(requestedBy: machine) != nil)
        await encryption.close()
    }
}
