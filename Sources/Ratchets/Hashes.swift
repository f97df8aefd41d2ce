import CRatchets

/// SHA-256, one-shot or incremental.
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

    /// Returns the digest of all input, and resets the state.
    public func finish() throws(RatchetError) -> [UInt8] { try filled(32) { ratchet_sha256_finish(handle, $0) } }

    public static func digest(of bytes: [UInt8]) throws(RatchetError) -> [UInt8] {
        try filled(32) { ratchet_sha256(bytes, bytes.count, $0) }
    }
}

/// Message authentication and key derivation.
public enum KeyDerivation {
    public static func hmacSHA256(of bytes: [UInt8], key: [UInt8]) throws(RatchetError) -> [UInt8] {
        try filled(32) { ratchet_hmac_sha256(key, key.count, bytes, bytes.count, $0) }
    }

    /// - Parameter count: The number of bytes, at most 8,160.
    public static func hkdfSHA256(
        input: [UInt8], salt: [UInt8], info: [UInt8], count: Int
    ) throws(RatchetError) -> [UInt8] {
        try filled(count) {
            ratchet_hkdf_sha256(input, input.count, salt, salt.count, info, info.count, $0, count)
        }
    }

    /// The upper bound limits the work that a server can demand; callers enforce a minimum of their own.
    public static let rounds: ClosedRange<UInt32> = 1...10_000_000

    /// Takes 0.8 s per million rounds: never call it on the main thread.
    /// - Parameter count: The number of bytes, at most 64.
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
