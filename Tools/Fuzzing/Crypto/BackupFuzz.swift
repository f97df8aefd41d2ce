import ChatCore
package import CryptoTestSupport
package import JSONReading
import MatrixCrypto
package import Ratchets

/// Sessions in the form that backups and key files contain.
package struct BackupFuzz: CryptoFuzz {
    private let key: BackupKey
    private let session: String
    private let content: JSONValue
    private let record: JSONValue
    private let damage: JSONDamage

    package init() async throws {
        key = try BackupKey(KeyMaterial())
        let device = try TestDevice("@a:b", "ONE")
        (session, content) = try Self.session(of: device)
        record = try Self.record(content, for: key.publicKey)
        damage = JSONDamage([
            session, "!r:b", "\(device.account.identityKey)", "\(device.account.signingKey)", "session_key",
            "sender_key", "session_data", "ephemeral", "ciphertext", "mac", "ed25519",
        ])
    }

    package static func session(of device: TestDevice) throws -> (id: String, json: JSONValue) {
        let group = try OutboundGroupSession()
        let session = try InboundGroupSession(sessionKey: group.sessionKey)
        let id = try group.id
        return (
            id,
            [
                "algorithm": "m.megolm.v1.aes-sha2", "room_id": "!r:b", "session_id": .string(id),
                "sender_key": .string("\(device.account.identityKey)"),
                "sender_claimed_keys": ["ed25519": .string("\(device.account.signingKey)")],
                "session_key": .string(Base64.encoded(try session.exported(at: 0))),
                "forwarding_curve25519_key_chain": [], "shared_history": true,
            ]
        )
    }

    package static func record(_ content: JSONValue, for key: Curve25519Key) throws -> JSONValue {
        // A value without a canonical form is encrypted as text that is not JSON.
        let plaintext = (try? CanonicalJSON.bytes(of: content)) ?? Array("\(content)".utf8.prefix(1_000))
        let data = try BackedUpData(plaintext, for: key)
        return [
            "first_message_index": 0, "forwarded_count": 0, "is_verified": true,
            "session_data": [
                "ephemeral": .string("\(data.ephemeralKey)"), "mac": .string(Base64.encoded(data.mac)),
                "ciphertext": .string(Base64.encoded(data.ciphertext)),
            ],
        ]
    }

    package mutating func violation(of input: inout FuzzInput) async throws -> String? {
        let exported: ExportedSession?
        let isWhole: Bool
        switch input.number(below: 3) {
        case 0:
            let json = damage.applied(to: content, by: &input)
            (exported, isWhole) = (try? ExportedSession(json), json == content)
        case 1:
            let json = damage.applied(to: record, by: &input)
            exported = try? ExportedSession(backedUp: json, room: "!r:b", id: ExactText(session), key: key)
            isWhole = json == record
        default:
            let json = damage.applied(to: content, by: &input)
            let record = try Self.record(json, for: key.publicKey)
            exported = try? ExportedSession(backedUp: record, room: "!r:b", id: ExactText(session), key: key)
            isWhole = json == content
        }
        guard let exported else { return isWhole ? "a session is refused" : nil }
        guard let read = try? InboundSession(exported) else { return isWhole ? "a session cannot be read" : nil }
        if read.room != exported.room || read.id != exported.id { return "a session is another" }
        if read.source != .imported { return "a session is proven" }
        return try ExportedSession(ExportedSession(read).json) == ExportedSession(read)
            ? nil : "a session does not come back"
    }
}
