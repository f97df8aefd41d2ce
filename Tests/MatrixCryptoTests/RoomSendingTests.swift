import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import Ratchets
import Testing
import ToolSupport

@testable import MatrixCrypto

/// Sending to encrypted rooms: who can read it, with which key, and what is stored beforehand.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct RoomSendingTests {
    private static let day: TimeInterval = 86_400

    private func session(_ sealed: JSONValue) -> String { sealed["session_id"]?.string ?? "" }

    @Test("Messages are readable by devices that received the key, and by the sending device")
    func reading() async throws {
        var fixture = try await SendingFixture()
        let sealed = try await fixture.say("Größe")
        let read = try #require(try fixture.reader("A1").read(sealed))
        #expect(read.text == "Größe" && read.index == 0)
        let event = SealedEvent(room: fixture.room, event: "$1", sender: "@me:b", content: sealed)
        let own = try await fixture.subject.read([event])[0]
        #expect(try own.get().content["body"] == "Größe")
        // Claimed by another sender, it is rejected.
        let forged = SealedEvent(room: fixture.room, event: "$2", sender: "@a:b", content: sealed)
        #expect(try await fixture.subject.read([forged])[0] == .failure(.sender))
        let key = try #require(try fixture.reader("A1").contents.first)
        #expect(key["shared_history"] == true && key["room_id"] == "!r:b")
    }

    @Test("After the first message no more requests are made, not even after a restart, and the session goes on")
    func requests() async throws {
        var fixture = try await SendingFixture()
        let first = try await fixture.say("One")
        let counts = fixture.counts
        #expect(counts["members"] == 1 && counts["claim"] == 1 && counts["send"] == 1)
        let second = try await fixture.say("Two")
        try await fixture.machine.restart()
        let third = try await fixture.say("Three")
        #expect(fixture.counts == counts)
        #expect(Set([first, second, third].map(session)).count == 1)
        let reader = try fixture.reader("A1")
        #expect(try [first, second, third].map { try reader.read($0)?.index } == [0, 1, 2])
    }

    @Test("A relation is sent only outside the ciphertext")
    func relation() async throws {
        var fixture = try await SendingFixture()
        _ = try await fixture.say("First")
        let relation: JSONValue = ["m.in_reply_to": ["event_id": "$1"]]
        let sealing = try await fixture.subject.seal(
            "m.room.message", ["body": "x", "m.relates_to": relation], in: fixture.room, at: fixture.now)
        guard case .sealed(let sealed) = sealing else { return #expect(Bool(false)) }
        #expect(sealed["m.relates_to"] == relation && sealed["body"] == nil)
        let session = try #require(try fixture.reader("A1").sessions[session(sealed)])
        let (plaintext, _) = try session.decrypt(Base64.decoded(sealed["ciphertext"]?.string ?? ""))
        #expect(!String(decoding: plaintext, as: UTF8.self).contains("m.relates_to"))
    }

    // MARK: Rotation

    @Test("The key is rotated after the set number of messages, and after the set time")
    func rotation() async throws {
        var fixture = try await SendingFixture()
        try await EncryptedRoom.note(
            [(fixture.room, ["algorithm": "m.megolm.v1.aes-sha2", "rotation_period_msgs": 3])],
            in: fixture.machine.storage, at: fixture.now)
        var sessions: [String] = []
        for number in 0..<7 { sessions.append(session(try await fixture.say("\(number)"))) }
        #expect(Set(sessions[0..<3]).count == 1 && Set(sessions[3..<6]).count == 1 && Set(sessions).count == 3)
        fixture.now += 6.9 * Self.day
        #expect(session(try await fixture.say("Within a week")) == sessions[6])
        fixture.now += 0.2 * Self.day
        let later = try await fixture.say("After it")
        #expect(session(later) != sessions[6])
        #expect(try fixture.reader("A1").read(later)?.text == "After it")
        // After the clock was set back, the session's age is unknown.
        fixture.now -= 2 * Self.day
        #expect(session(try await fixture.say("Before")) != session(later))
    }

    @Test("Stricter settings start a new session")
    func settings() async throws {
        var fixture = try await SendingFixture()
        let first = session(try await fixture.say("One"))
        try await EncryptedRoom.note(
            [(fixture.room, ["algorithm": "m.megolm.v1.aes-sha2", "rotation_period_msgs": 50])],
            in: fixture.machine.storage, at: fixture.now)
        #expect(session(try await fixture.say("Two")) != first)
    }

    @Test("Former members cannot read what is sent after they leave, even if they return", arguments: ["leave", "ban"])
    func leaving(_ membership: String) async throws {
        var fixture = try await SendingFixture()
        fixture.members["@b:b"] = "join"
        fixture.readers.append(try ReadingDevice("@b:b", "B1"))
        let before = try await fixture.say("Both")
        #expect(try fixture.reader("B1").read(before)?.text == "Both")
        try await fixture.sync([.member("@b:b", membership)])
        let after = try await fixture.say("One")
        #expect(try fixture.reader("B1").read(after) == nil && fixture.reader("A1").read(after)?.text == "One")
        try await fixture.sync([.member("@b:b", "join")])
        let again = try await fixture.say("Both again")
        #expect(try fixture.reader("B1").read(again)?.text == "Both again")
        #expect(try fixture.reader("B1").read(after) == nil)
        // Left and returned within one response, which a restart does not forget.
        try await fixture.sync([.member("@b:b", membership), .member("@b:b", "join")])
        try await fixture.machine.restart()
        #expect(session(try await fixture.say("Another key")) != session(again))
    }

    @Test("New members can read from then on, with the same key")
    func joining() async throws {
        var fixture = try await SendingFixture()
        let before = try await fixture.say("Before")
        fixture.readers.append(try ReadingDevice("@b:b", "B1"))
        try await fixture.sync([.member("@b:b", "invite"), .member("@b:b", "join"), .member("@c:b", "knock")])
        let after = try await fixture.say("After")
        #expect(session(before) == session(after))
        #expect(try fixture.reader("B1").read(before) == nil && fixture.reader("B1").read(after)?.text == "After")
        #expect(try fixture.reader("A1").contents.count == 1)
    }

    @Test("A removed device cannot read later messages, and a new one can")
    func devices() async throws {
        var fixture = try await SendingFixture()
        fixture.readers.append(try ReadingDevice("@a:b", "A2"))
        let first = try await fixture.say("Two devices")
        #expect(try fixture.reader("A2").read(first)?.text == "Two devices")
        let gone = try fixture.reader("A2")
        fixture.readers.removeAll { $0.device.device == "A2" }
        try await fixture.sync(changed: ["@a:b"])
        let second = try await fixture.say("One device")
        #expect(try gone.read(second) == nil && fixture.reader("A1").read(second)?.text == "One device")
        fixture.readers.append(try ReadingDevice("@a:b", "A3"))
        // The user's other devices can read as well.
        fixture.readers.append(try ReadingDevice("@me:b", "ME2"))
        try await fixture.sync(changed: ["@a:b", "@me:b"])
        let third = try await fixture.say("More devices")
        #expect(session(second) == session(third))
        for id: ExactText in ["A1", "A3", "ME2"] {
            #expect(try fixture.reader(id).read(third)?.text == "More devices")
        }
    }

    @Test("A member whose devices are not tracked any more is queried again before the next message")
    func untrackedMember() async throws {
        var fixture = try await SendingFixture()
        _ = try await fixture.say("One")
        let queries = try #require(fixture.counts["query"])
        _ = try await fixture.say("Two")
        #expect(fixture.counts["query"] == queries)
        var sync = CryptoSync(kind: .sliding)
        sync.left = ["@a:b"]
        _ = try await fixture.subject.received(sync, at: fixture.now)
        _ = try await fixture.say("Three")
        #expect(fixture.counts["query"] == queries + 1)
    }

    @Test("Invited users get the key if the history visibility lets them read")
    func invited() async throws {
        for (visibility, reads) in [
            ("shared", true), ("world_readable", true), ("invited", true), ("joined", false), ("anything", false),
        ] {
            var fixture = try await SendingFixture()
            fixture.visibility = visibility
            fixture.members["@b:b"] = "invite"
            fixture.members["@c:b"] = "ban"
            fixture.readers.append(try ReadingDevice("@b:b", "B1"))
            fixture.readers.append(try ReadingDevice("@c:b", "C1"))
            let sealed = try await fixture.say("Text")
            #expect(try (fixture.reader("B1").read(sealed) != nil) == reads, "\(visibility)")
            #expect(try fixture.reader("C1").read(sealed) == nil)
            let isShared = ["shared", "world_readable"].contains(visibility)
            #expect(try fixture.reader("A1").contents.first?["shared_history"] == .bool(isShared))
        }
    }

    @Test("The key is rotated when later members become able to read earlier messages, or cease to be")
    func visibility() async throws {
        var fixture = try await SendingFixture()
        let shared = session(try await fixture.say("Shared"))
        try await fixture.sync([.visibility("world_readable")])
        #expect(session(try await fixture.say("Shared as well")) == shared)
        try await fixture.sync([.visibility("joined")])
        let joined = session(try await fixture.say("For members"))
        #expect(joined != shared)
        try await fixture.sync([.visibility("shared"), .visibility("joined")])
        #expect(session(try await fixture.say("For members again")) != joined)
        #expect(try fixture.reader("A1").contents.map { $0["shared_history"] == true } == [true, false, false])
    }

    @Test("After a gap all members are requested again and the key is rotated, so that nobody who left can read on")
    func gap() async throws {
        var fixture = try await SendingFixture()
        fixture.members["@b:b"] = "join"
        fixture.readers.append(try ReadingDevice("@b:b", "B1"))
        let first = session(try await fixture.say("Both"))
        try await fixture.sync([.gap])
        // Somebody may have been given the key, and have left again, within the gap.
        let second = session(try await fixture.say("Both again"))
        #expect(second != first && fixture.counts["members"] == 2)
        #expect(session(try await fixture.say("And again")) == second)
        fixture.members["@b:b"] = nil
        try await fixture.sync([.gap])
        try await fixture.machine.restart()
        let later = try await fixture.say("One")
        #expect(session(later) != second && fixture.counts["members"] == 3)
        #expect(try fixture.reader("B1").read(later) == nil)
    }

    @Test("After a sync that was processed without the keys, members and devices are requested again")
    func missedSync() async throws {
        var fixture = try await SendingFixture()
        _ = try await fixture.say("One")
        try await fixture.subject.catchUp()
        _ = try await fixture.say("Two")
        let before = fixture.counts
        try await CryptoMachine.noteMissedSync(in: fixture.machine.storage)
        try await fixture.machine.restart()
        try await fixture.subject.catchUp()
        fixture.members["@a:b"] = nil
        let later = try await fixture.say("Three")
        #expect(try fixture.reader("A1").read(later) == nil)
        #expect(fixture.counts["members"] == (before["members"] ?? 0) + 1)
        #expect(fixture.counts["query"] == (before["query"] ?? 0) + 1)
        try await fixture.subject.catchUp()
        _ = try await fixture.say("Four")
        #expect(fixture.counts["members"] == (before["members"] ?? 0) + 1)
    }

    @Test("A list of members that is older than a sync is requested again")
    func overtakenMembers() async throws {
        var fixture = try await SendingFixture()
        guard
            case .needsMembers(let version) = try await fixture.subject.seal(
                "m.room.message", [:], in: fixture.room, at: fixture.now)
        else { return #expect(Bool(false)) }
        try await fixture.sync([.member("@a:b", "leave")])
        #expect(
            try await !fixture.subject.setMembers(
                fixture.members, visibility: nil, of: fixture.room, since: version))
        // A failed change reloads the state: a list requested before it is rejected.
        await fixture.machine.storage.fail(1)
        guard
            case .needsMembers(let second) = try await fixture.subject.seal(
                "m.room.message", [:], in: fixture.room, at: fixture.now)
        else { return #expect(Bool(false)) }
        await #expect(throws: FakeCryptoStorage.Full.self) { try await fixture.subject.track(["@x:b"]) }
        #expect(
            try await !fixture.subject.setMembers(
                fixture.members, visibility: nil, of: fixture.room, since: second))
    }

    // MARK: Devices without a key

    @Test("A device without one-time keys is notified once, delays nobody, and gets the key once it has some")
    func noOlm() async throws {
        var fixture = try await SendingFixture()
        fixture.readers.append(try ReadingDevice("@a:b", "A2", oneTimeKeys: false))
        let first = try await fixture.say("One")
        #expect(try fixture.reader("A1").read(first)?.text == "One" && fixture.reader("A2").read(first) == nil)
        try await fixture.answerAll()
        #expect(fixture.withheld.map { $0["code"] } == ["m.no_olm"])
        fixture.now += 3600
        _ = try await fixture.say("Two")
        try await fixture.answerAll()
        #expect(fixture.withheld.count == 1)
        let silent = try fixture.reader("A2")
        let speaking = ReadingDevice(silent.device)
        fixture.readers.removeAll { $0 === silent }
        fixture.readers.append(speaking)
        fixture.now += 7200
        let third = try await fixture.say("Three")
        #expect(try speaking.read(third)?.text == "Three")
        #expect(session(first) == session(third))
    }

    @Test("An unreachable server delays nobody; its users get the key when it is back")
    func awayServer() async throws {
        var fixture = try await SendingFixture()
        fixture.members["@far:c"] = "join"
        fixture.readers.append(try ReadingDevice("@far:c", "F1"))
        fixture.unreachedServers = ["c"]
        let first = try await fixture.say("One")
        #expect(try fixture.reader("A1").read(first)?.text == "One" && fixture.reader("F1").read(first) == nil)
        fixture.unreachedServers = []
        fixture.now += 3600
        try await fixture.answerAll()
        let second = try await fixture.say("Two")
        #expect(try fixture.reader("F1").read(second)?.text == "Two")
    }

    @Test("A device whose keys have changed, or are no longer signed, gets no room key")
    func disputedDevice() async throws {
        var fixture = try await SendingFixture()
        fixture.readers.append(try ReadingDevice("@a:b", "A2"))
        let first = try await fixture.say("One")
        let honest = try fixture.reader("A2")
        #expect(try honest.read(first) != nil)
        fixture.readers.removeAll { $0.device.device == "A2" }
        let other = try ReadingDevice("@a:b", "A2")
        fixture.readers.append(other)
        try await fixture.sync(changed: ["@a:b"])
        let second = try await fixture.say("Two")
        #expect(try other.read(second) == nil && honest.read(second) == nil)
        #expect(try fixture.reader("A1").read(second)?.text == "Two")
        try await fixture.machine.restart()
        let third = try await fixture.say("Three")
        #expect(try other.read(third) == nil && honest.read(third) == nil && other.contents.isEmpty)
    }

    // MARK: What is on the disk

    @Test("If storing fails at any step, nothing is sent, no index is used twice, and the next attempt succeeds")
    func failingStorage() async throws {
        var indices: [String: Set<UInt32>] = [:]
        for failure in 1...12 {
            var fixture = try await SendingFixture()
            if failure % 2 == 0 { _ = try await fixture.say("Before") }
            var sealed: JSONValue?
            await fixture.machine.storage.fail(at: failure)
            for attempt in 0..<4 where sealed == nil {
                do {
                    sealed = try await fixture.say("Text \(attempt)")
                } catch is FakeCryptoStorage.Full {
                    if failure % 3 == 0 { try await fixture.machine.restart() }
                }
            }
            await fixture.machine.storage.fail(at: 0)
            let first = try #require(sealed)
            let second = try await fixture.say("After")
            for one in [first, second] {
                let read = try #require(try fixture.reader("A1").read(one))
                #expect(indices[session(one), default: []].insert(read.index).inserted, "\(failure)")
            }
        }
    }

    @Test("Unreadable devices, identities and sessions do not count as missing: nothing is sent")
    func unreadableStorage() async throws {
        for kind in [CryptoRecord.Kind.device, .identity, .olmSession, .readMessage] {
            var fixture = try await SendingFixture()
            let first = try await fixture.say("One")
            fixture.readers.append(try ReadingDevice("@a:b", "A2"))
            try await fixture.sync(changed: ["@a:b"])
            await fixture.machine.storage.failReading([kind])
            let storage = fixture.machine.storage
            let (sends, records) = (fixture.counts["send"], await storage.records)
            await #expect(throws: FakeCryptoStorage.Full.self) { try await fixture.say("Two") }
            #expect(await storage.records[OutboundRoom.key(fixture.room)] == records[OutboundRoom.key(fixture.room)])
            #expect(fixture.counts["send"] == sends)
            await storage.failReading([])
            let second = try await fixture.say("Two")
            #expect(session(first) == session(second), "\(kind)")
            #expect(try fixture.readers.allSatisfy { try $0.read(second)?.text == "Two" }, "\(kind)")
        }
    }

    @Test("A key whose response was lost is sent again unchanged, also after a restart, and the message waits for it")
    func lostAnswers() async throws {
        var fixture = try await SendingFixture()
        fixture.lostSends = 1
        let first = try await fixture.say("One")
        #expect(fixture.transactions.count == 2 && Set(fixture.transactions).count == 1)
        #expect(try fixture.reader("A1").read(first)?.text == "One")

        var other = try await SendingFixture()
        for _ in 0..<6 {
            let sealing = try await other.subject.seal("m.room.message", [:], in: other.room, at: other.now)
            switch sealing {
            case .needsMembers(let version):
                _ = try await other.subject.setMembers(
                    other.members, visibility: nil, of: other.room, since: version)
            default: break
            }
            let request = try await other.subject.nextRequest(at: other.now)
            guard case .sendAll(let batch)? = request?.action else {
                if let request { try await other.subject.failed(request) }
                try await other.answerNext()
                continue
            }
            // The process ends with the request in flight.
            try await other.machine.restart()
            guard case .sendAll(let again)? = try await other.subject.nextRequest(at: other.now)?.action else {
                return #expect(Bool(false))
            }
            #expect(batch == again)
            try await other.machine.restart()
            #expect(try await other.subject.seal("m.room.message", [:], in: other.room, at: other.now) == .waits)
            let sealed = try await other.say("Text")
            #expect(try other.reader("A1").read(sealed)?.text == "Text" && other.reader("A1").contents.count == 1)
            return
        }
        #expect(Bool(false), "no key was sent")
    }

    @Test("After a recovery new sessions start with the room and its devices, and all members are requested again")
    func repair() async throws {
        var fixture = try await SendingFixture()
        let first = session(try await fixture.say("One"))
        let stored = await fixture.machine.storage.cryptoRecords(.olmSession, owner: nil)
        try await fixture.subject.outdate()
        #expect(session(try await fixture.say("Two")) != first && fixture.counts["members"] == 2)
        // The recovered session with the device may be an earlier state of one that has encrypted since.
        #expect(fixture.counts["claim"] == 2)
        let left = await fixture.machine.storage.cryptoRecords(.olmSession, owner: nil)
        #expect(Set(left.map(\.key)).isSuperset(of: stored.map(\.key)) && left.count == stored.count + 1)
        // The new one is used from then on, also after a restart.
        fixture.now += 8 * 86_400
        try await fixture.machine.restart()
        _ = try await fixture.say("Three")
        #expect(fixture.counts["claim"] == 2 && fixture.counts["send"] == 3)
    }

    @Test("A message that cannot be encrypted is rejected with the reason")
    func rejections() async throws {
        let fixture = try await SendingFixture()
        let machine = fixture.subject
        func seal(_ content: [String: JSONValue], in room: ExactText) async throws -> CryptoMachine.Sealing {
            try await machine.seal("m.room.message", content, in: room, at: fixture.now)
        }
        #expect(try await seal([:], in: "!other:b") == .refused(.clear))
        try await EncryptedRoom.note(
            [("!odd:b", ["algorithm": "m.odd"])], in: fixture.machine.storage, at: fixture.now)
        #expect(try await seal([:], in: "!odd:b") == .refused(.algorithm))
        #expect(try await seal(["x": .number(0.5)], in: fixture.room) == .refused(.content))
    }

    @Test("A thousand devices get the key in a few requests")
    func manyDevices() async throws {
        var fixture = try await SendingFixture()
        for number in 0..<500 {
            let user = ExactText("@u\(number):b")
            fixture.members[user] = "join"
            for device in 0..<2 { fixture.readers.append(try ReadingDevice(user, ExactText("D\(number)-\(device)"))) }
        }
        let sealed = try await fixture.say("All")
        #expect(try fixture.readers.allSatisfy { try $0.read(sealed)?.text == "All" })
        #expect(fixture.counts.values.reduce(0, +) <= 20, "\(fixture.counts)")
    }
}
