import CRatchets

/// An Olm message: a pre-key message, which establishes a session, or a normal one.
public struct OlmMessage: Hashable, Sendable {
    public enum Kind: UInt32, Sendable {
        /// A pre-key message, with what the recipient needs to establish the session.
        case beginning = 0
        case following = 1
    }

    public let kind: Kind
    public let bytes: [UInt8]

    public init(kind: Kind, bytes: [UInt8]) {
        self.kind = kind
        self.bytes = bytes
    }
}

/// An Olm session with one device.
public final class OlmSession {
    private let handle: OpaquePointer

    init(handle: OpaquePointer) { self.handle = handle }

    public convenience init(pickle: [UInt8], key: KeyMaterial) throws(RatchetError) {
        self.init(
            handle: try key.withBytes { key throws(RatchetError) in
                try made { ratchet_olm_unpickle(pickle, pickle.count, key, $0) }
            })
    }

    deinit { ratchet_olm_free(handle) }

    public func pickle(key: KeyMaterial) throws(RatchetError) -> [UInt8] {
        try key.withBytes { key throws(RatchetError) in try output { ratchet_olm_pickle(handle, key, $0) } }
    }

    public var id: String { get throws(RatchetError) { text(try output { ratchet_olm_id(handle, $0) }) } }

    /// Whether the other side has replied: until then each message is a pre-key message.
    public var hasReceived: Bool {
        get throws(RatchetError) {
            var answer = false
            try check(ratchet_olm_has_received(handle, &answer))
            return answer
        }
    }

    /// Whether a pre-key message (``OlmMessage/Kind/beginning``) belongs to this session.
    public func begins(with message: [UInt8]) throws(RatchetError) -> Bool {
        var answer = false
        try check(ratchet_olm_begins_with(handle, message, message.count, &answer))
        return answer
    }

    /// The session has to be stored before the message is sent: a message key must never be used twice.
    public func encrypt(_ plaintext: [UInt8]) throws(RatchetError) -> OlmMessage {
        var kind: UInt32 = 0
        let bytes = try output { ratchet_olm_encrypt(handle, plaintext, plaintext.count, &kind, $0) }
        guard let kind = OlmMessage.Kind(rawValue: kind) else { throw .malformed }
        return OlmMessage(kind: kind, bytes: bytes)
    }

    /// An error leaves the session unchanged.
    public func decrypt(_ message: OlmMessage) throws(RatchetError) -> [UInt8] {
        try output {
            ratchet_olm_decrypt(handle, message.kind.rawValue, message.bytes, message.bytes.count, $0)
        }
    }
}
