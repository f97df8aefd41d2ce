import ChatCore
import CryptoTestSupport
import JSONReading
import MatrixCrypto
import Ratchets

/// Sends to the encrypted room as a device of another user.
final class BenchWriter {
    private let device: TestDevice
    private let session: OlmSession
    private let target: JSONValue
    private var group: OutboundGroupSession
    /// The session key that decrypts from the first message on.
    private var groupKey: [UInt8]

    init(_ device: TestDevice, to target: JSONValue, oneTimeKey: String) throws {
        self.device = device
        self.target = target
        let identity = target["keys"]?["curve25519:D"]?.string ?? ""
        session = try device.account.session(
            with: Curve25519Key(base64: identity), oneTimeKey: Curve25519Key(base64: oneTimeKey))
        group = try OutboundGroupSession()
        groupKey = try group.sessionKey
    }

    func rotate() throws {
        group = try OutboundGroupSession()
        groupKey = try group.sessionKey
    }

    /// An encrypted event.
    func event(_ id: String, _ content: JSONValue, at time: Int64) throws -> JSONValue {
        let payload: JSONValue = [
            "type": "m.room.message", "content": content, "room_id": .string(BenchHomeserver.room),
        ]
        let ciphertext = try group.encrypt(CanonicalJSON.bytes(of: payload))
        let sealed: JSONValue = [
            "algorithm": "m.megolm.v1.aes-sha2", "session_id": .string(try group.id),
            "ciphertext": .string(Base64.encoded(ciphertext)), "sender_key": .string("\(device.account.identityKey)"),
            "device_id": .string(device.device.text),
        ]
        return BenchEvents.event(id, "m.room.encrypted", sealed, by: device.user.text, at: time)
    }

    /// The session's key as a to-device message.
    func key() throws -> JSONValue { try key(groupKey, of: group.id) }

    /// The key of another session of the room as a to-device message.
    func key(_ groupKey: [UInt8], of id: String) throws -> JSONValue {
        let payload: JSONValue = [
            "type": "m.room_key", "sender": .string(device.user.text), "recipient": .string(BenchHomeserver.user),
            "recipient_keys": ["ed25519": target["keys"]?["ed25519:D"] ?? .null],
            "keys": ["ed25519": .string("\(device.account.signingKey)")],
            "content": [
                "algorithm": "m.megolm.v1.aes-sha2", "room_id": .string(BenchHomeserver.room),
                "session_id": .string(id), "session_key": .string(Base64.encoded(groupKey)),
            ],
        ]
        let message = try session.encrypt(CanonicalJSON.bytes(of: payload))
        return [
            "type": "m.room.encrypted", "sender": .string(device.user.text),
            "content": [
                "algorithm": "m.olm.v1.curve25519-aes-sha2", "sender_key": .string("\(device.account.identityKey)"),
                "ciphertext": .object([
                    target["keys"]?["curve25519:D"]?.string ?? "": [
                        "type": .integer(Int64(message.kind.rawValue)), "body": .string(Base64.encoded(message.bytes)),
                    ]
                ]),
            ],
        ]
    }
}
