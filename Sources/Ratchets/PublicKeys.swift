import CRatchets

/// A Curve25519 public key of 32 bytes, such as a device's identity key. A key of small order is rejected only on use.
public struct Curve25519Key: Hashable, Sendable, CustomStringConvertible {
    public let bytes: [UInt8]

    public init(bytes: [UInt8]) throws(RatchetError) {
        guard bytes.count == 32 else { throw .key }
        self.bytes = bytes
    }

    /// A key as others publish it. Libraries write each key in one way; another spelling of a known key would pass for
    /// another key.
    /// - Parameter base64: With or without padding.
    public init(base64: String) throws(RatchetError) {
        try self.init(bytes: Base64.decoded(base64))
        guard isCanonical else { throw .key }
    }

    /// Whether the number, without its highest bit, which is ignored, is less than 2²⁵⁵ − 19, and that bit is not set.
    private var isCanonical: Bool {
        if bytes[31] != 0x7F { return bytes[31] < 0x7F }
        return bytes[0] < 0xED || bytes[1..<31].contains { $0 != 0xFF }
    }

    public var description: String { Base64.encoded(bytes) }
}

/// An Ed25519 public key of 32 bytes.
public struct Ed25519Key: Hashable, Sendable, CustomStringConvertible {
    public let bytes: [UInt8]

    public init(bytes: [UInt8]) throws(RatchetError) {
        guard bytes.count == 32 else { throw .key }
        self.bytes = bytes
    }

    /// - Parameter base64: With or without padding.
    public init(base64: String) throws(RatchetError) { try self.init(bytes: Base64.decoded(base64)) }

    public var description: String { Base64.encoded(bytes) }

    /// Throws unless `signature` is this key's signature of `message`. Strict: keys of small order and non-canonical
    /// signatures are rejected.
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

/// Base64 as in Matrix: encoded without padding, decoded with or without.
public enum Base64 {
    /// Returns an empty string if the library is absent, where every other call fails, too.
    public static func encoded(_ bytes: [UInt8]) -> String {
        (try? output { ratchet_base64_encode(bytes, bytes.count, $0) }).map(text) ?? ""
    }

    public static func decoded(_ text: String) throws(RatchetError) -> [UInt8] {
        let ascii = Array(text.utf8)
        return try output { ratchet_base64_decode(ascii, ascii.count, $0) }
    }
}
