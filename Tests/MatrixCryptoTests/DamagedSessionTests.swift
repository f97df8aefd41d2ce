import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import Ratchets
import Testing
import ToolSupport

@testable import MatrixCrypto

/// Sessions whose records are damaged, as by a flipped bit. Each concerns only what is encrypted with it.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct DamagedSessionTests {
    enum Damage: CaseIterable {
        case structure
        case ciphertext
    }

    /// - Parameter member: The member of the record that is encrypted.
    /// - Returns: The damaged record's value.
    @discardableResult
    private func damage(
        _ key: CryptoRecord.Key, in storage: FakeCryptoStorage, _ damage: Damage = .ciphertext,
        member: String = "pickle"
    ) async throws -> Data {
        var value = try #require(await storage.records[key])
        switch damage {
        case .structure: value[value.startIndex] ^= 1
        case .ciphertext:
            var members = try #require(try JSONValue(parsing: value).object)
            var text = Array(try #require(members[member]?.string).utf8)
            text[20] = UInt8(ascii: text[20] == UInt8(ascii: "A") ? "B" : "A")
            members[member] = .string(String(decoding: text, as: UTF8.self))
            value = Data(try CanonicalJSON.bytes(of: .object(members)))
        }
        await storage.set(value, for: key)
        return value
    }

    private func record(_ group: OutboundGroupSession) throws -> CryptoRecord.Key {
        CryptoRecord.Key(.inboundGroupSession, owner: "!r:b", id: ExactText(try group.id))
    }

    private func groups(_ count: Int) throws -> [OutboundGroupSession] {
        try (0..<count).map { _ in try OutboundGroupSession() }
    }

    private func text(_ reading: CryptoMachine.Reading) throws -> String? {
        try reading.get().content["body"]?.string
    }

    // MARK: Reading

    @Test("A damaged session seals its own events alone, and is left as it is.", arguments: Damage.allCases)
    func reading(kind: Damage) async throws {
        var fixture = try await MachineFixture()
        let peer = try await fixture.peer()
        try await fixture.know([peer.device])
        let groups = try groups(3)
        for group in groups { try await fixture.receive([peer.share(group)]) }
        let events = try groups.enumerated().map { try peer.say("\($0)", with: $1, as: ExactText("$\($0)")) }
        let key = try record(groups[1])
        let value = try await damage(key, in: fixture.storage, kind)
        for _ in 0..<2 {
            let readings = try await fixture.machine.read(events)
            #expect(readings[1] == .failure(.damaged))
            #expect(try text(readings[0]) == "0")
            #expect(try text(readings[2]) == "2")
            try await fixture.restart()
        }
        #expect(await fixture.storage.records[key] == value)
    }

    @Test("A failing storage is no damage: no event counts as read.") func failingStorage() async throws {
        let fixture = try await MachineFixture()
        let peer = try await fixture.peer()
        try await fixture.know([peer.device])
        let groups = try groups(2)
        for group in groups { try await fixture.receive([peer.share(group)]) }
        let events = try groups.enumerated().map { try peer.say("\($0)", with: $1, as: ExactText("$\($0)")) }
        try await damage(record(groups[0]), in: fixture.storage)
        await fixture.storage.fail(1)
        await #expect(throws: FakeCryptoStorage.Full.self) { try await fixture.machine.read(events) }
        #expect(try await text(fixture.machine.read(events)[1]) == "1")
    }

    @Test(
        "A key that arrives for a damaged session replaces it; a notice that it is withheld does not.",
        arguments: [false, true])
    func replacement(isImported: Bool) async throws {
        let fixture = try await MachineFixture()
        let peer = try await fixture.peer()
        try await fixture.know([peer.device])
        let group = try OutboundGroupSession()
        let id = SessionID(room: "!r:b", session: ExactText(try group.id))
        try await fixture.receive([peer.share(group)])
        let exported = try await fixture.machine.exportedSessions(after: nil, limit: 10)
        try await damage(record(group), in: fixture.storage)
        #expect(try await fixture.machine.known([id]).isEmpty)
        #expect(try await fixture.machine.known([id], of: ["@a:b"]).isEmpty)
        try await fixture.receive([
            [
                "type": "m.room_key.withheld", "sender": "@a:b",
                "content": [
                    "algorithm": "m.megolm.v1.aes-sha2", "code": "m.unverified", "room_id": "!r:b",
                    "session_id": .string(try group.id),
                ],
            ]
        ])
        #expect(await fixture.storage.cryptoRecordCount(.withheldSession) == 0)
        if isImported {
            #expect(try await fixture.machine.imported(exported).new == [id])
        } else {
            #expect(try await fixture.receive([peer.share(group)]).sessions == [id])
        }
        #expect(try await fixture.machine.known([id]) == [id])
        let payload = try await fixture.machine.read([peer.say("Hello", with: group, as: "$1")])[0].get()
        #expect(payload.content["body"] == "Hello" && payload.source == (isImported ? .imported : .direct))
    }

    @Test("The list that confirms a device confirms its other sessions.") func confirmation() async throws {
        let fixture = try await MachineFixture()
        let (peer, phone) = (try await fixture.peer("@ann:b", "LAPTOP"), try TestDevice("@ann:b", "PHONE"))
        let groups = try groups(3)
        for group in groups { try await fixture.receive([peer.share(group)]) }
        let key = try record(groups[1])
        let value = try await damage(key, in: fixture.storage)
        try await fixture.know([peer.device, phone])
        // The device is signed out before any of its messages is read.
        var sync = CryptoSync(kind: .sliding)
        sync.changed = ["@ann:b"]
        _ = try await fixture.machine.received(sync, at: fixture.start)
        try await fixture.answerAll([phone])
        let events = try groups.enumerated().map { try peer.say("\($0)", with: $1, as: ExactText("$\($0)")) }
        let readings = try await fixture.machine.read(events)
        #expect(readings[1] == .failure(.damaged))
        #expect(try text(readings[0]) == "0")
        #expect(try text(readings[2]) == "2")
        #expect(await fixture.storage.records[key] == value)
    }

    // MARK: Backup and key files

    @Test("A damaged session keeps no others out of the backup or a key file.") func backup() async throws {
        let fixture = try await MachineFixture()
        let peer = try await fixture.peer()
        for group in try groups(6) { try await fixture.receive([peer.share(group)]) }
        let records = await fixture.storage.cryptoRecords(.inboundGroupSession, owner: nil).map(\.key)
        // The first page of a limit of two, and one between others.
        for index in [0, 1, 3] { try await damage(records[index], in: fixture.storage) }
        let expected = [2, 4, 5].map { records[$0].id }
        for limit in 1...7 {
            var exported: [ExportedSession] = []
            while true {
                let last = exported.last.map { SessionID(room: $0.room, session: $0.id) }
                let page = try await fixture.machine.exportedSessions(after: last, limit: limit)
                exported += page
                if page.count < limit { break }
            }
            #expect(exported.map(\.id) == expected, "\(limit)")
        }
        let backup = TestBackup()
        try await fixture.machine.setBackupVersion(backup.version)
        var uploaded: [ExactText] = []
        while let batch = try await fixture.machine.nextBackupBatch(limit: 2) {
            uploaded += try backup.sessions(in: batch.body).map(\.id)
            try await fixture.machine.backedUp(batch)
        }
        #expect(uploaded.sorted() == expected)
        #expect(try await fixture.machine.remainingInBackup() == 0)
        #expect(await fixture.storage.cryptoRecordCount(.inboundGroupSession) == 6)
    }

    // MARK: Writing

    private func session(_ sealed: JSONValue) -> String { sealed["session_id"]?.string ?? "" }

    @Test("After a damaged session of the device itself, or a damaged list of its readers, another one begins.")
    func ownSession() async throws {
        for number in 0..<3 {
            var fixture = try await SendingFixture()
            let storage = fixture.machine.storage
            let first = try await fixture.say("One")
            switch number {
            case 0: try await damage(OutboundRoom.key(fixture.room), in: storage, .structure)
            case 1: try await damage(OutboundRoom.key(fixture.room), in: storage, member: "session")
            default: try await damage(OutboundRoom.key(fixture.room, "@a:b"), in: storage, .structure)
            }
            try await fixture.machine.restart()
            let second = try await fixture.say("Two")
            #expect(session(first) != session(second), "\(number)")
            let read = try #require(try fixture.reader("A1").read(second))
            #expect(read.text == "Two" && read.index == 0)
            try await fixture.machine.restart()
            #expect(session(try await fixture.say("Three")) == session(second))
        }
    }

    @Test("Who leaves a room whose session is damaged does not get the next key.", arguments: Damage.allCases)
    func leaving(kind: Damage) async throws {
        var fixture = try await SendingFixture()
        fixture.members["@c:b"] = "join"
        fixture.readers.append(try ReadingDevice("@c:b", "C1"))
        let first = try await fixture.say("One")
        #expect(try fixture.reader("C1").read(first)?.text == "One")
        try await damage(OutboundRoom.key(fixture.room), in: fixture.machine.storage, kind, member: "session")
        try await fixture.machine.restart()
        try await fixture.sync([.member("@c:b", "leave")])
        let second = try await fixture.say("Two")
        #expect(try fixture.reader("A1").read(second)?.text == "Two")
        #expect(try fixture.reader("C1").read(second) == nil)
    }
}
