import CStore

/// An incremental SHA-256 checksum.
struct ContentDigest: ~Copyable {
    private let checksum: UnsafeMutableRawPointer?

    init() { checksum = parlance_checksum_new(Int32(parlance_checksum_sha256)) }

    deinit { parlance_checksum_free(checksum) }

    borrowing func update(_ bytes: UnsafeRawBufferPointer) {
        parlance_checksum_update(checksum, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
    }

    /// Returns the digest in lowercase hexadecimal, and ends the computation.
    consuming func finish() -> String { String(cString: parlance_checksum_get_string(checksum)) }
}
