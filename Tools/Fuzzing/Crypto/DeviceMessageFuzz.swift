import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets

/// To-device messages: envelopes, the payloads of Olm messages, and messages in the clear.
struct DeviceMessageFuzz: CryptoFuzz {
    private static let own: ExactText = "@me:b"
    /// The limit for records left until the machine is recreated: each message may add a withheld reason and its slot
    /// in the order.
    private static let maxRecords = 5_000

    private let storage = MemoryCryptoStorage()
    private let machine: CryptoMachine
    private let ownKeys: DeviceKeys
    private let peers: [TestDevice]
    /// The signed keys of each peer.
    private let peerKeys: [JSONValue]
    private let sessions: [OlmSession]
    private let groups: [(id: String, key: String)]
    private let damage: JSONDamage
    private var now = Date(timeIntervalSince1970: 1_000_000)
    private var calls = 0

    init() async throws {
        machine = try await CryptoMachine.begun(
            user: Self.own, device: "ME", in: storage, key: KeyMaterial(), at: now)
        var sync = CryptoSync(kind: .sliding)
        sync.keyCounts = ["signed_curve25519": 0]
        sync.unusedFallbackKeys = []
        _ = try await machine.received(sync, at: now)
        var (published, oneTimeKeys): (DeviceKeys?, [Curve25519Key]) = (nil, [])
        while let request = try await machine.nextRequest(at: now) {
            if case .upload(let body) = request.action {
                let upload = try JSONValue(parsing: Data(body))
                if let json = upload["device_keys"] {
                    published = try DeviceKeys(json, of: Self.own, device: "ME")
                }
                for key in (upload["one_time_keys"]?.object ?? [:]).values {
                    oneTimeKeys.append(try Curve25519Key(base64: key["key"]?.string ?? ""))
                }
            }
            try await machine.answered(request, with: ["device_keys": [Self.own.text: [:]]], at: now)
            if published != nil { break }
        }
        guard let published, oneTimeKeys.count > 1 else { throw RatchetError.argument }
        ownKeys = published
        // One device of the user, and one of another user.
        peers = [try TestDevice(Self.own, "OLD"), try TestDevice("@a:b", "PEER")]
        peerKeys = try peers.map { try $0.json() }
        var sessions: [OlmSession] = []
        for (peer, key) in zip(peers, oneTimeKeys) {
            sessions.append(try peer.account.session(with: ownKeys.identityKey, oneTimeKey: key))
        }
        self.sessions = sessions
        groups = try (0..<4).map { _ in
            let group = try OutboundGroupSession()
            return (try group.id, Base64.encoded(try group.sessionKey))
        }
        damage = JSONDamage(
            groups.flatMap { [$0.id, $0.key] } + peers.map { "\($0.account.identityKey)" } + [
                Self.own.text, "ME", "OLD", "\(ownKeys.identityKey)", "\(ownKeys.signingKey)", "m.room.encrypted",
                "m.room_key", "m.room_key.withheld", "m.secret.send", "m.secret.request", "m.dummy", "m.no_olm",
                "m.forwarded_room_key", "m.room_key_bundle", "m.key.verification.request", "m.key.verification.start",
                "m.key.verification.key", "org.matrix.msc4147.device_keys", "sender_device_keys", "request",
                "request_cancellation", "m.cross_signing.master",
            ])
    }

    mutating func violation(of input: inout FuzzInput) async throws -> String? {
        calls += 1
        now.addTimeInterval(1)
        var sync = CryptoSync(kind: .sliding)
        repeat {
            if !sync.events.isEmpty { input.steps += 1 }
            let event = try input.flag() ? sealed(&input) : clear(&input)
            sync.events.append(damage.applied(to: event, by: &input))
        } while sync.events.count < 4 && !input.isEmpty
        let receipt = try await machine.received(sync, at: now)
        if !receipt.secrets.isEmpty { return "a secret came that nobody asked for" }
        if let request = try await machine.nextRequest(at: now) { try await machine.failed(request) }
        guard calls.isMultiple(of: 64) else { return nil }
        return try await healthViolation()
    }

