import Foundation
public import Ratchets

/// Files with the keys of rooms, which a passphrase encrypts: the specification's "Key export format".
public enum KeyFile {
    public enum Failure: Error, Equatable, Sendable {
        /// It is no key file, or a damaged one.
        case damaged
        /// It asks for so few rounds that the passphrase can be guessed, or for so many that it takes hours.
        case rounds
        case tooLarge
        /// The passphrase is wrong, or what was encrypted was changed: one cannot be told from the other.
        case wrongPassphrase
        /// It could not be read or written.
        case file(code: Int32)
        case library(RatchetError)
    }

    static let header = Array("-----BEGIN MEGOLM SESSION DATA-----".utf8)
    static let trailer = Array("-----END MEGOLM SESSION DATA-----".utf8)
    static let macSize = 32
    public static let maxBytes = 512 << 20
    static let rounds: ClosedRange<UInt32> = 1_000...10_000_000
    static let writtenRounds: UInt32 = 500_000

    /// What a file begins with, once it is decoded.
    struct Preamble: Equatable, Sendable {
        static let size = 1 + 16 + 16 + 4
        private static let version: UInt8 = 1

        let salt: [UInt8]
        let iv: [UInt8]
        let rounds: UInt32

        /// One of a new file.
        init(rounds: UInt32) throws(RatchetError) {
            salt = try Randomness.bytes(16)
            var iv = try Randomness.bytes(16)
            // Implementations whose counter is shorter than the block agree on the result then.
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

    /// What a passphrase makes.
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

    /// Runs what takes seconds of a processor and waits for the disk, on a thread of its own.
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
