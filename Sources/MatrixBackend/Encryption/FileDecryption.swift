import ChatCore
import Dispatch
import Foundation
import Glibc
import Ratchets

/// Decrypts a file in chunks, in constant memory.
extension EncryptedFile {
    private static let chunkSize = 256 << 10

    /// - Parameters:
    ///   - source: The downloaded ciphertext. It is read twice, as no plaintext may be used before the whole file is
    ///   verified.
    ///   - target: Must not exist.
    /// - Throws: ``ChatError/unreadableFile`` if the ciphertext does not match its hash.
    func decrypt(_ source: URL, to target: URL) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            // Disk access blocks, which threads of Swift's pool must not do.
            DispatchQueue.global(qos: .userInitiated).async {
                continuation.resume(with: Result { try decryptNow(source, to: target) })
            }
        }
    }

    private func decryptNow(_ source: URL, to target: URL) throws {
        let input = Glibc.open(source.path, O_RDONLY | O_CLOEXEC)
        guard input >= 0 else { throw ChatError.unreadableFile }
        defer { Glibc.close(input) }
        let hash = try SHA256()
        try Self.eachChunk(of: input) { try hash.update(UnsafeRawBufferPointer($0)) }
        guard ConstantTime.equal(try hash.finish(), digest) else { throw ChatError.unreadableFile }
        guard lseek(input, 0, SEEK_SET) == 0 else { throw ChatError.unreadableFile }
        let output = Glibc.open(target.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard output >= 0 else { throw Self.failure() }
        defer { Glibc.close(output) }
        let cipher = try CounterCipher(key: KeyMaterial(bytes: key), counter: counter)
        try Self.eachChunk(of: input) { chunk in
            try cipher.apply(to: chunk)
            try Self.write(UnsafeRawBufferPointer(chunk), to: output)
        }
    }

    private static func eachChunk(
        of descriptor: Int32, _ body: (UnsafeMutableRawBufferPointer) throws -> Void
    ) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: chunkSize, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw ChatError.unreadableFile }
            guard count > 0 else { return }
            try body(UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure() }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    private static func failure() -> ChatError {
        errno == ENOSPC || errno == EDQUOT ? .diskFull : .storage(reason: "a file could not be decrypted (\(errno))")
    }
}
