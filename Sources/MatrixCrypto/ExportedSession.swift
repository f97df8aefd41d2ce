public import ChatCore
import Foundation
public import JSONReading
public import Ratchets

/// A session in the form that key files and backups contain. Nothing in it is signed.
public struct ExportedSession: Equatable, Sendable, CustomStringConvertible, CustomReflectable {
    public let room: ExactText
    public let id: ExactText
    /// The exported session key, from its first known index on.
    let key: [UInt8]
    let senderKey: Curve25519Key
    /// As claimed; `nil` if it is missing.
    let signingKey: Ed25519Key?
    let isSharedHistory: Bool

    /// The limits for base64 text; valid keys and ciphertexts are shorter.
    private static let maxKey = 1_000
    private static let maxCiphertext = 64 << 10

    /// Parses an entry of a key file.
    public init(_ json: JSONValue) throws(InboundSession.Rejection) {
        guard let room = json["room_id"]?.exactText, let id = json["session_id"]?.exactText else { throw .malformed }
        try self.init(json, room: room, id: id)
    }

    /// Parses the plaintext of a backup entry, whose room and session are named outside it.
    public init(_ json: JSONValue, room: ExactText, id: ExactText) throws(InboundSession.Rejection) {
        guard json["algorithm"]?.string == InboundSession.algorithm else { throw .algorithm }
        guard (1...255).contains(room.bytes.count), (1...255).contains(id.bytes.count),
            let text = json["session_key"]?.string, text.utf8.count <= Self.maxKey,
            let key = try? Base64.decoded(text), let sender = json["sender_key"]?.string,
            let senderKey = try? Curve25519Key(base64: sender)
        else { throw .malformed }
        self.room = room
        self.id = id
        self.key = key
        self.senderKey = senderKey
        signingKey = json["sender_claimed_keys"]?["ed25519"]?.string.flatMap { try? Ed25519Key(base64: $0) }
        isSharedHistory = json["shared_history"]?.bool ?? false
    }

    /// Decrypts and parses a backup entry as the server returns it.
    /// - Throws: Also if the backup key does not decrypt it.
    public init(backedUp json: JSONValue, room: ExactText, id: ExactText, key: BackupKey) throws {
        let data = json["session_data"]
        guard let ephemeral = data?["ephemeral"]?.string, let mac = data?["mac"]?.string,
            let ciphertext = data?["ciphertext"]?.string, ciphertext.utf8.count <= Self.maxCiphertext,
            mac.utf8.count <= 100
        else { throw InboundSession.Rejection.malformed }
        let plaintext = try key.decrypt(
            BackedUpData(
                ephemeralKey: Curve25519Key(base64: ephemeral), mac: Base64.decoded(mac),
                ciphertext: Base64.decoded(ciphertext)))
        try self.init(JSONValue(parsing: Data(plaintext)), room: room, id: id)
    }

    /// Exports a session from its first known index on.
    public init(_ session: InboundSession) throws(RatchetError) {
        room = session.room
        id = session.id
        key = try session.session.exported(at: session.session.firstKnownIndex)
        senderKey = try Curve25519Key(bytes: session.owner.identityKey)
        signingKey = try? Ed25519Key(bytes: session.owner.signingKey)
        isSharedHistory = session.isSharedHistory
    }

    /// The entry of a key file.
    public var json: JSONValue {
        var json = content
        json["room_id"] = .string(room.text)
        json["session_id"] = .string(id.text)
        return .object(json)
    }

    /// The plaintext of a backup entry.
    var content: [String: JSONValue] {
        [
            "algorithm": .string(InboundSession.algorithm), "sender_key": .string("\(senderKey)"),
            "session_key": .string(Base64.encoded(key)), "forwarding_curve25519_key_chain": [],
            "sender_claimed_keys": .object(signingKey.map { ["ed25519": .string("\($0)")] } ?? [:]),
            "shared_history": .bool(isSharedHistory),
        ]
    }

    public var description: String { "ExportedSession" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension InboundSession {
    /// Imports a session from a key file or a backup.
    public init(_ exported: ExportedSession) throws(Rejection) {
        do throws(RatchetError) {
            session = try InboundGroupSession(exported: exported.key)
            guard ExactText(try session.id) == exported.id else { throw .mismatch }
        } catch {
            throw error == .mismatch ? .mismatch : .key(error)
        }
        room = exported.room
        id = exported.id
        owner = Owner(identityKey: exported.senderKey, signingKey: exported.signingKey)
        source = .imported
        isSharedHistory = exported.isSharedHistory
    }

    /// Whether nothing states which user the session belongs to.
    var isAnybodys: Bool { source == .imported && owner.user.isEmpty }
}

extension InboundSession.Owner {
    /// The owner of an imported session, which names keys but no user.
    init(identityKey: Curve25519Key, signingKey: Ed25519Key?) {
        self.init(user: "", identityKey: identityKey.bytes, signingKey: signingKey?.bytes ?? [])
    }

    /// The same keys, attributed to the sender of a message. Nothing proves the attribution.
    func claimed(by sender: ExactText) -> InboundSession.Owner {
        InboundSession.Owner(user: sender.text, identityKey: identityKey, signingKey: signingKey)
    }

    private init(user: String, identityKey: [UInt8], signingKey: [UInt8]) {
        self.user = user
        self.identityKey = identityKey
        self.signingKey = signingKey
    }
}
