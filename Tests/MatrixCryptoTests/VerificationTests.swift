import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing

@Suite(.enabled(if: RatchetLibrary.version != nil))
struct VerificationTests {
    private typealias Client = TestServer.Client
    private let server = TestServer()

    /// A user with an identity created on one device, and another device that it has not confirmed.
    private func twoDevices() async throws -> (old: Client, new: Client) {
        let old = try await server.signIn("@me:b", "OLD")
        try await server.makeIdentity(on: old)
        return (old, try await server.signIn("@me:b", "NEW"))
    }

    private func only(_ client: Client) async throws -> Verification {
        let all = try await client.machine.verifications()
        #expect(all.count == 1)
        return try #require(all.first)
    }

    private func perform(_ action: Verification.Action, _ client: Client) async throws {
        let id = ExactText(try await only(client).id)
        #expect(try await client.machine.perform(action, in: id, at: server.now).isEmpty)
        try await server.exchangeAll()
    }

    private func expectComparing(_ one: Client, _ other: Client) async throws {
        let phases = [try await only(one).phase, try await only(other).phase]
        guard case .comparing(let emoji, let numbers) = phases[0] else {
            Issue.record("\(phases)")
            return
        }
        #expect(emoji.count == 7 && numbers.count == 3 && phases[1] == phases[0])
    }

    @Test("A verification whose device stays unknown times out, and does not affect others.")
    func unknownDevice() async throws {
        let me = try await server.signIn("@me:b", "ME")
        try await server.makeIdentity(on: me)
        let (room, start): (ExactText, Date) = ("!r:b", server.now)
        for (id, user) in [(ExactText("$1"), ExactText("@a:b")), ("$2", "@c:b")] {
            try await me.machine.willRequestVerification(of: user, as: id, in: room, at: start)
            _ = try await me.machine.didRequestVerification(id, as: id, at: start)
        }
        let ready: JSONValue = [
            "from_device": "GHOST", "methods": ["m.sas.v1"],
            "m.relates_to": ["rel_type": "m.reference", "event_id": "$1"],
        ]
        _ = try await me.machine.received(
            [
                VerificationEvent(
                    room: room, event: "$ready", sender: "@a:b", type: "m.key.verification.ready", content: ready,
                    sentAt: start)
            ], at: start)
        for seconds in [10.0, 15, 20, 599] {
            #expect(try await me.machine.tickVerifications(at: start + seconds).isEmpty)
            #expect(try await me.machine.verifications().map(\.phase) == [.preparing, .waiting])
        }
        let messages = try await me.machine.tickVerifications(at: start + 600)
        #expect(messages.map(\.type) == ["m.key.verification.cancel", "m.key.verification.cancel"])
        #expect(messages.allSatisfy { $0.end > start + 600 }, "the other side may have begun later")
        #expect(try await me.machine.verifications().allSatisfy { $0.phase == .canceled(.timeout) })
    }

    // MARK: Own devices

