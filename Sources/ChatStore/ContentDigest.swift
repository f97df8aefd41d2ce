import CStore

/// The SHA-256 of a content that comes piece by piece.
struct ContentDigest: ~Copyable {
    private let checksum: UnsafeMutableRawPointer?

    init() { checksum = parlance_checksum_new(Int32(parlance_checksum_sha256)) }

    deinit { parlance_checksum_free(checksum) }

    borrowing func update(_ bytes: UnsafeRawBufferPointer) {
        parlance_checksum_update(checksum, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
    }

    /// In lower-case hexadecimal. Nothing can be added afterwards.
    consuming func finish() -> String { String(cString: parlance_checksum_get_string(checksum)) }
}
