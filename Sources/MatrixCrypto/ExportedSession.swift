public import ChatCore
import Foundation
public import JSONReading
public import Ratchets

/// A session as key files and backups have it. Nobody has signed any of it.
public struct ExportedSession: Equatable, Sendable, CustomStringConvertible, CustomReflectable {
    public let room: ExactText
    public let id: ExactText
    /// What reads its messages from one on.
    let key: [UInt8]
    let senderKey: Curve25519Key
    /// As claimed; `nil` if it is not said.
    let signingKey: Ed25519Key?
    let isSharedHistory: Bool

    /// Longer keys are none.
    private static let maxKey = 1_000
    private static let maxCiphertext = 64 << 10

    /// Reads one of a key file.
    public init(_ json: JSONValue) throws(InboundSession.Rejection) {
        guard let room = json["room_id"]?.exactText, let id = json["session_id"]?.exactText else { throw .malformed }
        try self.init(json, room: room, id: id)
    }

    /// Reads one of a backup, which names room and session outside of it.
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

    /// Reads one as the server has it.
    /// - Throws: Also if the backup's key does not read it.
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

    /// All that a session reads.
    public init(_ session: InboundSession) throws(RatchetError) {
        room = session.room
        id = session.id
        key = try session.session.exported(at: session.session.firstKnownIndex)
        senderKey = try Curve25519Key(bytes: session.owner.identityKey)
        signingKey = try? Ed25519Key(bytes: session.owner.signingKey)
        isSharedHistory = session.isSharedHistory
    }

    /// As a key file has it.
    public var json: JSONValue {
        var json = content
        json["room_id"] = .string(room.text)
        json["session_id"] = .string(id.text)
        return .object(json)
    }

    /// What a backup encrypts.
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
    /// From a key file or a backup.
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

    /// Whether nothing says which user's it is.
    var isAnybodys: Bool { source == .imported && owner.user.isEmpty }
}

extension InboundSession.Owner {
    /// Of an imported session, which names keys and no user.
    init(identityKey: Curve25519Key, signingKey: Ed25519Key?) {
        self.init(user: "", identityKey: identityKey.bytes, signingKey: signingKey?.bytes ?? [])
    }

    /// The same keys, as those of the user in whose name a message came. Nothing proves that.
    func claimed(by sender: ExactText) -> InboundSession.Owner {
        InboundSession.Owner(user: sender.text, identityKey: identityKey, signingKey: signingKey)
    }

    private init(user: String, identityKey: [UInt8], signingKey: [UInt8]) {
        self.user = user
        self.identityKey = identityKey
        self.signingKey = signingKey
    }
}
