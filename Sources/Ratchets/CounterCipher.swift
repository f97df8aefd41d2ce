import CRatchets

/// Incremental AES-256 in counter mode; encryption and decryption are the same operation.
public final class CounterCipher {
    private let handle: OpaquePointer

    /// - Parameter counter: 16 bytes that must not be reused with the same key.
    public init(key: KeyMaterial, counter: [UInt8]) throws(RatchetError) {
        guard counter.count == 16 else { throw .argument }
        handle = try key.withBytes { key throws(RatchetError) in try made { ratchet_aes_ctr_new(key, counter, $0) } }
    }

    deinit { ratchet_aes_ctr_free(handle) }

    /// Encrypts or decrypts in place.
    public func apply(to bytes: UnsafeMutableRawBufferPointer) throws(RatchetError) {
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        try check(ratchet_aes_ctr_update(handle, start, bytes.count))
    }

    public func apply(to bytes: [UInt8]) throws(RatchetError) -> [UInt8] {
        var bytes = bytes
        try check(ratchet_aes_ctr_update(handle, &bytes, bytes.count))
        return bytes
    }
}
