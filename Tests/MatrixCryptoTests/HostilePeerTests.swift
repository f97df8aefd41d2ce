import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import Ratchets
import Testing
import ToolSupport

@testable import MatrixCrypto

/// To-device messages that anyone can send in any number.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct HostilePeerTests {
    private func withheld(_ number: Int, _ code: String = "m.unverified") -> JSONValue {
        [
            "type": "m.room_key.withheld", "sender": "@a:b",
            "content": [
                "algorithm": "m.megolm.v1.aes-sha2", "code": .string(code), "room_id": "!r:b",
                "session_id": .string("session \(number)"), "sender_key": "x",
            ],
        ]
    }

    private func sessions(_ fixture: MachineFixture) async -> Set<String> {
        Set(await fixture.storage.cryptoRecords(.withheldSession, owner: nil).map(\.key.id.text))
    }

    @Test("Of 100,000 reasons for missing keys, only the latest are stored", arguments: [100_000, 1_000])
    func manyReasons(inOneAnswer part: Int) async throws {
        let fixture = try await MachineFixture()
        for first in stride(from: 0, to: 100_000, by: part) {
            try await fixture.receive((first..<first + part).map { withheld($0) })
        }
        let left = await sessions(fixture)
        #expect(left.count == WithheldRecords.maxRecords)
        #expect(left.contains("session 99999") && left.contains("session 90000") && !left.contains("session 89999"))
        // The ring that orders them is bounded as well.
        #expect(await fixture.storage.cryptoRecords(.withheldOrder, owner: nil).count == left.count + 1)
    }

    @Test("Repeated reasons displace no others, nor do reasons whose key has arrived")
    func repeatedReasons() async throws {
        var fixture = try await MachineFixture()
        let peer = try await fixture.peer()
        try await fixture.receive((0..<WithheldRecords.maxRecords).map { withheld($0) })
        try await fixture.restart()
        for code in ["m.unverified", "m.blacklisted"] {
            try await fixture.receive((0..<1_000).map { withheld($0, code) })
        }
        #expect(await sessions(fixture).count == WithheldRecords.maxRecords)
        let group = try OutboundGroupSession()
        var reason = try #require(withheld(0).object)
        reason["content"] = .object(
            try #require(reason["content"]?.object).merging(["session_id": .string(try group.id)]) { $1 })
        try await fixture.receive([.object(reason)])
        let known = await sessions(fixture)
        #expect(try known.contains(group.id) && !known.contains("session 0"))
        try await fixture.receive([peer.share(group)])
        #expect(try await !sessions(fixture).contains(group.id))
        // If the stored position is unreadable, the ring starts over.
        await fixture.storage.set(Data("odd".utf8), for: CryptoRecord.Key(.withheldOrder, id: "next"))
        try await fixture.receive([withheld(-1)])
        #expect(await sessions(fixture).contains("session -1"))
    }

    // MARK: New sessions

    private func noSession(_ peer: TestPeer, key: Curve25519Key? = nil) -> JSONValue {
        [
            "type": "m.room_key.withheld", "sender": .string(peer.device.user.text),
            "content": [
                "algorithm": "m.megolm.v1.aes-sha2", "code": "m.no_olm",
                "sender_key": .string("\(key ?? peer.device.account.identityKey)"),
            ],
        ]
    }

    private func claimed(_ peer: TestPeer) throws -> JSONValue {
        try peer.device.account.generateOneTimeKeys(1)
        let key = try #require(try peer.device.account.unpublishedOneTimeKeys.first)
        let signed = try SignedJSON.signed(
            ["key": .string("\(key.key)")], by: peer.device.user, keyID: peer.device.device
        ) { try peer.device.account.sign($0) }
        try peer.device.account.markAsPublished()
        return .object(["signed_curve25519:\(key.id)": .object(signed)])
    }

    @Test("A device that could establish no session gets one, at most once an hour, also after restarts")
    func missingSession() async throws {
        var fixture = try await MachineFixture()
        let peer = try await fixture.peer()
        func sent(at now: Date) async throws -> [DeviceMessage] {
            let actions = try await fixture.answerAll([peer.device], claims: ["PEER": claimed(peer)], at: now)
            return actions.compactMap { if case .send(let message) = $0 { message } else { nil } }
        }
        // The user is unknown, and so are their devices.
        try await fixture.receive([noSession(peer)])
        #expect(try await sent(at: fixture.start).isEmpty)
        try await fixture.machine.track(["@a:b"])
        try await fixture.answerAll([peer.device])
        try await fixture.receive([noSession(peer), noSession(peer)])
        let first = try await sent(at: fixture.start)
        #expect(first.map(\.device) == ["PEER"])
        let content = try JSONValue(parsing: try #require(first.first).content)
        let message = try #require(content["ciphertext"]?["\(peer.device.account.identityKey)"])
        let (_, plaintext) = try peer.device.account.session(
            from: Base64.decoded(message["body"]?.string ?? ""), of: peer.target.identityKey)
        #expect(try JSONValue(parsing: Data(plaintext))["type"] == "m.dummy")
        try await fixture.restart()
        try await fixture.receive([noSession(peer)], at: fixture.start + 3599)
        #expect(try await sent(at: fixture.start + 3599).isEmpty)
        try await fixture.receive([noSession(peer)], at: fixture.start + 3600)
        #expect(try await sent(at: fixture.start + 3600).count == 1)
    }

    @Test("Keys that no device of the sender has leave nothing on the disk")
    func inventedKeys() async throws {
        let fixture = try await MachineFixture()
        let peer = try await fixture.peer()
        try await fixture.machine.track(["@a:b"])
        try await fixture.answerAll([peer.device])
        let before = await fixture.storage.records.count
        func unreadable() throws -> JSONValue {
            try TestPeer("@a:b", "PEER", to: peer.target, with: OlmAccount().identityKey).share(OutboundGroupSession())
        }
        try await fixture.receive((0..<200).map { _ in try noSession(peer, key: OlmAccount().identityKey) })
        try await fixture.receive((0..<50).map { _ in try unreadable() })
        #expect(await fixture.storage.records.count == before)
        // For a user whose devices are not known yet, a few are stored.
        let other = try TestPeer("@z:b", "Z", to: peer.target, with: OlmAccount().identityKey)
        try await fixture.receive(
            (0..<50).map { _ in
                try TestPeer("@z:b", "Z", to: other.target, with: OlmAccount().identityKey).share(
                    OutboundGroupSession())
            })
        let kept = await fixture.storage.records.count - before
        // The repair, when it was queued, and that no device has the key.
        #expect(kept > 0 && kept <= 3 * OutgoingQueue.maxRepairsOfUser)
    }

    @Test("Of many sessions with one device, only the latest are stored, and other devices keep theirs")
    func manySessions() async throws {
        let fixture = try await MachineFixture()
        let (own, keys) = try await fixture.published()
        #expect(keys.count > 2 * OlmPeer.maxSessions)
        let other = try TestPeer("@b:b", "OTHER", to: own, with: try #require(keys.last))
        try await fixture.receive([other.share(OutboundGroupSession())])
        let device = try TestDevice("@a:b", "PEER")
        let peers = try keys.dropLast().map { try TestPeer(device, to: own, with: $0) }
        for peer in peers { try await fixture.receive([peer.share(OutboundGroupSession())]) }
        let owner = OlmPeer.owner(OlmPeer.ID(user: device.user, identityKey: device.account.identityKey))
        let stored = await fixture.storage.cryptoRecords(.olmSession, owner: owner)
        #expect(stored.count == OlmPeer.maxSessions)
        #expect(await fixture.storage.cryptoRecords(.olmSession, owner: nil).count == stored.count + 1)
        let ids = try peers.suffix(OlmPeer.maxSessions).map { ExactText(try $0.session.id) }
        #expect(Set(stored.map(\.key.id)) == Set(ids))
        for peer in [try #require(peers.last), other] {
            #expect(try await fixture.receive([peer.share(OutboundGroupSession())]).sessions.count == 1)
        }
    }

    @Test("Many keys from one device add no other records, and its messages are remembered up to a limit")
    func manyKeys() async throws {
        let fixture = try await MachineFixture()
        let peer = try await fixture.peer()
        try await fixture.receive([peer.share(OutboundGroupSession())])
        let count = 2 * OlmPeer.maxDigests
        try await fixture.receive((0..<count).map { _ in try peer.share(OutboundGroupSession()) })
        for kind in [CryptoRecord.Kind.olmSession, .readMessage] {
            #expect(await fixture.storage.cryptoRecords(kind, owner: nil).count == 1)
        }
        #expect(await fixture.storage.cryptoRecords(.inboundGroupSession, owner: nil).count == count + 1)
        let memory = try #require(await fixture.storage.cryptoRecords(.readMessage, owner: nil).first)
        let digests = try #require(try JSONValue(parsing: memory.value)["digests"]?.array)
        #expect(digests.count == OlmPeer.maxDigests)
    }

    @Test("A ciphertext longer than any genuine one is not read; one that is just short enough is")
    func longCiphertexts() async throws {
        let fixture = try await MachineFixture()
        let peer = try await fixture.peer()
        let group = try OutboundGroupSession()
        func share(padding: Int) throws -> (event: JSONValue, count: Int) {
            var payload = try peer.payload("m.room_key", peer.roomKey(of: group))
            payload["padding"] = .string(String(repeating: "x", count: padding))
            let event = try peer.sealed(payload)
            let message = event["content"]?["ciphertext"]?["\(peer.target.identityKey)"]
            return (event, try #require(message?["body"]?.string).utf8.count)
        }
        let limit = 128 * 1024
        // Four characters of base64 are three bytes, which come in blocks of 16.
        var padding = try (limit - share(padding: 0).count) / 4 * 3 + 64
        var (long, short) = (try share(padding: padding), try share(padding: padding - 16))
        while short.count > limit {
            padding -= 16
            (long, short) = (short, try share(padding: padding - 16))
        }
        #expect(long.count > limit && short.count > limit - 32)
        let rejected = try await fixture.receive([long.event])
        #expect(rejected.sessions.isEmpty && rejected.rejected == [.malformed: 1])
        let read = try await fixture.receive([short.event])
        #expect(read.sessions.count == 1 && read.rejected.isEmpty)
    }

    // MARK: Names that look the same

    @Test("IDs that look the same are separate members")
    func lookalikes() throws {
        let (one, two): (ExactText, ExactText) = ("@\u{e9}:b", "@e\u{301}:b")
        #expect(one.text == two.text && one != two)
        let all = ExactObject(byDevice: [
            (id: DeviceID(user: one, device: "D"), value: Array("1".utf8)),
            (id: DeviceID(user: two, device: "\u{e9}"), value: Array("2".utf8)),
            (id: DeviceID(user: two, device: "e\u{301}"), value: Array("3".utf8)),
            (id: DeviceID(user: "a\"\n", device: ""), value: Array("4".utf8)),
        ])
        let text = #"{"@e\#u{301}:b":{"e\#u{301}":3,"\#u{e9}":2},"@\#u{e9}:b":{"D":1},"a\"\n":{"":4}}"#
        #expect(all.bytes == Array(text.utf8))
        let content: JSONValue = ["x": 1]
        let batch = try RoomKeyBatch.batch(
            "t", [one, two].map { (reader: DeviceID(user: $0, device: "D"), content: content) })
        #expect(
            Array(batch.messages) == Array(#"{"@e\#u{301}:b":{"D":{"x":1}},"@\#u{e9}:b":{"D":{"x":1}}}"#.utf8))
    }
}