    @Test("A new device is confirmed by comparing emoji, whichever device asks, and receives the user's secrets.")
    func newDeviceIsConfirmed() async throws {
        for asksOld in [false, true] {
            let server = TestServer()
            let old = try await server.signIn("@me:b", "OLD")
            try await server.makeIdentity(on: old)
            let new = try await server.signIn("@me:b", "NEW")
            #expect(try await new.machine.ownIdentity() == .unconfirmed)
            #expect(try await old.machine.ownIdentity() == .confirmed)
            let (asking, asked) = asksOld ? (old, new) : (new, old)
            let id = try await asking.machine.verifyDevice(asksOld ? "NEW" : nil, at: server.now)
            try await server.exchangeAll()
            let request = try #require(try await asked.machine.verifications().first)
            #expect(request.phase == .requested && request.isOwn && request.isIncoming)
            #expect(request.device == asking.id.device.text && request.id == id.text)
            for (action, client) in [(Verification.Action.accept, asked), (.confirmMatch, new), (.confirmMatch, old)] {
                #expect(try await client.machine.perform(action, in: id, at: server.now).isEmpty)
                try await server.exchangeAll()
            }
            #expect(try await new.machine.verifications().map(\.phase) == [.done])
            #expect(try await old.machine.verifications().map(\.phase) == [.done])
            #expect(try await new.machine.ownIdentity() == .confirmed)
            for client in [old, new] {
                #expect(try await client.machine.ownDevices().values.allSatisfy { $0.isConfirmed })
            }
            let (given, made) = (try await new.machine.storedSecrets(), try await old.machine.storedSecrets())
            #expect(Set(given.keys) == [.master, .selfSigning, .userSigning])
            for (name, secret) in given { #expect(made[name].map { $0.isEqual(to: secret) } == true) }
            // Other clients drop secret requests from devices whose verification has not ended on their side.
            let early = server.sent.map(\.type).prefix { $0 != "m.secret.request" }
            #expect(early.contains("m.key.verification.done"))
        }
    }

    @Test("A change that fails ends neither a verification nor the requests for secrets")
    func failuresElsewhere() async throws {
        let (old, new) = try await twoDevices()
        func fail() async {
            for client in [old, new] {
                await client.storage.fail(1)
                await #expect(throws: FakeCryptoStorage.Full.self) {
                    try await client.machine.setRecoveryKeyUnsaved(true)
                }
            }
        }
        let id = try await new.machine.verifyDevice(nil, at: server.now)
        await fail()
        try await server.exchangeAll()
        try await perform(.accept, old)
        try await expectComparing(old, new)
        await fail()
        for client in [new, old] { _ = try await client.machine.perform(.confirmMatch, in: id, at: server.now) }
        await fail()
        try await server.exchangeAll()
        #expect(try await only(new).phase == .done)
        #expect(try await Set(new.machine.storedSecrets().keys) == [.master, .selfSigning, .userSigning])
    }

    @Test("A verification between devices tells that its message is not sent yet, until it is.")
    func unsentMessages() async throws {
        let (old, new) = try await twoDevices()
        _ = try await new.machine.verifyDevice(nil, at: server.now)
        #expect(try await !only(new).isUnsent)
        for _ in 0..<2 {
            let request = try #require(try await new.machine.nextRequest(at: server.now))
            try await new.machine.failed(request)
            #expect(try await only(new).isUnsent)
        }
        try await server.exchangeAll()
        #expect(try await !only(new).isUnsent)
        #expect(try await only(old).phase == .requested)
        #expect(server.sent.filter { $0.type == "m.key.verification.request" }.count == 1)
    }

    @Test("Differing emoji end the verification on both sides, and nothing is confirmed.")
    func mismatchConfirmsNothing() async throws {
        let (old, new) = try await twoDevices()
        _ = try await new.machine.verifyDevice(nil, at: server.now)
        try await server.exchangeAll()
        try await perform(.accept, old)
        try await expectComparing(old, new)
        try await perform(.reportMismatch, old)
        #expect(try await only(old).phase == .canceled(.mismatch))
        #expect(try await only(new).phase == .canceled(.mismatch))
        try await perform(.confirmMatch, new)
        #expect(try await new.machine.ownIdentity() == .unconfirmed)
        #expect(try await old.machine.ownDevices()["NEW"]?.isConfirmed == false)
        #expect(try await new.machine.storedSecrets().isEmpty)
    }

    @Test("A server that replaces the exchanged keys is detected by the commitment or by the comparison.")
    func exchangedKeysAreFound() async throws {
        let (old, new) = try await twoDevices()
        let stranger = try ShortAuthentication()
        server.intercept = { _, type, content in
            guard type == "m.key.verification.key", var members = content.object else { return content }
            members["key"] = .string("\(stranger.publicKey)")
            return .object(members)
        }
        _ = try await new.machine.verifyDevice(nil, at: server.now)
        try await server.exchangeAll()
        try await perform(.accept, old)
        // The side that sent `start` holds a commitment to another key, and cancels for both sides.
        #expect(try await only(new).phase == .canceled(.mismatch))
        #expect(try await only(old).phase == .canceled(.mismatch))
    }

