import Foundation
public import Ratchets

/// Passphrase-encrypted files of room keys: the specification's "Key export format".
public enum KeyFile {
    public enum Failure: Error, Equatable, Sendable {
        /// It is not a key file, or a damaged one.
        case damaged
        /// So few rounds that the passphrase can be guessed, or so many that deriving the keys would take hours.
        case rounds
        case tooLarge
        /// The passphrase is wrong, or the ciphertext was modified: the two are indistinguishable.
        case wrongPassphrase
        /// The file could not be read or written.
        case file(code: Int32)
        case library(RatchetError)
    }

    static let header = Array("-----BEGIN MEGOLM SESSION DATA-----".utf8)
    static let trailer = Array("-----END MEGOLM SESSION DATA-----".utf8)
    static let macSize = 32
    public static let maxBytes = 512 << 20
    static let rounds: ClosedRange<UInt32> = 1_000...10_000_000
    static let writtenRounds: UInt32 = 500_000

    /// The fields before the ciphertext of a decoded file.
    struct Preamble: Equatable, Sendable {
        static let size = 1 + 16 + 16 + 4
        private static let version: UInt8 = 1

        let salt: [UInt8]
        let iv: [UInt8]
        let rounds: UInt32

        /// Creates the preamble of a new file.
        init(rounds: UInt32) throws(RatchetError) {
            salt = try Randomness.bytes(16)
            var iv = try Randomness.bytes(16)
            // The specification clears bit 63 to work around differences between AES-CTR implementations.
            iv[8] &= 0x7F
            self.iv = iv
            self.rounds = rounds
        }

        init(_ bytes: [UInt8]) throws(Failure) {
            guard bytes.count == Self.size, bytes[0] == Self.version else { throw .damaged }
            salt = Array(bytes[1..<17])
            iv = Array(bytes[17..<33])
            rounds = bytes[33...].reduce(0) { $0 << 8 | UInt32($1) }
            guard KeyFile.rounds.contains(rounds) else { throw .rounds }
        }

        var bytes: [UInt8] {
            [Self.version] + salt + iv + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: rounds >> $0) }
        }
    }

    /// The keys derived from a passphrase.
    struct Keys: Sendable {
        let encryption: KeyMaterial
        let authentication: [UInt8]

        init(encryption: KeyMaterial, authentication: [UInt8]) {
            self.encryption = encryption
            self.authentication = authentication
        }

        init(passphrase: String, _ preamble: Preamble) throws(RatchetError) {
            let bytes = try KeyDerivation.pbkdf2SHA512(
                passphrase: passphrase, salt: preamble.salt, rounds: preamble.rounds, count: 64)
            encryption = try KeyMaterial(bytes: bytes.prefix(32))
            authentication = Array(bytes.suffix(32))
        }
    }

    /// Runs work that takes seconds of CPU time and blocks on the disk, on a thread outside Swift's thread pool.
    static func run<Value: Sendable>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .userInitiated).async {
                continuation.resume(returning: Result { () throws(Failure) in try work() })
            }
        }
        return try result.get()
    }

    static func using<Value>(_ work: () throws(RatchetError) -> Value) throws(Failure) -> Value {
        do { return try work() } catch { throw .library(error) }
    }
}
