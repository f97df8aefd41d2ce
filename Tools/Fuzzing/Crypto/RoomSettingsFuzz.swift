import ChatCore
import Foundation
import JSONReading
import MatrixCrypto

/// Room settings and reasons for withheld keys, which anyone can send, and canonical JSON.
struct RoomSettingsFuzz: CryptoFuzz {
    private static let algorithm = "m.megolm.v1.aes-sha2"
    private static let encryption: JSONValue = [
        "algorithm": .string(algorithm), "rotation_period_msgs": 50, "rotation_period_ms": 86_400_000,
    ]
    private static let withheld: JSONValue = [
        "algorithm": .string(algorithm), "code": "m.unverified", "room_id": "!r:b", "session_id": "x",
    ]
    private let now = Date(timeIntervalSince1970: 1_000_000)
    private let damage = JSONDamage([
        "m.blacklisted", "m.none", "rotation_period_msgs", "rotation_period_ms", "code", "room_id", "session_id",
    ])

    init() async throws {}

    mutating func violation(of input: inout FuzzInput) async throws -> String? {
        switch input.number(below: 3) {
        case 0: return settingsViolation(&input)
        case 1:
            let content = damage.applied(to: Self.withheld, by: &input)
            guard let (session, _) = Withheld.reason(in: content) else {
                return content == Self.withheld ? "a reason is refused" : nil
            }
            return session.owner.bytes.count <= 255 && session.id.bytes.count <= 255 ? nil : "long names are kept"
        default:
            return canonicalViolation(damage.applied(to: ["a": Self.encryption, "b": [Self.withheld]], by: &input))
        }
    }

    private func settingsViolation(_ input: inout FuzzInput) -> String? {
        var room = EncryptedRoom(damage.applied(to: Self.encryption, by: &input), at: now)
        repeat {
            let before = room
            input.steps += 1
            room.tighten(by: damage.applied(to: Self.encryption, by: &input))
            if room.maxMessages > before.maxMessages || room.maxAge > before.maxAge { return "a room is less strict" }
            if before.isSupported, before.algorithm != nil, !room.isSupported { return "a room lost its algorithm" }
            guard (1...10_000).contains(room.maxMessages), (3_600_000...2_678_400_000).contains(room.maxAge) else {
                return "a key is changed after \(room.maxMessages) messages or \(room.maxAge) ms"
            }
        } while !input.isEmpty
        return nil
    }

    private func canonicalViolation(_ value: JSONValue) -> String? {
        guard let bytes = try? CanonicalJSON.bytes(of: value) else { return nil }
        guard let read = try? JSONValue(parsing: Data(bytes)) else { return "what is signed is no JSON" }
        guard let again = try? CanonicalJSON.bytes(of: read), again == bytes else { return "what is signed changes" }
        return read == value ? nil : "what is signed is something else"
    }
}
