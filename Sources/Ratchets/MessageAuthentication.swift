/// Incremental HMAC-SHA-256 (RFC 2104), for data that does not fit into memory.
public final class MessageAuthentication {
    private static let blockSize = 64
    private let inner: SHA256
    private let outer: SHA256

    public init(key: [UInt8]) throws(RatchetError) {
        var block = key.count > Self.blockSize ? try SHA256.digest(of: key) : key
        block += [UInt8](repeating: 0, count: Self.blockSize - block.count)
        inner = try SHA256()
        outer = try SHA256()
        try inner.update(block.map { $0 ^ 0x36 })
        try outer.update(block.map { $0 ^ 0x5C })
    }

    public func update(_ bytes: [UInt8]) throws(RatchetError) { try inner.update(bytes) }

    /// The MAC of all input. Must be called only once.
    public func finish() throws(RatchetError) -> [UInt8] {
        try outer.update(try inner.finish())
        return try outer.finish()
    }
}
