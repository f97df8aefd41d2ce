/// The source of randomness for a script: fuzzer input or a seeded generator.
public protocol ByteSource {
    /// Returns the next byte, or `nil` at the end.
    mutating func next() -> UInt8?
}

extension ByteSource {
    /// Returns a number from 0 up to, but not including, `bound`, which must be in 1...65,536. Returns 0 at the end.
    public mutating func number(below bound: Int) -> Int {
        let high = Int(next() ?? 0)
        guard bound > 256 else { return high % bound }
        return (high << 8 | Int(next() ?? 0)) % bound
    }
}

/// The bytes of a buffer, read once.
public struct BufferBytes: ByteSource {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var offset = 0

    public init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    public mutating func next() -> UInt8? {
        guard offset < bytes.count else { return nil }
        defer { offset += 1 }
        return bytes[offset]
    }
}

/// An infinite, deterministic byte sequence: SplitMix64.
public struct SeededBytes: ByteSource {
    private var state: UInt64
    private var word: UInt64 = 0
    private var remainingBytes = 0

    public init(seed: UInt64) {
        state = seed
    }

    public mutating func next() -> UInt8? {
        if remainingBytes == 0 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            word = mixed ^ (mixed >> 31)
            remainingBytes = 8
        }
        remainingBytes -= 1
        defer { word >>= 8 }
        return UInt8(truncatingIfNeeded: word)
    }
}
