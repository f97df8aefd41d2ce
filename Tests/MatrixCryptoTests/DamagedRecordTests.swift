import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import Ratchets
import Testing
import ToolSupport

@testable import MatrixCrypto

/// Damaged records other than sessions. Each costs only what depends on it, and a copy of it stays.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct DamagedRecordTests {
    private static let damaged = Data("damaged".utf8)

    private func copies(in storage: FakeCryptoStorage) async -> [Data] {
        await storage.cryptoRecords(.damaged, owner: nil).map(\.value)
    }

    private func session(_ sealed: JSONValue) -> String { sealed["session_id"]?.string ?? "" }

    private func queried(_ actions: [CryptoRequest.Action]) -> [ExactText] {
        var users: [ExactText] = []
        for case .query(let query) in actions { users += query.users }
        return users
    }

    // MARK: Devices

    @Test("The devices of a user with a damaged one are queried before anything is sent to them.")
    func device() async throws {
        var fixture = try await SendingFixture()
        let first = try await fixture.say("One")
        let storage = fixture.machine.storage
        let key = CryptoRecord.Key(.device, owner: "@a:b", id: "A1")
        let record = await storage.records[key]
        await storage.set(Self.damaged, for: key)
        try await fixture.machine.restart()
        let queries = fixture.counts["query"] ?? 0
        let second = try await fixture.say("Two")
        #expect(fixture.counts["query"] == queries + 1)
        #expect(session(first) == session(second))
        #expect(try fixture.reader("A1").read(second)?.text == "Two")
        #expect(await storage.records[key] != nil && record != nil)
        #expect(await copies(in: storage) == [Self.damaged])

        // One that is signed out meanwhile gets nothing more.
        await storage.set(Self.damaged, for: key)
        let former = try fixture.reader("A1")
        fixture.readers = [try ReadingDevice("@a:b", "A2")]
        try await fixture.machine.restart()
        let third = try await fixture.say("Three")
        #expect(session(third) != session(second))
        #expect(try fixture.reader("A2").read(third)?.text == "Three")
        #expect(try former.read(third) == nil)
        #expect(await storage.records[key] == nil)
    }

    @Test("A key of a device whose record is damaged is read, and the device is queried again.")
    func receiving() async throws {
        let fixture = try await MachineFixture()
        let peer = try await fixture.peer()
        try await fixture.know([peer.device])
        await fixture.storage.set(Self.damaged, for: CryptoRecord.Key(.device, owner: "@a:b", id: "PEER"))
        let group = try OutboundGroupSession()
        #expect(try await fixture.receive([peer.share(group)]).sessions.count == 1)
        #expect(queried(try await fixture.answerAll([peer.device])) == ["@a:b"])
        let payload = try await fixture.machine.read([peer.say("Hello", with: group, as: "$1")])[0].get()
        #expect(payload.content["body"] == "Hello" && payload.trust == nil)
    }

    // MARK: Identities

    private func key(of user: ExactText) throws -> IdentityKey {
        IdentityKey("\(try TestIdentity(user).master.publicKey)")
    }

    @Test("Messages to a user whose identity is damaged are held until it is accepted, also after a restart.")
    func identity() async throws {
        var fixture = try await SendingFixture()
        _ = try await fixture.say("One")
        let storage = fixture.machine.storage
        await storage.set(Self.damaged, for: Identity.key("@a:b"))
        try await fixture.machine.restart()
        let accepted = try key(of: "@a:b")
        #expect(try await fixture.subject.identity(of: "@a:b") == .unknown)
        let machine = fixture.subject
        await #expect(throws: CryptoMachine.VerificationFailure.otherIdentity) {
            try await machine.accept(accepted, of: "@a:b")
        }
        for _ in 0..<2 {
            await #expect(throws: CryptoMachine.Rejection.changedIdentities(["@a:b"])) {
                try await fixture.say("Two")
            }
            #expect(try await fixture.subject.identity(of: "@a:b") == .changedAfterVerification(to: accepted))
            let held = [MemberID("@a:b")]
            #expect(
                try await fixture.subject.trust(in: fixture.room) { [] }
                    == RoomTrust(changed: held, holding: held))
            try await fixture.machine.restart()
        }
        #expect(await copies(in: storage) == [Self.damaged])
        try await fixture.subject.accept(accepted, of: "@a:b")
        #expect(try await fixture.subject.identity(of: "@a:b") == .unverified)
        let second = try await fixture.say("Two")
        #expect(try fixture.reader("A1").read(second)?.text == "Two")
    }

    @Test("While the server names no identity, the damaged one is queried once, and holds messages.")
    func unansweredIdentity() async throws {
        var fixture = try await SendingFixture()
        _ = try await fixture.say("One")
        let storage = fixture.machine.storage
        await storage.set(Self.damaged, for: Identity.key("@a:b"))
        let readers = fixture.readers
        fixture.readers = []
        try await fixture.machine.restart()
        let queries = fixture.counts["query"] ?? 0
        for _ in 0..<3 {
            await #expect(throws: CryptoMachine.Rejection.changedIdentities(["@a:b"])) {
                try await fixture.say("Two")
            }
        }
        #expect(fixture.counts["query"] == queries + 1)
        #expect(await storage.records[Identity.key("@a:b")] == Self.damaged)
        fixture.readers = readers
        try await fixture.sync(changed: ["@a:b"])
        await #expect(throws: CryptoMachine.Rejection.changedIdentities(["@a:b"])) { try await fixture.say("Two") }
        try await fixture.subject.accept(key(of: "@a:b"), of: "@a:b")
        let second = try await fixture.say("Two")
        #expect(try fixture.reader("A1").read(second)?.text == "Two")
    }

    @Test("What a signature has verified is not verified by it once the record was damaged.")
    func signedIdentity() throws {
        let (own, other) = (try TestIdentity("@me:b"), try TestIdentity("@a:b"))
        let answer: JSONValue = .object(try TestIdentity.answer([own, other], to: "@me:b", verified: ["@a:b"]))
        func updated(_ known: Identity?) -> Identity? {
            Identity.updated(
                known, of: "@a:b", by: answer, ownUser: "@me:b", ownUserSigning: own.userSigning.publicKey)
        }
        #expect(updated(nil)?.isVerified == true)
        var identity = try #require(updated(try Identity.unknown()))
        #expect(!identity.isVerified && identity.hasChangedAfterVerification && !identity.isUnknown)
        #expect(try Identity(record: identity.record(of: "@a:b")) == identity)
        identity.accept()
        let again = try #require(updated(identity))
        #expect(!again.isVerified && !again.hasChangedAfterVerification)
        identity.verify()
        #expect(identity.isVerified)
    }

    @Test("The own identity has to confirm the device again once its record was damaged.")
    func ownIdentity() async throws {
        let server = TestServer()
        let before = try await server.confirmed("@me:b", "ME")
        await before.storage.set(Self.damaged, for: Identity.key("@me:b"))
        let client = try await server.restart(before)
        #expect(try await client.machine.ownIdentity() == .replaced)
        try await server.exchangeAll()
        #expect(try await client.machine.ownIdentity() == .replaced)
        #expect(try await client.machine.adopt(client.machine.storedSecrets()).count == 3)
        try await server.exchangeAll()
        #expect(try await client.machine.ownIdentity() == .confirmed)
        #expect(await copies(in: client.storage) == [Self.damaged])
    }

    // MARK: Rooms

    @Test("With damaged records of a room's members, they are requested again, and another session begins.")
    func audience() async throws {
        for key in [RoomAudience.key("!r:b"), RoomAudience.key("!r:b", "@a:b")] {
            var fixture = try await SendingFixture()
            let first = try await fixture.say("One")
            await fixture.machine.storage.set(Self.damaged, for: key)
            try await fixture.machine.restart()
            let second = try await fixture.say("Two")
            #expect(fixture.counts["members"] == 2)
            #expect(session(first) != session(second))
            #expect(try fixture.reader("A1").read(second)?.text == "Two")
        }
    }

    // MARK: Backup

    @Test("With a damaged record of the backup, none is in use, and no key counts as uploaded.")
    func backup() async throws {
        var fixture = try await MachineFixture()
        let peer = try await fixture.peer()
        for _ in 0..<2 { try await fixture.receive([peer.share(OutboundGroupSession())]) }
        let backup = TestBackup()
        try await fixture.machine.setBackupVersion(backup.version)
        let batch = try #require(try await fixture.machine.nextBackupBatch())
        try await fixture.machine.backedUp(batch)
        #expect(try await fixture.machine.remainingInBackup() == 0)
        await fixture.storage.set(Self.damaged, for: BackupRecord.key)
        #expect(try await CryptoMachine.remainingInBackup(in: fixture.storage) == 2)
        try await fixture.restart()
        #expect(try await fixture.machine.backupVersion() == nil)
        #expect(try await fixture.machine.remainingInBackup() == 2)
        #expect(try await fixture.machine.nextBackupBatch() == nil)
        try await fixture.machine.setBackupVersion(backup.version)
        #expect(try await fixture.machine.nextBackupBatch()?.count == 2)
        #expect(await copies(in: fixture.storage) == [Self.damaged])
    }

    // MARK: Private keys

    @Test("A damaged private key counts as missing, and no other one does.", arguments: SecretName.allCases)
    func privateKey(_ name: SecretName) async throws {
        var fixture = try await MachineFixture()
        for name in SecretName.allCases { try await fixture.machine.store(KeyMaterial(), as: name) }
        await fixture.storage.set(Self.damaged, for: name.record)
        try await fixture.restart()
        let secrets = try await fixture.machine.storedSecrets()
        #expect(Set(secrets.keys) == Set(SecretName.allCases).subtracting([name]))
        #expect(await copies(in: fixture.storage) == [Self.damaged])
        // That of another device comes in its place.
        try await fixture.machine.store(KeyMaterial(), as: name)
        try await fixture.restart()
        #expect(try await fixture.machine.storedSecrets().count == SecretName.allCases.count)
    }

    @Test("Damaged keys that are not in use yet hold up nothing, and readable ones stay.")
    func stagedKeys() async throws {
        var fixture = try await MachineFixture()
        let recovery = try KeyMaterial()
        try await fixture.machine.stageRecoveryKey(recovery, as: "one")
        try await fixture.machine.stageRecoveryKey(KeyMaterial(), as: "two")
        try await fixture.machine.prepareBackupKey(KeyMaterial())
        try await fixture.machine.stageUnprovenBackupKey(KeyMaterial())
        let staged = try await fixture.machine.stageIdentity()
        var damaged = 0
        for record in await fixture.storage.cryptoRecords(.privateKey, owner: nil) where record.key.id != "one" {
            await fixture.storage.set(Self.damaged, for: record.key)
            damaged += 1
        }
        let later = CryptoRecord.Key(.privateKey, id: "of a later version")
        await fixture.storage.set(Self.damaged, for: later)
        try await fixture.restart()
        #expect(await copies(in: fixture.storage).count == damaged && damaged == 7)
        #expect(await fixture.storage.records[later] == Self.damaged)
        #expect(try await fixture.machine.stagedRecoveryKey("one")?.isEqual(to: recovery) == true)
        #expect(try await fixture.machine.stagedRecoveryKey("two") == nil)
        #expect(try await fixture.machine.preparedBackupKey() == nil)
        #expect(try await fixture.machine.unprovenBackupKey() == nil)
        #expect(try await !fixture.machine.hasStagedIdentity())
        #expect(try await fixture.machine.stageIdentity().upload != staged.upload)
    }

    // MARK: Requests

    @Test("After a damaged request, which may have had a room key, another session begins.")
    func roomKey() async throws {
        var fixture = try await SendingFixture()
        let storage = fixture.machine.storage
        let first = try await fixture.say("One")
        fixture.readers.append(try ReadingDevice("@a:b", "A2"))
        try await fixture.sync(changed: ["@a:b"])
        var requests: [CryptoRecord] = []
        for _ in 0..<8 where requests.isEmpty {
            let sealing = try await fixture.subject.seal("m.room.message", [:], in: fixture.room, at: fixture.now)
            #expect(sealing == .waits)
            requests = await storage.cryptoRecords(.outgoingRequest, owner: nil)
            if requests.isEmpty { try await fixture.answerNext() }
        }
        let request = try #require(requests.first)
        await storage.set(Self.damaged, for: request.key)
        try await fixture.machine.restart()
        let second = try await fixture.say("Two")
        #expect(session(first) != session(second))
        for device: ExactText in ["A1", "A2"] {
            #expect(try fixture.reader(device).read(second)?.text == "Two")
        }
        #expect(await copies(in: storage) == [Self.damaged])
    }

    @Test("After a damaged request, the signatures of verified users are uploaded once more.")
    func signatures() async throws {
        let server = TestServer()
        let (own, _) = (try await server.confirmed("@me:b", "ME"), try await server.confirmed("@a:b", "A1"))
        try await own.machine.track(["@a:b"])
        try await server.exchangeAll()
        let key = Identity.key("@a:b")
        var identity = try Identity(
            record: CryptoRecord(key, value: try #require(await own.storage.records[key])))
        identity.verify()
        await own.storage.set(try identity.record(of: "@a:b").value, for: key)
        await own.storage.set(
            Self.damaged, for: CryptoRecord.Key(.outgoingRequest, id: "00000000000000000001"))
        let uploads = server.signatureUploads
        for _ in 0..<2 {
            _ = try await server.restart(own)
            try await server.exchangeAll()
            #expect(server.signatureUploads == uploads + 1)
        }
        #expect(await own.storage.records[DamagedRecords.signaturesKey] == nil)
    }

    // MARK: Olm

    @Test("With a damaged record of a device's messages, they are read, and the next one to it begins a session.")
    func messages() async throws {
        var sending = try await SendingFixture()
        _ = try await sending.say("One")
        let reader = try sending.reader("A1").device
        await sending.machine.storage.set(
            Self.damaged, for: OlmPeer.memoryKey(OlmPeer.ID(user: "@a:b", identityKey: reader.account.identityKey)))
        sending.now += 8 * 86_400
        let second = try await sending.say("Two")
        #expect(try sending.reader("A1").read(second)?.text == "Two")
        #expect(sending.counts["claim"] == 2)
        #expect(await copies(in: sending.machine.storage) == [Self.damaged])

        let fixture = try await MachineFixture()
        let peer = try await fixture.peer()
        try await fixture.know([peer.device])
        try await fixture.receive([peer.share(OutboundGroupSession())])
        let memory = OlmPeer.memoryKey(OlmPeer.ID(user: "@a:b", identityKey: peer.device.account.identityKey))
        await fixture.storage.set(Self.damaged, for: memory)
        #expect(try await fixture.receive([peer.share(OutboundGroupSession())]).sessions.count == 1)
        #expect(await copies(in: fixture.storage) == [Self.damaged])
        #expect(await fixture.storage.records[memory] != Self.damaged)
    }
}
