import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing
import ToolSupport

/// Room keys that come encrypted, but with a room's session. Only Olm shows that a key comes from the device that it
/// names, and was meant for this one.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct KeysByOtherWaysTests {
    private static let types = ["m.room_key", "m.forwarded_room_key"]

    /// A machine that reads messages of a peer, and the session with which the peer encrypts them.
    private func reading() async throws -> (fixture: MachineFixture, peer: TestPeer, group: OutboundGroupSession) {
        let fixture = try await MachineFixture()
        let peer = try await fixture.peer()
        try await fixture.know([peer.device])
        let group = try OutboundGroupSession()
        try await fixture.receive([peer.share(group)])
        let event = try peer.say("one", with: group, as: "$1")
        let read = try await fixture.machine.read([event]).map { (try? $0.get())?.type }
        #expect(read == ["m.room.message"])
        return (fixture, peer, group)
    }

    /// The content of an event that is encrypted with the session, and has all that an accepted key has.
    private func content(
        _ type: String, with key: OutboundGroupSession, in group: OutboundGroupSession, by peer: TestPeer
    ) throws -> [String: JSONValue] {
        var payload = try peer.payload(type, peer.roomKey(of: key))
        payload["room_id"] = .string("!r:b")
        let ciphertext = try group.encrypt(CanonicalJSON.bytes(of: .object(payload)))
        return [
            "algorithm": "m.megolm.v1.aes-sha2", "session_id": .string(try group.id), "room_id": "!r:b",
            "sender_key": .string("\(peer.device.account.identityKey)"), "device_id": "PEER",
            "ciphertext": .string(Base64.encoded(ciphertext)),
        ]
    }

    /// Expects that what is encrypted with this session stays sealed, also after a restart.
    private func expectNoKey(of key: OutboundGroupSession, by peer: TestPeer, _ fixture: MachineFixture) async throws {
        var fixture = fixture
        let event = try peer.say("two", with: key, as: "$2")
        for _ in 0..<2 {
            let readings = try await fixture.machine.read([event])
            #expect(readings == [.failure(.noKey)])
            try await fixture.restart()
        }
    }

    @Test("A room key in a to-device message that is encrypted with Megolm is rejected", arguments: types)
    func toDeviceMessage(type: String) async throws {
        let (fixture, peer, group) = try await reading()
        let key = try OutboundGroupSession()
        let content = try content(type, with: key, in: group, by: peer)
        // The same in the form of a message for this device alone.
        var addressed = content
        addressed["ciphertext"] = .object([
            "\(peer.target.identityKey)": ["type": 1, "body": content["ciphertext"] ?? .null]
        ])
        let events = [content, addressed].map { content -> JSONValue in
            ["type": "m.room.encrypted", "sender": "@a:b", "content": .object(content)]
        }
        let before = await fixture.storage.records
        let receipt = try await fixture.receive(events)
        #expect(receipt.sessions.isEmpty && receipt.rejected == [.malformed: 2])
        #expect(await fixture.storage.records == before)
        try await expectNoKey(of: key, by: peer, fixture)
    }

    @Test("A room key in an encrypted event of a room is an event like any other", arguments: types)
    func roomEvent(type: String) async throws {
        let (fixture, peer, group) = try await reading()
        let key = try OutboundGroupSession()
        let event = SealedEvent(
            room: "!r:b", event: "$key", sender: peer.device.user,
            content: .object(try content(type, with: key, in: group, by: peer)))
        let before = await fixture.storage.records
        let read = try await fixture.machine.read([event]).map { (try? $0.get())?.type }
        #expect(read == [type])
        #expect(await fixture.storage.records == before)
        try await expectNoKey(of: key, by: peer, fixture)
    }
}
