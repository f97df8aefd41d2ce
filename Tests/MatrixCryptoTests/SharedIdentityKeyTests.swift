import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import Ratchets
import Testing
import ToolSupport

@testable import MatrixCrypto

/// Users who list a device with the identity key of another user's, which anyone knows.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct SharedIdentityKeyTests {
    private let mallory: TestDevice

    init() throws { mallory = try TestDevice("@m:b", "X") }

    /// Mallory's device, which has a signing key of its own.
    private func device(with identityKey: Curve25519Key) throws -> JSONValue {
        let object: [String: JSONValue] = [
            "user_id": "@m:b", "device_id": "X",
            "algorithms": ["m.olm.v1.curve25519-aes-sha2", "m.megolm.v1.aes-sha2"],
            "keys": .object([
                "curve25519:X": .string("\(identityKey)"), "ed25519:X": .string("\(mallory.account.signingKey)"),
            ]),
        ]
        return .object(try SignedJSON.signed(object, by: "@m:b", keyID: "X") { try mallory.account.sign($0) })
    }

    private func claimed() throws -> JSONValue {
        let key = try OlmAccount().identityKey
        let signed = try SignedJSON.signed(["key": .string("\(key)")], by: "@m:b", keyID: "X") {
            try mallory.account.sign($0)
        }
        return ["signed_curve25519:A": .object(signed)]
    }

    /// Answers all requests like a server that has only Mallory's device.
    /// - Returns: The devices whose keys were claimed.
    private func answerAll(of fixture: SendingFixture, with identityKey: Curve25519Key) async throws -> [DeviceID] {
        var ids: [DeviceID] = []
        for _ in 0..<50 {
            guard let request = try await fixture.subject.nextRequest(at: fixture.now) else { return ids }
            var answer: JSONValue = [:]
            switch request.action {
            case .query: answer = ["device_keys": ["@m:b": ["X": try device(with: identityKey)]]]
            case .claim(let claims):
                ids += claims.map(\.id)
                answer = ["one_time_keys": ["@m:b": ["X": try claimed()]]]
            case .upload, .send, .sendAll, .uploadSignatures: break
            }
            try await fixture.subject.answered(request, with: answer, at: fixture.now)
        }
        Issue.record("The device asks without an end.")
        return ids
    }

    private func noSession(_ user: String, _ identityKey: Curve25519Key) -> JSONValue {
        [
            "type": "m.room_key.withheld", "sender": .string(user),
            "content": [
                "algorithm": "m.megolm.v1.aes-sha2", "code": "m.no_olm", "sender_key": .string("\(identityKey)"),
            ],
        ]
    }

    private func unreadable(_ user: String, _ identityKey: Curve25519Key, to own: String) -> JSONValue {
        [
            "type": "m.room.encrypted", "sender": .string(user),
            "content": [
                "algorithm": "m.olm.v1.curve25519-aes-sha2", "sender_key": .string("\(identityKey)"),
                "ciphertext": .object([own: ["type": 1, "body": "AAAA"]]),
            ],
        ]
    }

    private func receive(_ event: JSONValue, by fixture: SendingFixture) async throws {
        var sync = CryptoSync(kind: .sliding)
        sync.events = [event]
        _ = try await fixture.subject.received(sync, at: fixture.now)
    }

    @Test(
        "Whoever lists the identity key of a device can replace none of its sessions, by either way to get a new one",
        arguments: [true, false])
    func sessions(isUnreadable: Bool) async throws {
        var fixture = try await SendingFixture()
        let first = try await fixture.say("One")
        let key = try fixture.reader("A1").device.account.identityKey
        try await fixture.subject.track(["@m:b"])
        #expect(try await answerAll(of: fixture, with: key).isEmpty)
        let own = try #require(first["sender_key"]?.string)
        try await receive(isUnreadable ? unreadable("@m:b", key, to: own) : noSession("@m:b", key), by: fixture)
        #expect(try await answerAll(of: fixture, with: key) == [DeviceID(user: "@m:b", device: "X")])
        // Another room key, which goes through the session with Ann's device.
        fixture.now += 8 * 86_400
        let second = try await fixture.say("Two")
        #expect(second["session_id"] != first["session_id"])
        #expect(try fixture.reader("A1").read(second)?.text == "Two")
        #expect(fixture.counts["claim"] == 1)
    }

    @Test("A new session with a device that has the same identity key delays none with the genuine one")
    func repairs() async throws {
        var fixture = try await SendingFixture()
        _ = try await fixture.say("One")
        let key = try fixture.reader("A1").device.account.identityKey
        try await fixture.subject.track(["@m:b"])
        _ = try await answerAll(of: fixture, with: key)
        try await receive(noSession("@m:b", key), by: fixture)
        #expect(try await answerAll(of: fixture, with: key) == [DeviceID(user: "@m:b", device: "X")])
        try await receive(noSession("@a:b", key), by: fixture)
        #expect(try await answerAll(of: fixture, with: key) == [DeviceID(user: "@a:b", device: "A1")])
    }

    // MARK: Records

    @Test("The records of devices of several users with one identity key are separate")
    func owners() throws {
        let key = try OlmAccount().identityKey
        func owner(_ user: ExactText) -> ExactText { OlmPeer.owner(OlmPeer.ID(user: user, identityKey: key)) }
        #expect(owner("@a:b") == ExactText("\u{1}@a:b\0\(key)"))
        #expect(owner("@a:b") != owner("@m:b"))
        // A server may invent a user ID with any characters.
        #expect(owner("@a:b\0") != owner("@a:b") && owner("") != ExactText("\(key)"))
    }

    /// Gives the Olm records the keys that they had in earlier versions.
    private func makeEarlier(in storage: FakeCryptoStorage) async {
        for kind in [CryptoRecord.Kind.olmSession, .readMessage] {
            for record in await storage.cryptoRecords(kind, owner: nil) {
                let owner = ExactText(bytes: record.key.owner.bytes.suffix(43))
                await storage.set(nil, for: record.key)
                await storage.set(record.value, for: CryptoRecord.Key(kind, owner: owner, id: record.key.id))
            }
        }
    }

    private func owners(of kind: CryptoRecord.Kind, in storage: FakeCryptoStorage) async -> [ExactText] {
        await storage.cryptoRecords(kind, owner: nil).map(\.key.owner)
    }

    @Test("Sessions of earlier versions go on with the user whose device has their key; others are removed")
    func earlierRecords() async throws {
        var fixture = try await MachineFixture()
        let (own, keys) = try await fixture.published()
        let peer = try TestPeer("@a:b", "PEER", to: own, with: keys[0])
        let unlisted = try TestPeer("@z:b", "Z", to: own, with: keys[1])
        try await fixture.know([peer.device])
        try await fixture.receive([peer.share(OutboundGroupSession()), unlisted.share(OutboundGroupSession())])
        let repeated = try peer.share(OutboundGroupSession())
        try await fixture.receive([repeated])
        await makeEarlier(in: fixture.storage)
        try await fixture.restart()
        let owner = OlmPeer.owner(OlmPeer.ID(user: "@a:b", identityKey: peer.device.account.identityKey))
        for kind in [CryptoRecord.Kind.olmSession, .readMessage] {
            #expect(await owners(of: kind, in: fixture.storage) == [owner])
        }
        #expect(try await fixture.receive([peer.share(OutboundGroupSession())]).sessions.count == 1)
        #expect(try await fixture.receive([repeated]).rejected == [.repeated: 1])
    }

    @Test("A session of an earlier version encrypts for the only device that has its key")
    func earlierSession() async throws {
        var fixture = try await SendingFixture()
        _ = try await fixture.say("One")
        await makeEarlier(in: fixture.machine.storage)
        try await fixture.machine.restart()
        fixture.now += 8 * 86_400
        let second = try await fixture.say("Two")
        #expect(try fixture.reader("A1").read(second)?.text == "Two")
        #expect(fixture.counts["claim"] == 1)
    }

    @Test("A session of an earlier version encrypts nothing if devices of two users have its key")
    func disputedSession() async throws {
        var fixture = try await SendingFixture()
        _ = try await fixture.say("One")
        let key = try fixture.reader("A1").device.account.identityKey
        try await fixture.subject.track(["@m:b"])
        _ = try await answerAll(of: fixture, with: key)
        let storage = fixture.machine.storage
        await makeEarlier(in: storage)
        try await fixture.machine.restart()
        let users: [ExactText] = ["@a:b", "@m:b"]
        let expected = users.map { OlmPeer.owner(OlmPeer.ID(user: $0, identityKey: key)) }
        #expect(await owners(of: .olmSession, in: storage) == expected)
        for record in await storage.cryptoRecords(.olmSession, owner: nil) {
            #expect(try JSONValue(parsing: record.value)["onlyReceives"] == true)
        }
        fixture.now += 8 * 86_400
        let second = try await fixture.say("Two")
        #expect(try fixture.reader("A1").read(second)?.text == "Two")
        #expect(fixture.counts["claim"] == 2)
    }
}
