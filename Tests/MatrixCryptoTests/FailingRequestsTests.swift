import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing
import ToolSupport

/// Messages from and to the device while requests about devices and keys fail.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct FailingRequestsTests {
    /// Lets the next query of devices fail, as by a server that does not respond.
    private func failQuery(of fixture: MachineFixture) async throws {
        while let request = try await fixture.machine.nextRequest(at: fixture.start) {
            guard case .query = request.action else {
                try await fixture.machine.answered(request, with: [:], at: fixture.start)
                continue
            }
            return try await fixture.machine.failed(request)
        }
        Issue.record("no query")
    }

    private func texts(_ events: [SealedEvent], in fixture: MachineFixture) async throws -> [String] {
        try await fixture.machine.read(events).map { reading in
            switch reading {
            case .success(let payload): payload.content["body"]?.string ?? "?"
            case .failure(let seal): "\(seal)"
            }
        }
    }

    @Test("Room keys of unknown devices are stored, also over a restart, and used once a query succeeds")
    func unknownDevices() async throws {
        var fixture = try await MachineFixture()
        let (own, keys) = try await fixture.published()
        let peers = try (0..<3).map { try TestPeer(ExactText("@ann\($0):b"), "LAPTOP", to: own, with: keys[$0]) }
        var (messages, events, expected): ([JSONValue], [SealedEvent], [String]) = ([], [], [])
        for number in 0..<12 {
            let (peer, group) = (peers[number % 3], try OutboundGroupSession())
            messages.append(try peer.share(group))
            events.append(try peer.say("\(number)", with: group, as: ExactText("$\(number)")))
            expected.append("\(number)")
        }
        #expect(try await fixture.receive(Array(messages[..<5])).sessions.count == 5)
        try await failQuery(of: fixture)
        #expect(Set(try await texts(Array(events[..<5]), in: fixture)) == ["unknownSender"])
        try await fixture.restart()
        #expect(try await fixture.receive(Array(messages[5...])).sessions.count == 7)
        try await failQuery(of: fixture)
        #expect(Set(try await texts(events, in: fixture)) == ["unknownSender"])
        try await fixture.answerAll(peers.map(\.device))
        #expect(try await texts(events, in: fixture) == expected)
    }

    @Test("Messages are processed in their order: a later one first would lose the keys for the earlier ones")
    func order() async throws {
        let fixture = try await MachineFixture()
        let peer = try await fixture.peer()
        // More than a receiver stores keys for of those that it has skipped.
        let groups = try (0..<60).map { _ in try OutboundGroupSession() }
        let receipt = try await fixture.receive(try groups.map { try peer.share($0) })
        #expect(receipt.sessions.count == 60 && receipt.rejected.isEmpty)
        try await failQuery(of: fixture)
        let events = try groups.enumerated().map { try peer.say("\($0)", with: $1, as: ExactText("$\($0)")) }
        try await fixture.answerAll([peer.device])
        #expect(try await texts(events, in: fixture) == (0..<60).map { "\($0)" })
    }

    @Test("A message does not wait for lists whose queries are rejected, and only devices known before get its key")
    func rejectedLists() async throws {
        var fixture = try await SendingFixture()
        fixture.members["@big:b"] = "join"
        fixture.readers.append(try ReadingDevice("@big:b", "B1"))
        _ = try await fixture.say("Before")
        fixture.readers += [try ReadingDevice("@big:b", "B2"), try ReadingDevice("@new:b", "C1")]
        fixture.rejectedUsers = ["@big:b", "@new:b"]
        try await fixture.sync([.member("@new:b", "join")], changed: ["@a:b", "@big:b"])
        let during = try await fixture.say("During")
        for known: ExactText in ["A1", "B1"] { #expect(try fixture.reader(known).read(during)?.text == "During") }
        for unknown: ExactText in ["B2", "C1"] { #expect(try fixture.reader(unknown).contents.isEmpty) }
        fixture.rejectedUsers = []
        fixture.now += 15
        try await fixture.answerAll()
        let after = try await fixture.say("After")
        for device: ExactText in ["A1", "B1", "B2", "C1"] {
            #expect(try fixture.reader(device).read(after)?.text == "After")
        }
    }

    /// A room that two devices read, and a server that rejects what a condition holds for.
    private func sendingFixture(
        rejecting rejects: @escaping (CryptoRequest) throws -> Bool
    ) async throws -> SendingFixture {
        var fixture = try await SendingFixture()
        fixture.readers.append(try ReadingDevice("@a:b", "A2"))
        fixture.rejects = rejects
        return fixture
    }

    @Test(
        "If the server rejects a request for two devices, both can read the message, also after a restart",
        arguments: [CryptoRequest.Kind.claim, .send], [false, true])
    func rejectedBatches(_ kind: CryptoRequest.Kind, restarts: Bool) async throws {
        var fixture = try await sendingFixture { $0.action.kind == kind && $0.divisibleSize ?? 0 > 1 }
        while restarts, fixture.rejections == 0 {
            switch try await fixture.subject.seal("m.room.message", [:], in: fixture.room, at: fixture.now) {
            case .needsMembers(let version):
                _ = try await fixture.subject.setMembers(
                    fixture.members, visibility: "shared", of: fixture.room, since: version)
            case .waits: try await fixture.answerAll()
            case .sealed, .refused: return #expect(Bool(false), "without the devices")
            }
        }
        if restarts { try await fixture.machine.restart() }
        let sealed = try await fixture.say("Text")
        for device: ExactText in ["A1", "A2"] { #expect(try fixture.reader(device).read(sealed)?.text == "Text") }
        #expect(fixture.rejections > 0 && fixture.withheld.isEmpty)
    }

    @Test(
        "A device whose requests the server rejects holds up nobody, and gets the key with a later message",
        arguments: [CryptoRequest.Kind.claim, .send])
    func rejectedDevice(_ kind: CryptoRequest.Kind) async throws {
        var fixture = try await sendingFixture { request in
            try request.action.kind == kind && SendingFixture.devices(of: request).contains("A2")
        }
        let first = try await fixture.say("One")
        #expect(try fixture.reader("A1").read(first)?.text == "One" && fixture.reader("A2").read(first) == nil)
        // Together with the other device, and alone.
        #expect(fixture.rejections == 2)
        try await fixture.answerAll()
        let codes: [JSONValue?] = kind == .claim ? ["m.no_olm"] : []
        #expect(fixture.withheld.map { $0["code"] } == codes)
        fixture.rejects = { _ in false }
        fixture.now += 15
        let second = try await fixture.say("Two")
        for device: ExactText in ["A1", "A2"] { #expect(try fixture.reader(device).read(second)?.text == "Two") }
    }

    @Test(
        "A server that rejects all requests for keys is not asked without an end",
        arguments: [CryptoRequest.Kind.claim, .send])
    func allRejected(_ kind: CryptoRequest.Kind) async throws {
        var fixture = try await sendingFixture { $0.action.kind == kind && $0.divisibleSize != nil }
        for number in 3...8 { fixture.readers.append(try ReadingDevice("@a:b", ExactText("A\(number)"))) }
        let sealed = try await fixture.say("Text")
        #expect(fixture.rejections == 15)
        #expect(try fixture.readers.allSatisfy { try $0.read(sealed) == nil })
    }

    @Test(
        "A message waits for a usable response to a claim",
        arguments: [[:], ["one_time_keys": .null], ["one_time_keys": [:], "failures": 5]] as [JSONValue])
    func unusableClaim(_ answer: JSONValue) async throws {
        var fixture = try await SendingFixture()
        fixture.unusableAnswers = [answer]
        await #expect(throws: CancellationError.self) { try await fixture.say("Too early") }
        #expect(fixture.counts["claim"] == 1 && fixture.withheld.isEmpty)
        #expect(try await fixture.subject.nextAttempt(after: fixture.now) == fixture.now + 15)
        fixture.now += 15
        let sealed = try await fixture.say("Text")
        #expect(try fixture.reader("A1").read(sealed)?.text == "Text")
    }

    @Test("While requests of one kind fail, others are made, and the failed one is repeated as it was")
    func otherKinds() async throws {
        var fixture = try await SendingFixture()
        let (machine, now) = (fixture.subject, fixture.now)
        let room = fixture.room
        func seal() async throws -> CryptoMachine.Sealing {
            try await machine.seal("m.room.message", ["body": "x"], in: room, at: now)
        }
        guard case .needsMembers(let version) = try await seal() else { return #expect(Bool(false)) }
        _ = try await machine.setMembers(fixture.members, visibility: "shared", of: room, since: version)
        #expect(try await seal() == .waits)
        // Of the readers' devices.
        try await fixture.answerNext()
        #expect(try await seal() == .waits)
        try await machine.track(["@c:b"])
        for kind in [CryptoRequest.Kind.claim, .send] {
            let failed = try #require(try await machine.nextRequest(at: now))
            #expect(failed.action.kind == kind)
            try await machine.failed(failed)
            let other = try #require(try await machine.nextRequest(at: now, skipping: [kind]))
            #expect(other.action.kind == .query)
            try await machine.failed(other)
            #expect(try await machine.nextRequest(at: now, skipping: [kind, .query]) == nil)
            let again = try #require(try await machine.nextRequest(at: now))
            #expect(again == failed)
            try await machine.failed(again)
            try await fixture.answerNext()
            if kind == .claim { #expect(try await seal() == .waits) }
        }
        guard case .sealed(let sealed) = try await seal() else { return #expect(Bool(false)) }
        #expect(try fixture.reader("A1").read(sealed)?.text == "x")
    }

    @Test("Once the one-time keys are used up and uploads fail, one fallback key serves all devices")
    func fallbackKey() async throws {
        var fixture = try await MachineFixture()
        let target = try await fixture.published().device
        var sync = CryptoSync(kind: .sliding)
        (sync.keyCounts, sync.unusedFallbackKeys) = (["signed_curve25519": 50], [])
        var keys: [Curve25519Key] = []
        // The first sync after an upload may be from before it.
        for _ in 0..<2 {
            _ = try await fixture.machine.received(sync, at: fixture.start)
            for case .upload(let body) in try await fixture.answerAll() {
                let upload = try JSONValue(parsing: Data(body))["fallback_keys"]?.object ?? [:]
                keys += try upload.values.map { try Curve25519Key(base64: $0["key"]?.string ?? "") }
            }
        }
        let key = try #require(keys.last)
        let peers = try ["@ann:b", "@bob:b"].map { try TestPeer(ExactText($0), "LAPTOP", to: target, with: key) }
        let groups = try peers.map { _ in try OutboundGroupSession() }
        let messages = try zip(peers, groups).map { try $0.share($1) }
        let events = try zip(peers, groups).map { try $0.say($0.device.user.text, with: $1, as: $0.device.user) }

        sync.keyCounts = ["signed_curve25519": 0]
        _ = try await fixture.machine.received(sync, at: fixture.start)
        let request = try #require(try await fixture.machine.nextRequest(at: fixture.start))
        guard case .upload = request.action else { return #expect(Bool(false), "no upload") }
        try await fixture.machine.failed(request)
        for message in messages {
            #expect(try await fixture.receive([message]).sessions.count == 1)
            try await fixture.restart()
        }
        try await fixture.answerAll(peers.map(\.device))
        #expect(try await texts(events, in: fixture) == ["@ann:b", "@bob:b"])
    }
}
