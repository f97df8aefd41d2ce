import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing
import ToolSupport

@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct BackupTests {
    private let backup = TestBackup()

    /// An exported session.
    private static func exported(
        _ out: OutboundGroupSession, in room: String = "!r:b", at index: UInt32 = 0
    ) throws -> ExportedSession {
        let session = try InboundGroupSession(sessionKey: out.sessionKey)
        return try ExportedSession([
            "algorithm": "m.megolm.v1.aes-sha2", "room_id": .string(room), "session_id": .string(try out.id),
            "session_key": .string(Base64.encoded(try session.exported(at: index))),
            "sender_key": .string("\(OlmAccount().identityKey)"), "forwarding_curve25519_key_chain": [],
        ])
    }

    private static func exported(_ count: Int) throws -> [ExportedSession] {
        try (0..<count).map { try exported(OutboundGroupSession(), in: "!\($0 % 3):b") }
    }

    @Test("Imported sessions are uploaded to the backup in batches until none is left.") func batches() async throws {
        let fixture = try await MachineFixture()
        let machine = fixture.machine
        let sessions = try Self.exported(230)
        #expect(try await machine.imported(sessions).new.count == 230)
        #expect(try await machine.remainingInBackup() == 230)
        #expect(try await machine.nextBackupBatch() == nil)
        try await machine.setBackupVersion(backup.version)
        var (counts, stored): ([Int], [ExportedSession]) = ([], [])
        while let batch = try await machine.nextBackupBatch() {
            #expect(batch.version == "1")
            counts.append(batch.count)
            stored += try backup.sessions(in: batch.body)
            try await machine.backedUp(batch)
        }
        #expect(counts == [100, 100, 30])
        #expect(try await machine.remainingInBackup() == 0)
        #expect(Set(stored.map(\.id)) == Set(sessions.map(\.id)) && stored.count == 230)
        #expect(stored.allSatisfy { sessions.contains($0) })
        // Another device reads them all.
        let other = try await MachineFixture(device: "OTHER")
        let imported = try await other.machine.imported(stored)
        #expect(imported.total == 230 && imported.new.count == 230 && imported.rejected == 0)
    }

    @Test("Sessions of each source are marked, and stay so until the server has answered.") func sources() async throws
    {
        var fixture = try await MachineFixture()
        let (device, keys) = try await fixture.published()
        let peer = try TestPeer("@ann:b", "ANN", to: device, with: keys[0])
        try await fixture.machine.setBackupVersion(backup.version)
        try await fixture.receive([peer.share(OutboundGroupSession())])
        #expect(try await fixture.machine.remainingInBackup() == 1)
        let batch = try #require(try await fixture.machine.nextBackupBatch())
        try await fixture.restart()
        #expect(try await fixture.machine.remainingInBackup() == 1)
        try await fixture.machine.backedUp(batch)
        #expect(try await fixture.machine.remainingInBackup() == 0)
        try await fixture.restart()
        #expect(try await fixture.machine.remainingInBackup() == 0)
        #expect(try await fixture.machine.backupVersion() == backup.version)
    }

    @Test("The session with which this device encrypts is marked.") func ownSession() async throws {
        var fixture = try await SendingFixture()
        #expect(try await fixture.subject.remainingInBackup() == 0)
        _ = try await fixture.say("hello")
        #expect(try await fixture.subject.remainingInBackup() == 1)
    }

    @Test("A session that is replaced during its upload is uploaded once more.") func replacedMeanwhile()
        async throws
    {
        let machine = try await MachineFixture().machine
        try await machine.setBackupVersion(backup.version)
        let out = try OutboundGroupSession()
        let whole = try Self.exported(out)
        for _ in 0..<5 { _ = try out.encrypt([1]) }
        _ = try await machine.imported([Self.exported(out, at: 5)])
        let batch = try #require(try await machine.nextBackupBatch())
        #expect(try await machine.imported([whole]).new.count == 1)
        try await machine.backedUp(batch)
        #expect(try await machine.remainingInBackup() == 1)
        let next = try #require(try await machine.nextBackupBatch())
        #expect(next.body["rooms"]?["!r:b"]?["sessions"]?[try out.id]?["first_message_index"] == 0)
        #expect(try backup.sessions(in: next.body) == [whole])
    }

    @Test("A new version has none of the sessions, and responses for the former one remove no marks.")
    func versions() async throws {
        let machine = try await MachineFixture().machine
        _ = try await machine.imported(Self.exported(3))
        try await machine.setBackupVersion(backup.version)
        let batch = try #require(try await machine.nextBackupBatch())
        try await machine.backedUp(batch)
        try await machine.setBackupVersion(backup.version)
        #expect(try await machine.remainingInBackup() == 0)
        try await machine.setBackupVersion(backup.version("2"))
        #expect(try await machine.remainingInBackup() == 3)
        try await machine.backedUp(batch)
        #expect(try await machine.remainingInBackup() == 3)
        let next = try #require(try await machine.nextBackupBatch())
        #expect(next.version == "2" && next.count == 3)
        try await machine.backedUp(next)
        #expect(try await machine.remainingInBackup() == 0)
        // Without a backup, each key exists on this device only.
        try await machine.setBackupVersion(nil)
        #expect(try await machine.remainingInBackup() == 3)
        #expect(try await machine.nextBackupBatch() == nil)
    }

    @Test("Marking continues where a process ended, also in a store that predates the marks.")
    func interruptedMarking() async throws {
        var fixture = try await MachineFixture()
        let sessions = try Self.exported(1_230)
        _ = try await fixture.machine.imported(sessions)
        for record in await fixture.storage.cryptoRecords(.waitingForBackup, owner: nil) {
            await fixture.storage.set(nil, for: record.key)
        }
        for attempt in 1...2 {
            await fixture.storage.fail(at: 2)
            await #expect(throws: FakeCryptoStorage.Full.self) { try await fixture.machine.remainingInBackup() }
            #expect(await fixture.storage.cryptoRecordCount(.waitingForBackup) == attempt * 500)
            try await fixture.restart()
        }
        #expect(try await fixture.machine.remainingInBackup() == 1_230)
        try await fixture.machine.outdate()
        let commits = await fixture.storage.commits
        #expect(try await fixture.machine.remainingInBackup() == 1_230)
        #expect(await fixture.storage.commits == commits + 3)
    }

    @Test("Rooms whose IDs look the same go into separate requests.") func similarRooms() async throws {
        let machine = try await MachineFixture().machine
        try await machine.setBackupVersion(backup.version)
        let sessions = try ["!\u{E9}:b", "!e\u{301}:b"].map { try Self.exported(OutboundGroupSession(), in: $0) }
        _ = try await machine.imported(sessions)
        var stored: [ExportedSession] = []
        while let batch = try await machine.nextBackupBatch() {
            #expect(batch.count == 1)
            stored += try backup.sessions(in: batch.body)
            try await machine.backedUp(batch)
        }
        #expect(Set(stored.map(\.room)) == Set(sessions.map(\.room)) && stored.count == 2)
    }

    @Test("A backup is trusted if the verified identity has signed it, or a device that this identity confirms.")
    func trustedSignatures() async throws {
        let server = TestServer()
        let old = try await server.confirmed("@me:b", "OLD")
        let new = try await server.signIn("@me:b", "NEW")
        let data: [String: JSONValue] = ["public_key": "x"]
        let (byOld, byNew) = (try await old.machine.signed(data), try await new.machine.signed(data))
        #expect(try await old.machine.trusts(byOld))
        #expect(try await !old.machine.trusts(data))
        var changed = byOld
        changed["public_key"] = "y"
        #expect(try await !old.machine.trusts(changed))
        // The server lists the new device, and has shown it the identity: it may have made up either.
        #expect(try await !old.machine.trusts(byNew))
        #expect(try await !new.machine.trusts(byOld))
        // Once the device is confirmed, what it alone has signed counts.
        #expect(try await new.machine.adopt(old.machine.storedSecrets()).contains(.selfSigning))
        try await server.exchangeAll()
        #expect(try await old.machine.trusts(byNew))
    }

    @Test("Sessions restored from the backup are not uploaded to it again.") func restored() async throws {
        let machine = try await MachineFixture().machine
        try await machine.setBackupVersion(backup.version)
        let sessions = try Self.exported(5)
        #expect(try await machine.imported(sessions, from: "1").new.count == 5)
        #expect(try await machine.remainingInBackup() == 0)
        // Sessions from another backup are uploaded.
        #expect(try await machine.imported(Self.exported(2), from: "0").new.count == 2)
        #expect(try await machine.remainingInBackup() == 2)
        // Sessions of which the backup has less than this device are uploaded, too.
        let out = try OutboundGroupSession()
        _ = try await machine.imported([Self.exported(out)])
        _ = try out.encrypt([1])
        #expect(try await machine.imported([Self.exported(out, at: 1)], from: "1").new.isEmpty)
        #expect(try await machine.remainingInBackup() == 3)
    }

    @Test("A known session stays, unless the imported one reads more and is at least as well proven.")
    func known() async throws {
        let fixture = try await MachineFixture()
        let (device, keys) = try await fixture.published()
        let peer = try TestPeer("@ann:b", "ANN", to: device, with: keys[0])
        try await fixture.know([peer.device])
        let out = try OutboundGroupSession()
        let whole = try Self.exported(out)
        _ = try peer.say("first", with: out, as: "$1")
        let machine = fixture.machine
        #expect(try await machine.imported([Self.exported(out, at: 1)]).new.count == 1)
        #expect(try await machine.imported([Self.exported(out, at: 1)]).new.isEmpty)
        #expect(try await machine.imported([whole, whole]).new.count == 1)
        // The session that its creator sent proves more but begins later: the known one reads more.
        try await fixture.receive([peer.share(out)])
        let event = try peer.say("second", with: out, as: "$2")
        guard case .success(let payload) = try await machine.read([event])[0] else { throw RatchetError.mismatch }
        #expect(payload.source == .imported)
        // An unsigned session never replaces one that its creator sent.
        let other = try OutboundGroupSession()
        let exported = try Self.exported(other)
        try await fixture.receive([peer.share(other)])
        // It is remembered as a claim, once: the creator may be another one than the first sender.
        #expect(try await machine.imported([exported]).new.count == 1)
        #expect(try await machine.imported([exported]) == imported(total: 1))
        guard case .success(let direct) = try await machine.read([peer.say("x", with: other, as: "$3")])[0] else {
            throw RatchetError.mismatch
        }
        #expect(direct.source == .direct)
    }

    @Test("An imported key extends a session that its creator sent, whose origin stays; a forged key changes nothing.")
    func extended() async throws {
        let fixture = try await MachineFixture()
        let (device, keys) = try await fixture.published()
        let peer = try TestPeer("@ann:b", "ANN", to: device, with: keys[0])
        try await fixture.know([peer.device])
        let (machine, out) = (fixture.machine, try OutboundGroupSession())
        let whole = try Self.exported(out)
        let first = try peer.say("first", with: out, as: "$1")
        try await fixture.receive([peer.share(out)])
        #expect(try await machine.read([first]) == [.failure(.beforeKey)])
        let forged = try Self.forged(whole)
        #expect(try await machine.imported([forged]) == imported(total: 1))
        #expect(try await machine.read([first]) == [.failure(.beforeKey)])
        #expect(try await machine.imported([whole]).new.count == 1)
        let read = try await machine.read([first, peer.say("second", with: out, as: "$2")]).map { try $0.get() }
        #expect(read.map(\.source) == [.direct, .direct] && read.map(\.trust) == [nil, nil])
        try await machine.setBackupVersion(backup.version)
        let batch = try #require(try await machine.nextBackupBatch())
        #expect(batch.body["rooms"]?["!r:b"]?["sessions"]?[try out.id]?["first_message_index"] == 0)
    }

    /// Another ratchet with the same signing key, from which the session ID comes.
    private static func forged(_ session: ExportedSession) throws -> ExportedSession {
        var json = try #require(session.json.object)
        var bytes = try Base64.decoded(#require(json["session_key"]?.string))
        bytes[10] ^= 1
        json["session_key"] = .string(Base64.encoded(bytes))
        let forged = try ExportedSession(.object(json))
        #expect(forged.id == session.id)
        return forged
    }

    @Test("A forged key from a backup gives way to the one that its creator sends later, which is uploaded.")
    func forgedFirst() async throws {
        let fixture = try await MachineFixture()
        let (device, keys) = try await fixture.published()
        let peer = try TestPeer("@ann:b", "ANN", to: device, with: keys[0])
        try await fixture.know([peer.device])
        let (machine, out) = (fixture.machine, try OutboundGroupSession())
        try await machine.setBackupVersion(backup.version)
        let whole = try Self.exported(out)
        let forged = try Self.forged(whole)
        let key = try peer.share(out)
        let first = try peer.say("first", with: out, as: "$1")
        #expect(try await machine.imported([forged], from: "1").new.count == 1)
        #expect(try await machine.remainingInBackup() == 0)
        #expect(try await machine.read([first]) == [.failure(.damaged)])
        let receipt = try await fixture.receive([key])
        #expect(receipt.sessions == [SessionID(room: "!r:b", session: whole.id)] && receipt.rejected.isEmpty)
        // Restored once more, the forged key changes nothing.
        #expect(try await machine.imported([forged], from: "1") == imported(total: 1))
        let read = try await machine.read([first])[0].get()
        #expect(read.source == .direct && read.content["body"] == "first" && read.trust == nil)
        #expect(try await machine.remainingInBackup() == 1)
        let batch = try #require(try await machine.nextBackupBatch())
        #expect(try backup.sessions(in: batch.body).map { $0.json["session_key"] } == [whole.json["session_key"]])
    }

    private func imported(total: Int) -> ImportedSessions {
        var imported = ImportedSessions()
        imported.total = total
        return imported
    }

    @Test("An invalid session is skipped, and a valid one removes the withheld reason.") func damaged() async throws {
        let fixture = try await MachineFixture()
        let out = try OutboundGroupSession()
        let id = SessionID(room: "!r:b", session: ExactText(try out.id))
        try await fixture.receive([
            [
                "type": "m.room_key.withheld", "sender": "@ann:b",
                "content": [
                    "algorithm": "m.megolm.v1.aes-sha2", "code": "m.unverified", "room_id": "!r:b",
                    "session_id": .string(try out.id),
                ],
            ]
        ])
        let reason = CryptoRecord.Key(.withheldSession, owner: id.room, id: id.session)
        #expect(try await fixture.storage.cryptoRecord(reason) != nil)
        var json = try Self.exported(OutboundGroupSession()).json.object ?? [:]
        json["session_id"] = "other"
        let result = try await fixture.machine.imported([
            ExportedSession(.object(json)), Self.exported(out), ExportedSession(.object(ExportedSessionTests.session)),
        ])
        #expect(result.total == 2 && result.rejected == 1 && result.new.contains(id))
        #expect(try await fixture.storage.cryptoRecord(reason) == nil)
    }

    @Test("A change that cannot be stored marks and imports nothing.") func fullDisk() async throws {
        let fixture = try await MachineFixture()
        let machine = fixture.machine
        try await machine.setBackupVersion(backup.version)
        let session = try Self.exported(OutboundGroupSession())
        await fixture.storage.fail(1)
        await #expect(throws: FakeCryptoStorage.Full.self) { try await machine.imported([session]) }
        #expect(try await machine.remainingInBackup() == 0)
        #expect(try await machine.imported([session]).new.count == 1)
        let batch = try #require(try await machine.nextBackupBatch())
        await fixture.storage.fail(1)
        await #expect(throws: FakeCryptoStorage.Full.self) { try await machine.backedUp(batch) }
        #expect(try await machine.remainingInBackup() == 1)
    }

    @Test("The key of a backup being created replaces the former one once the server has it.") func keys()
        async throws
    {
        var fixture = try await MachineFixture()
        let (former, next) = (try KeyMaterial(), try KeyMaterial())
        let (formerPublic, nextPublic) = (try BackupKey(former).publicKey, try BackupKey(next).publicKey)
        #expect(try await fixture.machine.backupKey(for: formerPublic) == nil)
        try await fixture.machine.setBackupKey(former)
        try await fixture.machine.prepareBackupKey(next)
        // The server has not answered: either key may be in use.
        try await fixture.restart()
        #expect(try await fixture.machine.backupKey(for: formerPublic)?.isEqual(to: former) == true)
        #expect(try await fixture.machine.backupKey(for: nextPublic)?.isEqual(to: next) == true)
        #expect(try await fixture.machine.backupKey(for: formerPublic) == nil)
        try await fixture.restart()
        #expect(try await fixture.machine.backupKey(for: nextPublic)?.isEqual(to: next) == true)
        let stored = await fixture.storage.records.values.reduce(Data(), +)
        for key in [former, next] { #expect(!stored.contains(key.withBytes { Data(bytes: $0, count: 32) })) }
        // A backup that is turned off before it was created leaves its key for the next one.
        let prepared = try KeyMaterial()
        try await fixture.machine.prepareBackupKey(prepared)
        try await fixture.machine.retireBackupKey()
        #expect(try await fixture.machine.preparedBackupKey() == nil)
        #expect(try await fixture.machine.storedSecrets()[.backup]?.isEqual(to: prepared) == true)
        try await fixture.machine.retireBackupKey()
        #expect(try await fixture.machine.storedSecrets()[.backup]?.isEqual(to: prepared) == true)
    }
}

extension Data {
    fileprivate func contains(_ other: Data) -> Bool { range(of: other) != nil }
}

/// A backup with its private key.
struct TestBackup {
    private let key = try? BackupKey(KeyMaterial())

    var version: BackupVersion { get throws { try version("1") } }

    func version(_ version: String) throws -> BackupVersion {
        BackupVersion(version: version, publicKey: try #require(key).publicKey)
    }

    /// The sessions in an upload request.
    func sessions(in body: JSONValue) throws -> [ExportedSession] {
        var sessions: [ExportedSession] = []
        for (room, value) in body["rooms"]?.object ?? [:] {
            for (id, json) in value["sessions"]?.object ?? [:] {
                #expect(json["forwarded_count"] == 0 && json["is_verified"] == false)
                sessions.append(
                    try ExportedSession(
                        backedUp: json, room: ExactText(room), id: ExactText(id), key: try #require(key)))
            }
        }
        return sessions
    }
}