    @Test("A server that removes the emoji from an `accept` leaves the same numbers to compare.")
    func numbersRemainWithoutEmoji() async throws {
        let (old, new) = try await twoDevices()
        server.intercept = { _, type, content in
            guard type == "m.key.verification.accept", var members = content.object else { return content }
            members["short_authentication_string"] = ["decimal"]
            return .object(members)
        }
        let id = try await new.machine.verifyDevice(nil, at: server.now)
        try await server.exchangeAll()
        try await perform(.accept, old)
        let phases = [try await only(new).phase, try await only(old).phase]
        guard case .comparing(let emoji, let numbers) = phases[0],
            case .comparing(let otherEmoji, let otherNumbers) = phases[1]
        else {
            Issue.record("\(phases)")
            return
        }
        #expect([emoji.count, otherEmoji.count].sorted() == [0, 7])
        #expect(numbers.count == 3 && numbers == otherNumbers)
        for client in [new, old] { _ = try await client.machine.perform(.confirmMatch, in: id, at: server.now) }
        try await server.exchangeAll()
        #expect(try await only(new).phase == .done)
        #expect(try await only(old).phase == .done)
    }

    @Test("A server that modifies the MACs, or the keys that they name, confirms nothing.")
    func changedMACsConfirmNothing() async throws {
        for change in 0..<4 {
            let server = TestServer()
            let old = try await server.signIn("@me:b", "OLD")
            try await server.makeIdentity(on: old)
            let new = try await server.signIn("@me:b", "NEW")
            server.intercept = { sender, type, content in
                guard type == "m.key.verification.mac", sender.device == "NEW", var members = content.object,
                    var macs = members["mac"]?.object, let first = macs.keys.sorted().first
                else { return content }
                switch change {
                case 0: macs[first] = .string(Base64.encoded([UInt8](repeating: 1, count: 32)))
                case 1: macs["ed25519:OTHER"] = macs.removeValue(forKey: first)
                case 2: macs = [:]
                default: members["keys"] = "x"
                }
                members["mac"] = .object(macs)
                return .object(members)
            }
            let id = try await new.machine.verifyDevice(nil, at: server.now)
            for (action, client) in [(Verification.Action.accept, old), (.confirmMatch, new), (.confirmMatch, old)] {
                try await server.exchangeAll()
                _ = try await client.machine.perform(action, in: id, at: server.now)
            }
            try await server.exchangeAll()
            #expect(try await old.machine.verifications().map(\.phase) == [.canceled(.failed)], "\(change)")
            #expect(try await old.machine.ownDevices()["NEW"]?.isConfirmed == false, "\(change)")
            #expect(try await new.machine.storedSecrets().isEmpty, "\(change)")
        }
    }

    @Test("A request is answered by one device; the user's other devices are notified.")
    func oneDeviceAnswers() async throws {
        let (old, new) = try await twoDevices()
        let id = try await new.machine.verifyDevice(nil, at: server.now)
        for (action, client) in [(Verification.Action.accept, old), (.confirmMatch, new), (.confirmMatch, old)] {
            try await server.exchangeAll()
            _ = try await client.machine.perform(action, in: id, at: server.now)
        }
        try await server.exchangeAll()
        for client in [old, new] { _ = try await client.machine.perform(.dismiss, in: id, at: server.now) }
        let third = try await server.signIn("@me:b", "THIRD")
        _ = try await third.machine.verifyDevice(nil, at: server.now)
        try await server.exchangeAll()
        try await perform(.accept, new)
        #expect(try await only(old).phase == .canceled(.answeredElsewhere))
        try await expectComparing(new, third)
    }

