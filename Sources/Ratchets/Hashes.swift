import CRatchets

/// SHA-256, whole or piece by piece.
public final class SHA256 {
    private let handle: OpaquePointer

    public init() throws(RatchetError) { handle = try made { ratchet_sha256_new($0) } }

    deinit { ratchet_sha256_free(handle) }

    public func update(_ bytes: UnsafeRawBufferPointer) throws(RatchetError) {
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        try check(ratchet_sha256_update(handle, start, bytes.count))
    }

    public func update(_ bytes: [UInt8]) throws(RatchetError) {
        try check(ratchet_sha256_update(handle, bytes, bytes.count))
    }

    /// The digest of all that came; begins anew.
    public func finish() throws(RatchetError) -> [UInt8] { try filled(32) { ratchet_sha256_finish(handle, $0) } }

    public static func digest(of bytes: [UInt8]) throws(RatchetError) -> [UInt8] {
        try filled(32) { ratchet_sha256(bytes, bytes.count, $0) }
    }
}

/// Keys made of secrets.
public enum KeyDerivation {
    public static func hmacSHA256(of bytes: [UInt8], key: [UInt8]) throws(RatchetError) -> [UInt8] {
        try filled(32) { ratchet_hmac_sha256(key, key.count, bytes, bytes.count, $0) }
    }

    /// - Parameter count: At most 8,160.
    public static func hkdfSHA256(
        input: [UInt8], salt: [UInt8], info: [UInt8], count: Int
    ) throws(RatchetError) -> [UInt8] {
        try filled(count) {
            ratchet_hkdf_sha256(input, input.count, salt, salt.count, info, info.count, $0, count)
        }
    }

    /// How many rounds may be asked for: fewer can be guessed, and more take seconds of work that a server asks for.
    public static let rounds: ClosedRange<UInt32> = 1...10_000_000

    /// Takes 0.8 s for a million rounds: never on the main thread.
    /// - Parameter count: At most 64.
    public static func pbkdf2SHA512(
        passphrase: String, salt: [UInt8], rounds: UInt32, count: Int
    ) throws(RatchetError) -> [UInt8] {
        guard self.rounds.contains(rounds), (1...64).contains(count) else { throw .argument }
        var passphrase = Array(passphrase.utf8)
        defer { ratchet_wipe(&passphrase, passphrase.count) }
        return try filled(count) {
            ratchet_pbkdf2_sha512(passphrase, passphrase.count, salt, salt.count, rounds, $0, count)
        }
    }
}
