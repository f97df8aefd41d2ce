import Dispatch
public import Ratchets

/// Derives keys from passphrases by PBKDF2 with SHA-512.
public enum PassphraseKey {
    /// Can take seconds, on a thread of its own, so that it blocks nothing else.
    /// - Parameter count: The number of bytes, at most 64.
    public static func bytes(
        from passphrase: String, salt: [UInt8], rounds: UInt32, count: Int
    ) async throws(RatchetError) -> [UInt8] {
        let result: Result<[UInt8], RatchetError> = await withCheckedContinuation { continuation in
            // Swift's thread pool has only one thread per processor.
            DispatchQueue.global(qos: .userInitiated).async {
                continuation.resume(
                    returning: Result { () throws(RatchetError) in
                        try KeyDerivation.pbkdf2SHA512(
                            passphrase: passphrase, salt: salt, rounds: rounds, count: count)
                    })
            }
        }
        return try result.get()
    }
}
