import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import Ratchets
import Testing
import ToolSupport

@testable import MatrixCrypto

@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct UnopenedMessagesTests {
    private func kept(_ fixture: MachineFixture) async -> [CryptoRecord] {
        await fixture.storage.cryptoRecords(.unopenedMessage, owner: nil)
    }

    private func keep(_ events: [JSONValue], _ fixture: MachineFixture) async throws {
        try await UnopenedMessages.keep(events, in: fixture.storage)
    }

    private func memoryKey(of peer: TestPeer) -> CryptoRecord.Key {
        let device = peer.device
        return OlmPeer.memoryKey(OlmPeer.ID(user: device.user, identityKey: device.account.identityKey))
    }

    private func reads(_ event: SealedEvent, _ fixture: MachineFixture) async throws -> Bool {
        (try? await fixture.machine.read([event])[0].get()) != nil
    }

    @Test("Messages received without the keys are read in order once the keys are open, and then removed")
    func order() async throws {
        var fixture = try await MachineFixture()
        let peer = try await fixture.peer()
        try await fixture.know([peer.device])
        let groups = try (0..<3).map { _ in try OutboundGroupSession() }
        // The first message establishes the session of the others.
        for group in groups { try await keep([peer.share(group), ["type": "m.presence"]], fixture) }
        let events = try groups.enumerated().map { try peer.say("x", with: $1, as: ExactText("$\($0)")) }
        #expect(await kept(fixture).count == 4)
        try await fixture.restart()
        #expect(try await fixture.machine.receiveUnopened(at: fixture.start).sessions.count == 3)
        for event in events { #expect(try await reads(event, fixture)) }
        #expect(await kept(fixture).isEmpty)
        #expect(try await fixture.machine.receiveUnopened(at: fixture.start) == CryptoReceipt())
    }

    @Test("The same messages again, as after a token that was not stored, change nothing")
    func repeated() async throws {
        let fixture = try await MachineFixture()
        let event = try await fixture.peer().share(OutboundGroupSession())
        try await keep([event], fixture)
        try await keep([event], fixture)
        let receipt = try await fixture.machine.receiveUnopened(at: fixture.start)
        #expect(receipt.sessions.count == 1 && receipt.rejected == [.repeated: 1])
    }

    @Test("Number and size are bounded; the oldest are kept, as later ones depend on them")
    func bounds() async throws {
        let fixture = try await MachineFixture()
        func event(_ number: Int, _ size: Int = 10) -> JSONValue {
            [
                "type": "m.room.encrypted", "sender": .string("@\(number):b"),
                "content": ["x": .string(String(repeating: "x", count: size))],
            ]
        }
        for part in 0..<12 { try await keep((0..<1000).map { event(part * 1000 + $0) }, fixture) }
        let stored = try await kept(fixture).flatMap { try JSONValue(parsing: $0.value).array ?? [] }
        #expect(stored.count == 10_000 && stored.first?["sender"] == "@0:b" && stored.last?["sender"] == "@9999:b")

        let other = try await MachineFixture()
        // A message longer than any genuine one is not stored at all.
        try await keep([event(0, 300_000), event(1)], other)
        #expect(await kept(other).map(\.value.count).reduce(0, +) < 1000)
        try await keep((0..<150).map { event($0, 250_000) }, other)
        let size = await kept(other).map(\.value.count).reduce(0, +)
        #expect(size > 30_000_000 && size < 34_000_000)
    }

    @Test("One sender does not use up what is stored of others, neither by number nor by size")
    func boundsOfSender() async throws {
        func event(_ sender: String, _ size: Int = 10) -> JSONValue {
            [
                "type": "m.room.encrypted", "sender": .string(sender),
                "content": ["x": .string(String(repeating: "x", count: size))],
            ]
        }
        func counts(_ fixture: MachineFixture) async throws -> [ExactText: Int] {
            let stored = try await kept(fixture).flatMap { try JSONValue(parsing: $0.value).array ?? [] }
            return Dictionary(grouping: stored.compactMap { $0["sender"]?.exactText }) { $0 }.mapValues(\.count)
        }
        let fixture = try await MachineFixture()
        // Two users, whose IDs look the same.
        let (flooding, other): (ExactText, ExactText) = ("@\u{E9}:b", "@e\u{301}:b")
        for _ in 0..<12 { try await keep(Array(repeating: event(flooding.text), count: 1_000), fixture) }
        try await keep([event(other.text), event(""), event(String(repeating: "@", count: 256))], fixture)
        #expect(try await counts(fixture) == [flooding: UnopenedMessages.maxCountOfSender, other: 1])
        // The head of an earlier version has no senders.
        let head = CryptoRecord.Key(.unopenedMessage)
        await fixture.storage.set(Data(#"{"next": 7, "count": 501, "bytes": 5000}"#.utf8), for: head)
        try await keep([event(flooding.text), event(other.text)], fixture)
        #expect(try await counts(fixture) == [flooding: UnopenedMessages.maxCountOfSender, other: 2])

        let large = try await MachineFixture()
        try await keep(Array(repeating: event(flooding.text, 250_000), count: 150), large)
        try await keep([event(other.text, 250_000)], large)
        #expect(try await counts(large) == [flooding: 8, other: 1])
    }

    @Test("A message that cannot be processed blocks no other, and stays stored")
    func failing() async throws {
        let fixture = try await MachineFixture()
        let (device, keys) = try await fixture.published()
        let peers = try [
            TestPeer("@a:b", "A", to: device, with: keys[0]), TestPeer("@c:b", "C", to: device, with: keys[1]),
        ]
        try await fixture.know(peers.map(\.device))
        let group = try OutboundGroupSession()
        let memory = memoryKey(of: peers[0])
        await fixture.storage.failReading(of: memory)
        try await keep([peers[0].share(group), peers[1].share(OutboundGroupSession())], fixture)
        let lost = try peers[0].say("x", with: group, as: "$1")
        #expect(try await fixture.machine.receiveUnopened(at: fixture.start).sessions.count == 1)
        #expect(try await !reads(lost, fixture))
        #expect(await kept(fixture).count == 1)
        await fixture.storage.failReading(of: nil)
        #expect(try await fixture.machine.receiveUnopened(at: fixture.start).sessions.count == 1)
        #expect(try await reads(lost, fixture))
        #expect(await kept(fixture).isEmpty)
    }

    @Test("A message that arrives while earlier ones are processed is not replaced by the next one")
    func arrivingMeanwhile() async throws {
        let fixture = try await MachineFixture()
        let (device, keys) = try await fixture.published()
        let peers = try (0..<3).map { try TestPeer("@a:b", ExactText("D\($0)"), to: device, with: keys[$0]) }
        try await fixture.know(peers.map(\.device))
        let events = try peers.map { try $0.share(OutboundGroupSession()) }
        // The first one stays stored.
        let memory = memoryKey(of: peers[0])
        await fixture.storage.failReading(of: memory)
        try await keep([events[0]], fixture)
        let (storage, late) = (fixture.storage, events[1])
        await storage.interrupt(changeOf: CryptoRecord.Key(.unopenedMessage)) {
            try await UnopenedMessages.keep([late], in: storage)
        }
        #expect(try await fixture.machine.receiveUnopened(at: fixture.start).sessions.isEmpty)
        try await keep([events[2]], fixture)
        #expect(try await fixture.machine.receiveUnopened(at: fixture.start).sessions.count == 2)
    }

    @Test("A storage failure at any step loses nothing")
    func fullDisk() async throws {
        for step in 1...4 {
            var fixture = try await MachineFixture()
            let peer = try await fixture.peer()
            try await fixture.know([peer.device])
            let group = try OutboundGroupSession()
            try await keep([peer.share(group)], fixture)
            let event = try peer.say("x", with: group, as: "$1")
            await fixture.storage.fail(at: step)
            // Fails at this step, unless there are fewer.
            _ = try? await fixture.machine.receiveUnopened(at: fixture.start)
            await fixture.storage.fail(at: 0)
            try await fixture.restart()
            _ = try await fixture.machine.receiveUnopened(at: fixture.start)
            #expect(try await reads(event, fixture), "\(step)")
            #expect(await kept(fixture).isEmpty)
        }
    }

    @Test("Unreadable records are skipped; another device starts without them")
    func oddRecords() async throws {
        let fixture = try await MachineFixture()
        let group = try OutboundGroupSession()
        let key = try await fixture.peer().share(group)
        for odd in ["", "{", "5", "[5, null, {}]"] {
            await fixture.storage.set(
                Data(odd.utf8), for: CryptoRecord.Key(.unopenedMessage, id: ExactText("0\(odd.utf8.count)")))
        }
        await fixture.storage.set(Data("odd".utf8), for: CryptoRecord.Key(.unopenedMessage))
        try await keep([key], fixture)
        #expect(try await fixture.machine.receiveUnopened(at: fixture.start).sessions.count == 1)
        #expect(await kept(fixture).isEmpty)
        try await keep([key], fixture)
        try await CryptoMachine.begin(user: "@me:b", device: "NEXT", in: fixture.storage, key: fixture.key)
        #expect(await kept(fixture).isEmpty)
    }
}
