import CRatchets

/// 32 bytes that name a device for Olm. Any 32 bytes are one: a key of small order is refused where it is used.
public struct Curve25519Key: Hashable, Sendable, CustomStringConvertible {
    public let bytes: [UInt8]

    public init(bytes: [UInt8]) throws(RatchetError) {
        guard bytes.count == 32 else { throw .key }
        self.bytes = bytes
    }

    /// - Parameter base64: With or without padding.
    public init(base64: String) throws(RatchetError) { try self.init(bytes: Base64.decoded(base64)) }

    public var description: String { Base64.encoded(bytes) }
}

/// 32 bytes that signatures are checked with.
public struct Ed25519Key: Hashable, Sendable, CustomStringConvertible {
    public let bytes: [UInt8]

    public init(bytes: [UInt8]) throws(RatchetError) {
        guard bytes.count == 32 else { throw .key }
        self.bytes = bytes
    }

    /// - Parameter base64: With or without padding.
    public init(base64: String) throws(RatchetError) { try self.init(bytes: Base64.decoded(base64)) }

    public var description: String { Base64.encoded(bytes) }

    /// Throws unless `signature` is this key's over `message`. Strict: a key of small order and a signature in another
    /// than its one form are refused.
    public func verify(_ signature: Signature, of message: [UInt8]) throws(RatchetError) {
        try check(ratchet_ed25519_verify(bytes, message, message.count, signature.bytes))
    }
}

/// An Ed25519 signature.
public struct Signature: Hashable, Sendable, CustomStringConvertible {
    public let bytes: [UInt8]

    public init(bytes: [UInt8]) throws(RatchetError) {
        guard bytes.count == 64 else { throw .signature }
        self.bytes = bytes
    }

    /// - Parameter base64: With or without padding.
    public init(base64: String) throws(RatchetError) { try self.init(bytes: Base64.decoded(base64)) }

    public var description: String { Base64.encoded(bytes) }
}

/// Base64 as Matrix writes it: without padding, and read with or without.
public enum Base64 {
    /// Text of at most 4/3 of the bytes. Without the library it is empty, as all else fails there, too.
    public static func encoded(_ bytes: [UInt8]) -> String {
        (try? output { ratchet_base64_encode(bytes, bytes.count, $0) }).map(text) ?? ""
    }

    public static func decoded(_ text: String) throws(RatchetError) -> [UInt8] {
        let ascii = Array(text.utf8)
        return try output { ratchet_base64_decode(ascii, ascii.count, $0) }
    }
}
