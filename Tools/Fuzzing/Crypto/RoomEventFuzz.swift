import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets

/// Encrypted room events: envelopes, and the payloads of Megolm messages.
struct RoomEventFuzz: CryptoFuzz {
    /// Low, because each read advances the ratchet from the session's first message.
    static let lifetime = 100

    private static let room: ExactText = "!r:b"
    private static let text = "said"

    private let machine: CryptoMachine
    private let group: OutboundGroupSession
    private let damage: JSONDamage
    private var events = 0

    init() async throws {
        let now = Date(timeIntervalSince1970: 1_000_000)
        machine = try await CryptoMachine.begun(
            user: "@me:b", device: "ME", in: MemoryCryptoStorage(), key: KeyMaterial(), at: now)
        group = try OutboundGroupSession()
        let id = try group.id
        let device = try TestDevice("@a:b", "PEER")
        let session = try InboundGroupSession(sessionKey: group.sessionKey)
        let exported = try ExportedSession([
            "algorithm": "m.megolm.v1.aes-sha2", "room_id": .string(Self.room.text), "session_id": .string(id),
            "sender_key": .string("\(device.account.identityKey)"),
            "session_key": .string(Base64.encoded(try session.exported(at: 0))),
        ])
        _ = try await machine.imported([exported])
        damage = JSONDamage([
            id, Self.room.text, "\(device.account.identityKey)", "session_id", "ciphertext", "algorithm",
            "m.room.message", "m.relates_to", "room_id", "content", "type",
        ])
    }

    mutating func violation(of input: inout FuzzInput) async throws -> String? {
        events += 1
        let payload: JSONValue = [
            "type": "m.room.message", "content": ["body": .string(Self.text), "m.relates_to": ["x": 1]],
            "room_id": .string(Self.room.text),
        ]
        let said = input.flag() ? damage.applied(to: payload, by: &input) : payload
        // A value without a canonical form is sent as text that is not JSON.
        let plaintext = (try? CanonicalJSON.bytes(of: said)) ?? Array("no JSON".utf8)
        let content: JSONValue = [
            "algorithm": "m.megolm.v1.aes-sha2", "session_id": .string(try group.id), "device_id": "PEER",
            "ciphertext": .string(Base64.encoded(try group.encrypt(plaintext))), "sender_key": "x",
        ]
        let sent = damage.applied(to: content, by: &input)
        func read(_ content: JSONValue, as name: String) async throws -> CryptoMachine.Reading? {
            let event = SealedEvent(room: Self.room, event: ExactText(name), sender: "@a:b", content: content)
            return try await machine.read([event]).first
        }
        let damaged = try await read(sent, as: "$\(events)")
        if case .success(let payload)? = damaged {
            if payload.content["m.relates_to"] != nil { return "a relation was read that nobody else sees" }
        }
        guard said == payload else { return nil }
        // The damaged event must not keep the genuine one from being read under its own ID.
        guard case .success(let whole)? = try await read(content, as: "$\(events)") else { return "a message is lost" }
        if whole.content["body"] != .string(Self.text) { return "a message says something else" }
        if case .success? = try await read(content, as: "$\(events) again") { return "a message is read twice" }
        return nil
    }
}
