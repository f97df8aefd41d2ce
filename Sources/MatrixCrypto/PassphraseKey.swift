import Dispatch
public import Ratchets

/// Keys made of passphrases by PBKDF2 with SHA-512.
public enum PassphraseKey {
    /// Takes up to seconds, on a thread of its own: nobody else waits for it.
    /// - Parameter count: How many bytes, at most 64.
    public static func bytes(
        from passphrase: String, salt: [UInt8], rounds: UInt32, count: Int
    ) async throws(RatchetError) -> [UInt8] {
        let result: Result<[UInt8], RatchetError> = await withCheckedContinuation { continuation in
            // The threads of Swift's pool are as few as the processors.
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