    /// Checks that a key is still read, and that not everything received stays stored.
    private func healthViolation() async throws -> String? {
        let group = try OutboundGroupSession()
        let key = (id: try group.id, key: Base64.encoded(try group.sessionKey))
        var sync = CryptoSync(kind: .sliding)
        sync.events = [try envelope(of: payload("m.room_key", roomKey(key), from: 1), from: 1)]
        let receipt = try await machine.received(sync, at: now)
        guard receipt.sessions == [SessionID(room: "!r:b", session: ExactText(key.id))] else {
            return "a key is not read any more: \(receipt)"
        }
        let count = await storage.count
        return count > Self.maxRecords ? "\(count) records are kept" : nil
    }

    // MARK: Through Olm

    private func sealed(_ input: inout FuzzInput) throws -> JSONValue {
        let number = input.number(below: peers.count)
        let (type, content) = content(&input)
        return try envelope(of: damage.applied(to: payload(type, content, from: number), by: &input), from: number)
    }

    private func payload(_ type: String, _ content: JSONValue, from number: Int) -> JSONValue {
        let peer = peers[number]
        return [
            "type": .string(type), "content": content, "sender": .string(peer.user.text),
            "recipient": .string(Self.own.text), "recipient_keys": ["ed25519": .string("\(ownKeys.signingKey)")],
            "keys": ["ed25519": .string("\(peer.account.signingKey)")], "sender_device_keys": peerKeys[number],
        ]
    }

    private func envelope(of payload: JSONValue, from number: Int) throws -> JSONValue {
        // A value without a canonical form is sent as text that is not JSON.
        let plaintext = (try? CanonicalJSON.bytes(of: payload)) ?? Array("no JSON".utf8)
        let message = try sessions[number].encrypt(plaintext)
        return [
            "type": "m.room.encrypted", "sender": .string(peers[number].user.text),
            "content": [
                "algorithm": "m.olm.v1.curve25519-aes-sha2",
                "sender_key": .string("\(peers[number].account.identityKey)"),
                "ciphertext": .object([
                    "\(ownKeys.identityKey)": [
                        "type": .integer(Int64(message.kind.rawValue)), "body": .string(Base64.encoded(message.bytes)),
                    ]
                ]),
            ],
        ]
    }

    private func roomKey(_ group: (id: String, key: String)) -> JSONValue {
        [
            "algorithm": "m.megolm.v1.aes-sha2", "room_id": "!r:b", "session_id": .string(group.id),
            "session_key": .string(group.key), "shared_history": true,
        ]
    }

    private func content(_ input: inout FuzzInput) -> (type: String, content: JSONValue) {
        switch input.number(below: 4) {
        case 0, 1: ("m.room_key", roomKey(groups[input.number(below: groups.count)]))
        case 2: ("m.secret.send", ["request_id": "1", "secret": .string(String(repeating: "A", count: 43))])
        default: ("m.dummy", [:])
        }
    }

    // MARK: In the clear

    private func clear(_ input: inout FuzzInput) -> JSONValue {
        let sender = input.flag() ? Self.own.text : "@a:b"
        let (type, content): (String, JSONValue)
        switch input.number(below: 8) {
        case 0, 1:
            (type, content) = (
                "m.room_key.withheld",
                [
                    "algorithm": "m.megolm.v1.aes-sha2", "code": input.flag() ? "m.no_olm" : "m.unverified",
                    "room_id": "!r:b", "session_id": .string(groups[input.number(below: groups.count)].id),
                    "sender_key": .string("\(peers[1].account.identityKey)"), "reason": "why",
                ]
            )
        case 2, 3:
            (type, content) = (
                "m.secret.request",
                [
                    "action": "request", "name": "m.cross_signing.master", "requesting_device_id": "OLD",
                    "request_id": .string("\(input.byte())"),
                ]
            )
        case 4:
            (type, content) = (
                "m.key.verification.request",
                [
                    "from_device": "OLD", "methods": ["m.sas.v1"], "timestamp": .integer(1_000_000_000),
                    "transaction_id": .string("\(input.byte())"),
                ]
            )
        default:
            let kind = input.choice(of: ["ready", "start", "accept", "key", "mac", "cancel", "done"])
            (type, content) = (
                "m.key.verification.\(kind)",
                [
                    "from_device": "OLD", "methods": ["m.sas.v1"], "transaction_id": .string("\(input.byte())"),
                    "method": "m.sas.v1", "key": .string("\(peers[0].account.identityKey)"), "code": "m.user",
                    "mac": [:], "keys": "x",
                ]
            )
        }
        return ["type": .string(type), "sender": .string(sender), "content": content]
    }
}
