import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing
import ToolSupport

/// Changes of those who read an encrypted room, between two messages.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct ReaderChangesTests {
    @Test("Members whose IDs differ in bytes but not in meaning are two users, and both get the key")
    func equivalentUsers() async throws {
        var fixture = try await SendingFixture()
        let readers = [
            try ReadingDevice("@caf\u{E9}:b", "COMPOSED"), try ReadingDevice("@cafe\u{301}:b", "DECOMPOSED"),
        ]
        #expect(readers[0].device.user.text == readers[1].device.user.text)
        for reader in readers { fixture.members[reader.device.user] = "join" }
        fixture.readers += readers
        let sealed = try await fixture.say("Text")
        for reader in readers { #expect(try reader.read(sealed)?.text == "Text") }
        #expect(fixture.counts["claim"] == 2)
    }

    @Test("The device that replaces another between invitation and join reads what follows, and the former no more")
    func deviceReplacedWhileInvited() async throws {
        var fixture = try await SendingFixture()
        fixture.members["@b:b"] = "invite"
        fixture.readers.append(try ReadingDevice("@b:b", "B1"))
        let first = try await fixture.say("Invited")
        let former = try fixture.reader("B1")
        #expect(try former.read(first)?.text == "Invited")
        fixture.readers.removeAll { $0.device.device == "B1" }
        let present = try ReadingDevice("@b:b", "B2")
        fixture.readers.append(present)
        try await fixture.sync(changed: ["@b:b"])
        let second = try await fixture.say("Another device")
        try await fixture.sync([.member("@b:b", "join")])
        let third = try await fixture.say("Joined")
        #expect(try present.read(first) == nil)
        #expect(try present.read(second)?.text == "Another device" && present.read(third)?.text == "Joined")
        #expect(try former.read(second) == nil && former.read(third) == nil)
        #expect(try fixture.reader("A1").read(third)?.text == "Joined")
    }

    @Test("The device that replaces another with the join itself, in one response, reads what follows")
    func deviceReplacedWithTheJoin() async throws {
        var fixture = try await SendingFixture()
        fixture.members["@b:b"] = "invite"
        fixture.readers.append(try ReadingDevice("@b:b", "B1"))
        _ = try await fixture.say("Invited")
        let former = try fixture.reader("B1")
        fixture.readers.removeAll { $0.device.device == "B1" }
        let present = try ReadingDevice("@b:b", "B2")
        fixture.readers.append(present)
        try await fixture.sync([.member("@b:b", "join")], changed: ["@b:b"])
        let later = try await fixture.say("Joined")
        #expect(try present.read(later)?.text == "Joined" && former.read(later) == nil)
    }

    @Test("While a server is away, devices there get the keys of other rooms by the sessions that they have")
    func awayServerWithSessions() async throws {
        var fixture = try await SendingFixture()
        fixture.members["@far:c"] = "join"
        fixture.readers.append(try ReadingDevice("@far:c", "F1"))
        _ = try await fixture.say("One room")
        let claims = fixture.counts["claim"]

        fixture.unreachedServers = ["c"]
        fixture.room = "!s:b"
        try await EncryptedRoom.note(
            [(fixture.room, ["algorithm": "m.megolm.v1.aes-sha2"])], in: fixture.machine.storage, at: fixture.now)
        // The list of devices is outdated, and cannot be requested.
        try await fixture.sync(changed: ["@far:c"])
        let queries = fixture.counts["query"]
        let away = try await fixture.say("Another room")
        #expect(fixture.counts["query"] != queries)
        for reader in fixture.readers { #expect(try reader.read(away)?.text == "Another room") }
        #expect(fixture.counts["claim"] == claims)

        fixture.readers.append(try ReadingDevice("@far:c", "F2"))
        fixture.unreachedServers = []
        fixture.now += 3600
        try await fixture.answerAll()
        let back = try await fixture.say("Back")
        for reader in fixture.readers { #expect(try reader.read(back)?.text == "Back") }
        #expect(try fixture.reader("F2").read(away) == nil)
    }

    @Test("Another name of a member, whose membership stays, neither rotates the key nor causes requests")
    func renamedMembers() async throws {
        var fixture = try await SendingFixture()
        let first = try await fixture.say("One")
        let counts = fixture.counts
        try await fixture.sync([.member("@a:b", "join"), .member("@me:b", "join")])
        let second = try await fixture.say("Two")
        #expect(first["session_id"] == second["session_id"] && fixture.counts == counts)
        #expect(try fixture.reader("A1").read(second)?.text == "Two")
    }
}
