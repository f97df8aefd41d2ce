import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing
import ToolSupport

@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct CryptoMachineTests {
    private func peer(of fixture: MachineFixture, _ user: ExactText = "@a:b") async throws -> TestPeer {
        let peer = try await fixture.peer(user)
        try await fixture.know([peer.device])
        return peer
    }

    private func bodies(_ readings: [CryptoMachine.Reading]) -> [String] {
        readings.map { reading in
            switch reading {
            case .success(let payload): payload.content["body"]?.string ?? "?"
            case .failure(let seal): "\(seal)"
            }
        }
    }

    // MARK: Own keys

    @Test func aNewDeviceAsksWhoItIsBeforeItUploads() async throws {
        let fixture = try await MachineFixture()
        let kinds = try await fixture.answerAll().map { action in
            switch action {
            case .upload: "upload"
            case .uploadSignatures: "signatures"
            case .query(let query): "query \(query.users)"
            case .claim: "claim"
            case .send, .sendAll: "send"
            }
        }
        #expect(kinds == ["query [@me:b]", "upload"])
        var sync = CryptoSync(kind: .sliding)
        sync.keyCounts = ["signed_curve25519": 0]
        _ = try await fixture.machine.received(sync, at: fixture.start)
        guard case .upload(let body)? = try await fixture.answerAll().first else { return #expect(Bool(false)) }
        #expect(try JSONValue(parsing: Data(body))["one_time_keys"]?.object?.count == 25)
        #expect(try await fixture.machine.nextRequest(at: fixture.start) == nil)
    }

    @Test func anUploadWithoutAnswerIsRepeatedAfterARestart() async throws {
        var fixture = try await MachineFixture()
        _ = try await fixture.published()
        var sync = CryptoSync(kind: .sliding)
        sync.keyCounts = ["signed_curve25519": 3]
        _ = try await fixture.machine.received(sync, at: fixture.start)
        let first = try #require(try await fixture.machine.nextRequest(at: fixture.start))
        // One upload at a time.
        #expect(try await fixture.machine.nextRequest(at: fixture.start) == nil)
        try await fixture.machine.failed(first)
        #expect(try await fixture.machine.nextRequest(at: fixture.start)?.action == first.action)
        try await fixture.restart()
        #expect(try await fixture.machine.nextRequest(at: fixture.start)?.action == first.action)
    }

    @Test func keysOfAnotherProgramForTheDeviceAreLeftAlone() async throws {
        var fixture = try await MachineFixture()
        let other = try TestDevice("@me:b", "ME")
        #expect(try await fixture.answerAll([other]).count == 1)
        #expect(try await fixture.machine.isReplaced())
        try await fixture.restart()
        #expect(try await fixture.machine.nextRequest(at: fixture.start) == nil)
        #expect(try await fixture.machine.isReplaced())
    }

    @Test("A device that the server certainly does not list is uploaded again, once until it is listed")
    func deletedDevice() async throws {
        let fixture = try await MachineFixture()
        let own = try await fixture.published().device
        func uploads(after seconds: Double, _ answer: JSONValue) async throws -> [JSONValue] {
            let now = fixture.start + seconds
            var sync = CryptoSync(kind: .sliding)
            sync.changed = ["@me:b"]
            _ = try await fixture.machine.received(sync, at: now)
            var uploads: [JSONValue] = []
            while let request = try await fixture.machine.nextRequest(at: now) {
                var isQuery = false
                if case .query = request.action { isQuery = true }
                if case .upload(let body) = request.action { uploads.append(try JSONValue(parsing: Data(body))) }
                try await fixture.machine.answered(request, with: isQuery ? answer : [:], at: now)
            }
            return uploads
        }
        let uncertain: [JSONValue] = [
            ["device_keys": [:]], ["device_keys": ["@me:b": [:]], "failures": ["b": [:]]],
            ["device_keys": ["@me:b": [:]], "failures": 1], ["device_keys": ["@me:b": 1]], [:],
        ]
        for (number, answer) in uncertain.enumerated() {
            #expect(try await uploads(after: Double(number) * 100_000, answer).isEmpty, "\(number)")
        }
        let absent: JSONValue = ["device_keys": ["@me:b": [:]]]
        let again = try await uploads(after: 1_000_000, absent)
        #expect(again.count == 1 && again.first?["one_time_keys"]?.object?.count == 25)
        let keys = try #require(again.first?["device_keys"])
        #expect(try DeviceKeys(keys, of: "@me:b", device: "ME").identityKey == own.identityKey)
        #expect(try await uploads(after: 1_100_000, absent).isEmpty)
        let present: JSONValue = ["device_keys": ["@me:b": ["ME": keys]]]
        #expect(try await uploads(after: 1_200_000, present).isEmpty)
        #expect(try await !fixture.machine.isReplaced())
        #expect(try await uploads(after: 1_300_000, absent).count == 1)
    }

    @Test func whatIsOfAnotherDeviceOrKeyIsNoNewDevice() async throws {
        let fixture = try await MachineFixture()
        let before = await fixture.storage.records
        await #expect(throws: CryptoMachine.Failure.otherDevice) {
            try await CryptoMachine(user: "@me:b", device: "OTHER", storage: fixture.storage, key: fixture.key)
        }
        await #expect(throws: KeyUpkeep.Failure.rejected(.pickle)) {
            try await CryptoMachine(user: "@me:b", device: "ME", storage: fixture.storage, key: KeyMaterial())
        }
        await #expect(throws: CryptoMachine.Failure.noDevice) {
            try await CryptoMachine(user: "@me:b", device: "ME", storage: FakeCryptoStorage(), key: fixture.key)
        }
        #expect(await fixture.storage.records == before)
    }

    @Test func aNewDeviceReadsWithTheKeysOfTheOneBefore() async throws {
        let fixture = try await MachineFixture()
        let peer = try await peer(of: fixture)
        let group = try OutboundGroupSession()
        try await fixture.receive([peer.share(group)])
        try await CryptoMachine.begin(user: "@me:b", device: "NEW", in: fixture.storage, key: fixture.key)
        let machine = try await CryptoMachine(
            user: "@me:b", device: "NEW", storage: fixture.storage, key: fixture.key)
        #expect(bodies(try await machine.read([peer.say("one", with: group, as: "$1")])) == ["one"])
        guard case .query(let query)? = try await machine.nextRequest(at: fixture.start)?.action else {
            return #expect(Bool(false))
        }
        #expect(Set(query.users) == ["@me:b", "@a:b"])
    }

    // MARK: Messages to the device

    @Test func aRoomKeyThatComesReadsTheRoom() async throws {
        var fixture = try await MachineFixture()
        let peer = try await peer(of: fixture)
        let group = try OutboundGroupSession()
        let key = try peer.share(group)
        let events = [try peer.say("one", with: group, as: "$1"), try peer.say("two", with: group, as: "$2")]
        #expect(bodies(try await fixture.machine.read(events)) == ["noKey", "noKey"])
        let receipt = try await fixture.receive([key])
        #expect(receipt.sessions == [SessionID(room: "!r:b", session: ExactText(try group.id))])
        #expect(bodies(try await fixture.machine.read(events)) == ["one", "two"])
        try await fixture.restart()
        #expect(bodies(try await fixture.machine.read(events)) == ["one", "two"])
    }

    /// A server delivers again what was not acknowledged.
    @Test func theSameAnswerTwiceChangesNothing() async throws {
        var fixture = try await MachineFixture()
        let peer = try await peer(of: fixture)
        let groups = [try OutboundGroupSession(), try OutboundGroupSession()]
        let events = try groups.map { try peer.share($0) }
        #expect(try await fixture.receive(events).sessions.count == 2)
        let (before, commits) = (await fixture.storage.records, await fixture.storage.commits)
        for _ in 0..<2 {
            let receipt = try await fixture.receive(events)
            #expect(receipt.sessions.isEmpty && receipt.rejected == [.repeated: 2])
            #expect(await fixture.storage.records == before)
            try await fixture.restart()
        }
        #expect(await fixture.storage.commits == commits)
    }

    /// If nothing reached the disk, the one-time key that a message used up is still there when the message is
    /// repeated.
    @Test func aFullDiskLosesNoKey() async throws {
        let fixture = try await MachineFixture()
        let peer = try await peer(of: fixture)
        let group = try OutboundGroupSession()
        let key = try peer.share(group)
        for _ in 0..<3 {
            await fixture.storage.fail(1)
            await #expect(throws: FakeCryptoStorage.Full.self) { try await fixture.receive([key]) }
        }
        #expect(try await fixture.receive([key]).sessions.count == 1)
        let event = try peer.say("one", with: group, as: "$1")
        await fixture.storage.fail(1)
        await #expect(throws: FakeCryptoStorage.Full.self) { try await fixture.machine.read([event]) }
        #expect(bodies(try await fixture.machine.read([event])) == ["one"])
    }

    @Test func nothingForEncryptionCostsNothing() async throws {
        let fixture = try await MachineFixture()
        _ = try await fixture.published()
        let commits = await fixture.storage.commits
        for _ in 0..<3 { try await fixture.receive([]) }
        #expect(try await fixture.machine.nextRequest(at: fixture.start) == nil)
        #expect(await fixture.storage.commits == commits)
    }

    @Test func thePositionIsStoredWithWhatCameBeforeIt() async throws {
        let fixture = try await MachineFixture()
        let peer = try await peer(of: fixture)
        var sync = CryptoSync(kind: .sliding)
        sync.events = [try peer.share(OutboundGroupSession())]
        sync.position = "17"
        await fixture.storage.fail(1)
        await #expect(throws: FakeCryptoStorage.Full.self) {
            try await fixture.machine.received(sync, at: fixture.start)
        }
        #expect(try await fixture.machine.position() == nil)
        _ = try await fixture.machine.received(sync, at: fixture.start)
        #expect(try await fixture.machine.position() == "17")
    }

    // MARK: Holes

    /// A room key is accepted only through Olm and from its creator.
    @Test func keysByOtherWaysAreRefused() async throws {
        let fixture = try await MachineFixture()
        let peer = try await peer(of: fixture)
        let group = try OutboundGroupSession()
        let content = try peer.roomKey(of: group)
        let clear: JSONValue = ["type": "m.room_key", "sender": "@a:b", "content": content]
        let passedOn: JSONValue = ["type": "m.forwarded_room_key", "sender": "@a:b", "content": content]
        let sealed = try peer.sealed(peer.payload("m.forwarded_room_key", content))
        let receipt = try await fixture.receive([clear, passedOn, sealed])
        #expect(receipt.sessions.isEmpty && receipt.rejected == [.clear: 2, .forwarded: 1])
        #expect(bodies(try await fixture.machine.read([peer.say("one", with: group, as: "$1")])) == ["noKey"])
    }

    @Test(arguments: ["recipient", "recipient_keys", "sender", "keys", "sender_device_keys", "type", "content"])
    func aPayloadOfAnotherIsRefused(member: String) async throws {
        let fixture = try await MachineFixture()
        let peer = try await peer(of: fixture)
        let other = try TestDevice("@a:b", "PEER")
        // Of each, one key is the sending device's.
        var (otherIdentity, otherSigning) = (peer.device, other)
        otherIdentity.publishedIdentityKey = other.account.identityKey
        otherSigning.publishedIdentityKey = peer.device.account.identityKey
        let wrong: [JSONValue] = [
            5, "@other:b", [:], ["ed25519": .string("\(other.account.signingKey)")], ["ed25519": ""],
            try other.json(), try otherIdentity.json(), try otherSigning.json(),
            try TestDevice("@other:b", "PEER", account: peer.device.account).json(),
        ]
        for value in wrong {
            // Any string is a type, and any object a content.
            if member == "type", value.string != nil { continue }
            if member == "content", value.object != nil { continue }
            var payload = try peer.payload("m.room_key", peer.roomKey(of: OutboundGroupSession()))
            payload[member] = value
            let receipt = try await fixture.receive([peer.sealed(payload)])
            #expect(receipt.sessions.isEmpty && receipt.rejected.values.reduce(0, +) == 1, "\(member) \(value)")
        }
    }

    @Test func aServerThatNamesAnotherSenderIsNotBelieved() async throws {
        let fixture = try await MachineFixture()
        let peer = try await peer(of: fixture)
        let group = try OutboundGroupSession()
        let content = try peer.roomKey(of: group)
        let receipt = try await fixture.receive([peer.sealed(peer.payload("m.room_key", content), from: "@other:b")])
        #expect(receipt.sessions.isEmpty && receipt.rejected == [.sender: 1])
        try await fixture.receive([peer.share(group)])
        let event = try peer.say("one", with: group, as: "$1")
        let spoofed = SealedEvent(room: event.room, event: "$1", sender: "@other:b", content: event.content)
        #expect(bodies(try await fixture.machine.read([spoofed, event])) == ["sender", "one"])
    }

    @Test func aRepeatedMessageIsReadFromItsFirstEventAlone() async throws {
        var fixture = try await MachineFixture()
        let peer = try await peer(of: fixture)
        let group = try OutboundGroupSession()
        try await fixture.receive([peer.share(group)])
        let event = try peer.say("one", with: group, as: "$1")
        let again = SealedEvent(room: event.room, event: "$2", sender: event.sender, content: event.content)
        #expect(bodies(try await fixture.machine.read([event, again, event])) == ["one", "replay", "one"])
        try await fixture.restart()
        #expect(bodies(try await fixture.machine.read([again, event])) == ["replay", "one"])
        let elsewhere = SealedEvent(room: "!other:b", event: "$3", sender: event.sender, content: event.content)
        #expect(bodies(try await fixture.machine.read([elsewhere])) == ["noKey"])
    }

    /// It may make it readable from an earlier message on: a ratchet cannot be turned back.
    @Test func aSessionIsNotReplacedByAnothersKey() async throws {
        let fixture = try await MachineFixture()
        let (device, keys) = try await fixture.published()
        let peer = try TestPeer("@a:b", "PEER", to: device, with: keys[0])
        let stranger = try TestPeer("@x:b", "X", to: device, with: keys[1])
        try await fixture.know([peer.device, stranger.device])
        let group = try OutboundGroupSession()
        let early = try stranger.share(group)
        _ = try group.encrypt([])
        try await fixture.receive([peer.share(group)])
        let receipt = try await fixture.receive([early])
        #expect(receipt.sessions.count == 1 && receipt.rejected.isEmpty)
        #expect(try await fixture.receive([early]).sessions.isEmpty)
        #expect(bodies(try await fixture.machine.read([peer.say("one", with: group, as: "$1")])) == ["one"])
    }

    /// Whatever a field contains: the message is skipped, the state stays, and later messages are read.
    @Test func anythingAtAllCostsItself() async throws {
        let fixture = try await MachineFixture()
        let peer = try await peer(of: fixture)
        let whole = try #require(try peer.share(OutboundGroupSession()).object)
        let anything: [JSONValue] = [
            .null, true, 5, -1, .number(0.5), "", "%", "AAAA", [], [[]], [:], ["type": 0, "body": "AAAA"],
            .string(String(repeating: "A", count: 200_000)),
        ]
        var events: [JSONValue] = anything
        for value in anything {
            // A wrong sender is rejected only after decryption (see above), which uses up the message.
            for name in ["type", "sender", "content"] where name != "sender" || value.string?.isEmpty != false {
                var event = whole
                event[name] = value
                events.append(.object(event))
            }
            for name in ["algorithm", "sender_key", "ciphertext"] {
                var (event, content) = (whole, try #require(whole["content"]?.object))
                content[name] = value
                event["content"] = .object(content)
                events.append(.object(event))
            }
            for name in ["type", "body"] {
                var (event, content) = (whole, try #require(whole["content"]?.object))
                var message = try #require(content["ciphertext"]?["\(peer.target.identityKey)"]?.object)
                message[name] = value
                content["ciphertext"] = .object(["\(peer.target.identityKey)": .object(message)])
                event["content"] = .object(content)
                events.append(.object(event))
            }
        }
        let known = Set(await fixture.storage.records.keys)
        let receipt = try await fixture.receive(events)
        #expect(receipt.sessions.isEmpty)
        let news = Set(await fixture.storage.records.keys).subtracting(known)
        // Only the need for a new session is recorded.
        #expect(news.allSatisfy { [.readMessage, .outgoingRequest].contains($0.kind) })
        #expect(news.count <= 2)
        #expect(try await fixture.receive([.object(whole)]).sessions.count == 1)
    }

    // MARK: New sessions

    @Test func whoseMessagesNothingReadsGetsANewSessionOnceAnHour() async throws {
        let fixture = try await MachineFixture()
        let peer = try await peer(of: fixture)
        try await fixture.receive([peer.share(OutboundGroupSession())])
        let unreadable = try TestPeer("@a:b", "PEER", to: peer.target, with: OlmAccount().identityKey)
        let lost = { () throws -> JSONValue in
            var event = try #require(try unreadable.share(OutboundGroupSession()).object)
            event["content"] = .object(
                try #require(event["content"]?.object).merging(
                    ["sender_key": .string("\(peer.device.account.identityKey)")]) { $1 })
            return .object(event)
        }
        #expect(try await fixture.receive([lost(), lost()]).rejected == [.unreadable: 2])
        try peer.device.account.generateOneTimeKeys(2)
        let claimed = try peer.device.account.unpublishedOneTimeKeys.map { key -> JSONValue in
            let signed = try SignedJSON.signed(["key": .string("\(key.key)")], by: "@a:b", keyID: "PEER") {
                try peer.device.account.sign($0)
            }
            return .object(["signed_curve25519:\(key.id)": .object(signed)])
        }
        var sent: [DeviceMessage] = []
        for case .send(let message) in try await fixture.answerAll([peer.device], claims: ["PEER": claimed[0]]) {
            sent.append(message)
        }
        #expect(sent.map(\.user) == ["@a:b"] && sent.map(\.device) == ["PEER"])
        // The peer can decrypt it, which establishes the new session.
        let content = try JSONValue(parsing: try #require(sent.first).content)
        let message = try #require(content["ciphertext"]?["\(peer.device.account.identityKey)"])
        let (session, plaintext) = try peer.device.account.session(
            from: Base64.decoded(message["body"]?.string ?? ""), of: peer.target.identityKey)
        let payload = try JSONValue(parsing: Data(plaintext))
        #expect(payload["type"] == "m.dummy" && payload["recipient"] == "@a:b" && payload["sender"] == "@me:b")
        #expect(
            try DeviceKeys(#require(payload["sender_device_keys"]), of: "@me:b", device: "ME").identityKey
                == peer.target.identityKey)
        _ = session
        // Not again within the hour, whatever arrives.
        #expect(try await fixture.receive([lost()], at: fixture.start + 3599).rejected == [.unreadable: 1])
        #expect(try await fixture.answerAll([peer.device], at: fixture.start + 3599).isEmpty)
        try await fixture.receive([lost()], at: fixture.start + 3600)
        let later = try await fixture.answerAll(
            [peer.device], claims: ["PEER": claimed[1]], at: fixture.start + 3600)
        #expect(later.count == 2)
    }

    @Test func aOneTimeKeyThatItsDeviceHasNotSignedIsNotUsed() async throws {
        let fixture = try await MachineFixture()
        let (target, keys) = try await fixture.published()
        let peer = try TestPeer("@a:b", "PEER", to: target, with: try #require(keys.first))
        let lost = try TestPeer("@a:b", "PEER", to: peer.target, with: OlmAccount().identityKey)
        let event = try lost.share(OutboundGroupSession())
        let signed = try SignedJSON.signed(["key": .string("\(OlmAccount().identityKey)")], by: "@a:b", keyID: "PEER") {
            try OlmAccount().sign($0)
        }
        try await fixture.receive([event])
        let actions = try await fixture.answerAll(
            [lost.device], claims: ["PEER": ["signed_curve25519:A": .object(signed)]])
        let sends = actions.filter { if case .send = $0 { true } else { false } }
        #expect(!actions.isEmpty && sends.isEmpty)
        // For a key that none of the user's devices has, nothing is claimed.
        let stranger = try TestPeer("@a:b", "PEER", to: peer.target, with: OlmAccount().identityKey)
        try await fixture.receive([stranger.share(OutboundGroupSession())])
        #expect(try await fixture.answerAll([lost.device]).isEmpty)
    }

    @Test("A claim whose failures cannot be read is repeated: the device may have a key")
    func malformedFailures() async throws {
        let fixture = try await MachineFixture()
        let (target, _) = try await fixture.published()
        let lost = try TestPeer("@a:b", "PEER", to: target, with: OlmAccount().identityKey)
        try await fixture.know([lost.device])
        try await fixture.receive([lost.share(OutboundGroupSession())])
        let request = try #require(try await fixture.machine.nextRequest(at: fixture.start))
        guard case .claim = request.action else { return #expect(Bool(false)) }
        let answer: JSONValue = ["one_time_keys": [:], "failures": 5]
        try await fixture.machine.answered(request, with: answer, at: fixture.start)
        #expect(try await fixture.machine.nextRequest(at: fixture.start) == nil)
        guard case .claim? = try await fixture.machine.nextRequest(at: fixture.start + 15)?.action else {
            return #expect(Bool(false))
        }
    }

    // MARK: Reasons

    @Test func aReasonForAMissingKeyIsShownUntilTheKeyComes() async throws {
        let fixture = try await MachineFixture()
        let peer = try await peer(of: fixture)
        let group = try OutboundGroupSession()
        let reason: JSONValue = [
            "type": "m.room_key.withheld", "sender": "@a:b",
            "content": [
                "algorithm": "m.megolm.v1.aes-sha2", "code": "m.unverified", "room_id": "!r:b",
                "session_id": .string(try group.id), "sender_key": "x",
            ],
        ]
        let key = try peer.share(group)
        let event = try peer.say("one", with: group, as: "$1")
        #expect(try await fixture.receive([reason]).sessions.count == 1)
        #expect(try await fixture.receive([reason]).sessions.isEmpty)
        #expect(bodies(try await fixture.machine.read([event])) == ["withheld(MatrixCrypto.Withheld.unverified)"])
        #expect(try await fixture.receive([key]).sessions.count == 1)
        #expect(bodies(try await fixture.machine.read([event])) == ["one"])
        // An unauthenticated notice never overrides a key.
        try await fixture.receive([reason])
        #expect(bodies(try await fixture.machine.read([event])) == ["one"])
        #expect(await fixture.storage.cryptoRecords(.withheldSession, owner: nil).isEmpty)
    }
}
