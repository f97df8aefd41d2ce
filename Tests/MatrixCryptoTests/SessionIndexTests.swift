import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import Ratchets
import Testing
import ToolSupport

@testable import MatrixCrypto

/// The session indices that messages use: none is used twice, whatever happens in between.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct SessionIndexTests {
    private func session(_ sealed: JSONValue) -> String { sealed["session_id"]?.string ?? "" }

    private func own(_ id: ExactText, _ sealed: JSONValue, in room: ExactText) -> SealedEvent {
        SealedEvent(room: room, event: id, sender: "@me:b", content: sealed)
    }

    @Test("A restart amid reserved indices uses none twice, skips no more than were used, and others can read on")
    func restartsAmidReservedIndices() async throws {
        var fixture = try await SendingFixture()
        var (used, sessions): ([UInt32], Set<String>) = ([], [])
        for run in 1...8 {
            let expected = used.last.map { $0 + 1 } ?? 0
            for number in 0..<run {
                let sealed = try await fixture.say("\(run)-\(number)")
                sessions.insert(session(sealed))
                let read = try #require(try fixture.reader("A1").read(sealed))
                #expect(read.text == "\(run)-\(number)" && read.index >= expected + UInt32(number))
                used.append(read.index)
            }
            let skipped = used[used.count - run] - expected
            #expect(skipped < max(1, run - 1), "\(skipped) after \(run - 1) messages")
            try await fixture.machine.restart()
        }
        #expect(sessions.count == 1 && Set(used).count == used.count && used == used.sorted())
        #expect(fixture.counts["claim"] == 1 && fixture.counts["send"] == 1)
    }

    @Test("Most messages neither write to the disk nor read from it, but all notice what others write there")
    func reservedIndices() async throws {
        var fixture = try await SendingFixture()
        let storage = fixture.machine.storage
        _ = try await fixture.say("0")
        let (commits, reads) = (await storage.commits, await storage.singleReads)
        for number in 1..<90 { _ = try await fixture.say("\(number)") }
        #expect(await storage.commits - commits <= 8)
        #expect(await storage.singleReads - reads <= 8)
        let former = session(try await fixture.say("90"))
        try await EncryptedRoom.note(
            [(fixture.room, ["algorithm": "m.megolm.v1.aes-sha2", "rotation_period_msgs": 50])], in: storage,
            at: fixture.now)
        #expect(session(try await fixture.say("91")) != former)
    }

    @Test("A device added amid reserved indices gets the key with the next message, also after a restart")
    func sharingAmidReservedIndices() async throws {
        for restarts in [false, true] {
            var fixture = try await SendingFixture()
            var sealed: [JSONValue] = []
            for number in 0..<6 { sealed.append(try await fixture.say("\(number)")) }
            if restarts { try await fixture.machine.restart() }
            fixture.readers.append(try ReadingDevice("@a:b", "A2"))
            try await fixture.sync(changed: ["@a:b"])
            let next = try await fixture.say("Next")
            let late = try fixture.reader("A2")
            #expect(session(next) == session(sealed[0]))
            #expect(try sealed.allSatisfy { try late.read($0) == nil })
            let (first, index) = (try late.sessions[session(next)]?.firstKnownIndex, try late.read(next)?.index)
            #expect(first == (restarts ? 8 : 6) && index == first)
            #expect(try fixture.reader("A1").read(next)?.index == index)
        }
    }

    @Test("After a change that failed amid reserved indices, none is used twice")
    func failureAmidReservedIndices() async throws {
        var fixture = try await SendingFixture()
        var used: Set<UInt32> = []
        for number in 0..<60 {
            if number % 5 == 4 {
                await fixture.machine.storage.fail(1)
                await #expect(throws: FakeCryptoStorage.Full.self) {
                    try await fixture.subject.track([ExactText("@x\(number):b")])
                }
            }
            let read = try #require(try fixture.reader("A1").read(try await fixture.say("\(number)")))
            #expect(used.insert(read.index).inserted)
        }
    }

    @Test("A session stored by an earlier version continues at its index; after impossible indices another begins")
    func storedSessions() async throws {
        var fixture = try await SendingFixture()
        let former = session(try await fixture.say("0"))
        for number in 1..<3 { _ = try await fixture.say("\(number)") }
        let (storage, key) = (fixture.machine.storage, OutboundRoom.key(fixture.room))
        let record = try #require(await storage.records[key])
        var members = try #require(try JSONValue(parsing: record).object)
        // An earlier version would not know which indices may have been used.
        #expect(members["pickle"] == nil && members["reserved"] == 4)
        for reserved: Int64 in [1, 1_000_000, -1] {
            members["reserved"] = .integer(reserved)
            await storage.set(Data(try CanonicalJSON.bytes(of: .object(members))), for: key)
            try await fixture.machine.restart()
            let sealed = try await fixture.say("Anew")
            #expect(session(sealed) != former)
            #expect(try fixture.reader("A1").read(sealed)?.index == 0)
        }
        members["reserved"] = nil
        members["pickle"] = members.removeValue(forKey: "session")
        await storage.set(Data(try CanonicalJSON.bytes(of: .object(members))), for: key)
        try await fixture.machine.restart()
        let sealed = try await fixture.say("On")
        #expect(session(sealed) == former)
        #expect(try fixture.reader("A1").read(sealed)?.index == 2)
    }
    @Test("An own message beyond the stored indices shows that the storage is an older copy: another session begins")
    func olderCopy() async throws {
        var fixture = try await SendingFixture()
        let first = try await fixture.say("1")
        _ = try await fixture.subject.read([own("$1", first, in: fixture.room)])
        let storage = fixture.machine.storage
        let records = await storage.records
        let second = try await fixture.say("2")
        #expect(session(second) == session(first))
        for key in await storage.records.keys { await storage.set(records[key], for: key) }
        try await fixture.machine.restart()
        let reading = try await fixture.subject.read([own("$2", second, in: fixture.room)])[0]
        #expect(try reading.get().message.index == 1)
        let third = try await fixture.say("3")
        #expect(session(third) != session(first))
        #expect(try fixture.reader("A1").read(third)?.text == "3")
    }

    @Test("The storage is asked once for a session that it does not have, and one that begins later is known")
    func missingSession() async throws {
        var fixture = try await SendingFixture()
        let storage = fixture.machine.storage
        let first = try await fixture.say("1")
        // Removes all sessions, and forgets that there was none before the first message.
        try await fixture.subject.outdate()
        try await fixture.machine.restart()
        let reads = await storage.ownerReads[.outboundGroupSession] ?? 0
        for _ in 0..<3 {
            let reading = try await fixture.subject.read([own("$1", first, in: fixture.room)])[0]
            #expect(try reading.get().message.index == 0)
        }
        #expect(await storage.ownerReads[.outboundGroupSession] == reads + 1)
        let second = try await fixture.say("2")
        #expect(session(second) != session(first))
        _ = try await fixture.subject.read([own("$2", second, in: fixture.room)])
        #expect(session(try await fixture.say("3")) == session(second))
    }
}