    @Test("A request that one device declines is withdrawn from the user's other devices.")
    func oneDeviceDeclines() async throws {
        let (old, new) = try await twoDevices()
        #expect(try await new.machine.adopt(try await old.machine.storedSecrets()).count == 3)
        try await server.exchangeAll()
        let third = try await server.signIn("@me:b", "THIRD")
        _ = try await third.machine.verifyDevice(nil, at: server.now)
        try await server.exchangeAll()
        #expect(try await only(old).phase == .requested)
        try await perform(.cancel, new)
        #expect(try await only(new).phase == .canceled(.here))
        for client in [old, third] { #expect(try await only(client).phase == .canceled(.there)) }
        #expect(cancellations.sorted() == ["NEW", "OLD", "THIRD"])
    }

    @Test("A request to a single device that it declines ends without another message.")
    func onlyDeviceDeclines() async throws {
        let (old, new) = try await twoDevices()
        _ = try await new.machine.verifyDevice(nil, at: server.now)
        try await server.exchangeAll()
        try await perform(.cancel, old)
        #expect(try await only(new).phase == .canceled(.there))
        #expect(cancellations == ["NEW"])
    }

    /// The devices to which cancellations were sent.
    private var cancellations: [ExactText] {
        server.sent.filter { $0.type == "m.key.verification.cancel" }.map(\.reader.device)
    }

    @Test("Unanswered requests time out, and a verification ends after ten minutes.")
    func verificationsEnd() async throws {
        let (old, new) = try await twoDevices()
        _ = try await new.machine.verifyDevice(nil, at: server.now)
        try await server.exchangeAll()
        server.now += 121
        #expect(try await old.machine.verificationDeadline().map { $0 < server.now } == true)
        _ = try await old.machine.tickVerifications(at: server.now)
        #expect(try await only(old).phase == .canceled(.timeout))
        try await server.exchangeAll()
        // Another device may still answer.
        #expect(try await only(new).phase == .waiting)
        server.now += 480
        _ = try await new.machine.tickVerifications(at: server.now)
        #expect(try await only(new).phase == .canceled(.timeout))
        #expect(try await new.machine.verificationDeadline() == nil)
        try await perform(.dismiss, new)
        #expect(try await new.machine.verifications().isEmpty)
    }

    @Test("A request that is old, from another user, or one of very many is not shown.")
    func unwantedRequestsAreNotShown() async throws {
        let (old, new) = try await twoDevices()
        func request(_ id: String, age: Double = 0) -> JSONValue {
            [
                "from_device": "NEW", "methods": ["m.sas.v1"], "transaction_id": .string(id),
                "timestamp": .integer(Int64((server.now.timeIntervalSince1970 - age) * 1000)),
            ]
        }
        let type = "m.key.verification.request"
        server.deliver(type, request("old", age: 700), from: new.id, to: "@me:b", "OLD")
        server.deliver(type, request("x"), from: DeviceID(user: "@x:b", device: "X"), to: "@me:b", "OLD")
        try await server.exchangeAll()
        #expect(try await old.machine.verifications().isEmpty)
        for number in 0..<200 { server.deliver(type, request("\(number)"), from: new.id, to: "@me:b", "OLD") }
        try await server.exchangeAll()
        #expect(try await old.machine.verifications().count == 8)
    }

    @Test("If both sides send `start`, the smaller device ID prevails.")
    func bothMayBegin() async throws {
        let (old, new) = try await twoDevices()
        // Neither `start` is delivered before both are sent.
        var held: [(DeviceID, JSONValue)] = []
        server.intercept = { sender, type, content in
            guard type == "m.key.verification.start" else { return content }
            held.append((sender, content))
            return nil
        }
        let id = try await old.machine.verifyDevice("NEW", at: server.now)
        try await server.exchangeAll()
        _ = try await new.machine.perform(.accept, in: id, at: server.now)
        try await server.exchangeAll()
        server.now += 11
        _ = try await new.machine.tickVerifications(at: server.now)
        try await server.exchangeAll()
        #expect(held.map(\.0.device) == ["OLD", "NEW"])
        server.intercept = { $2 }
        // What has begun goes on, though the lists may have changed since.
        for client in [old, new] { try await client.machine.outdateOwnDevices() }
        for (sender, content) in held {
            server.deliver(
                "m.key.verification.start", content, from: sender, to: "@me:b", sender.device == "OLD" ? "NEW" : "OLD")
        }
        try await server.exchangeAll()
        try await expectComparing(old, new)
        try await perform(.confirmMatch, old)
        try await perform(.confirmMatch, new)
        #expect(try await new.machine.ownIdentity() == .confirmed)
    }

    // MARK: Secrets

    @Test("Secrets are sent only to confirmed devices, and accepted only as matching answers.")
    func secretsAreGuarded() async throws {
        let (old, new) = try await twoDevices()
        for name in SecretName.allCases {
            server.deliver(
                "m.secret.request",
                [
                    "action": "request", "name": .string(name.rawValue), "request_id": "r",
                    "requesting_device_id": "NEW",
                ], from: new.id, to: "@me:b", "OLD")
        }
        let before = server.sent.map(\.type).count
        try await server.exchangeAll()
        #expect(server.sent.map(\.type).count == before)
        #expect(try await new.machine.storedSecrets().isEmpty)
        // A secret sent in the clear is rejected.
        server.deliver(
            "m.secret.send", ["request_id": "r", "secret": "AAAA"], from: old.id, to: "@me:b", "NEW")
        try await server.exchangeAll()
        #expect(try await new.machine.storedSecrets().isEmpty)
    }

    @Test("A backup key that arrives while another one is compared is not removed with that one.")
    func secondBackupKey() async throws {
        let (old, new) = try await twoDevices()
        #expect(try await new.machine.adopt(try await old.machine.storedSecrets()).count == 3)
        try await server.exchangeAll()
        let (first, second) = (try KeyMaterial(), try KeyMaterial())
        for key in [first, second] {
            try await old.machine.store(key, as: .backup)
            try await new.machine.requestMissingSecrets()
            try await server.exchangeAll()
            #expect(try await new.machine.unprovenBackupKey()?.isEqual(to: key) == true)
        }
        try await new.machine.dropUnprovenBackupKey(first)
        #expect(try await new.machine.unprovenBackupKey()?.isEqual(to: second) == true)
        try await new.machine.dropUnprovenBackupKey(second)
        #expect(try await new.machine.unprovenBackupKey() == nil)
    }

    @Test("The secrets that the user opens confirm the device only if they match the identity on the server.")
    func adoptionChecksKeys() async throws {
        let (old, new) = try await twoDevices()
        let secrets = try await old.machine.storedSecrets()
        let others = try TestIdentity("@me:b").secrets
        #expect(try await new.machine.adopt(others).isEmpty)
        #expect(try await new.machine.ownIdentity() == .unconfirmed)
        #expect(try await new.machine.adopt(secrets) == [.master, .selfSigning, .userSigning])
        try await server.exchangeAll()
        #expect(try await new.machine.ownIdentity() == .confirmed)
        #expect(try await old.machine.ownDevices()["NEW"]?.isConfirmed == true)
    }

    @Test("Nobody's requests keep those of others, or of the user's own devices, from being shown.")
    func manyRequests() async throws {
        let (old, new) = try await twoDevices()
        func request(_ number: Int, from sender: ExactText, to: ExactText = "@me:b") -> VerificationEvent {
            VerificationEvent(
                room: "!r:b", event: ExactText("$\(number)"), sender: sender, type: "m.room.message",
                content: [
                    "msgtype": .string(VerificationEvent.requestKind), "from_device": "X", "to": .string(to.text),
                    "methods": ["m.sas.v1"],
                ], sentAt: server.now)
        }
        let flood = (0..<20).map { request($0, from: "@a:b") } + [request(20, from: "@c:b", to: "@x:b")]
        _ = try await old.machine.received(flood, at: server.now)
        #expect(try await old.machine.verifications().map(\.user.rawValue) == ["@a:b", "@a:b"])
        _ = try await old.machine.received((30..<50).map { request($0, from: ExactText("@\($0):b")) }, at: server.now)
        #expect(try await old.machine.verifications().count == 8)
        _ = try await new.machine.verifyDevice("OLD", at: server.now)
        try await server.exchangeAll()
        #expect(try await old.machine.verifications().last?.isOwn == true)
    }

    @Test("A new identity is reported on devices of the former one, and voids its verifications.")
    func resetIsNoticed() async throws {
        let (old, new) = try await twoDevices()
        try await server.makeIdentity(on: new)
        #expect(try await new.machine.ownIdentity() == .confirmed)
        #expect(try await old.machine.ownIdentity() == .replaced)
        #expect(try await old.machine.adopt(try await new.machine.storedSecrets()).count == 3)
        try await server.exchangeAll()
        #expect(try await old.machine.ownIdentity() == .confirmed)
    }

    @Test("An identity whose upload response was lost is adopted at the next query.")
    func lostAnswerOfIdentity() async throws {
        let client = try await server.signIn("@me:b", "OLD")
        let staged = try await client.machine.stageIdentity()
        #expect(try await client.machine.stageIdentity().upload == staged.upload)
        try server.publishIdentity(staged.upload, of: "@me:b")
        try await server.exchangeAll()
        #expect(try await client.machine.ownIdentity() == .confirmed)
        // Its backup has not been created, and its recovery key not shown.
        #expect(try await client.machine.preparedBackupKey()?.isEqual(to: staged.backupKey) == true)
        #expect(try await client.machine.isRecoveryKeyUnsaved())
    }
}
