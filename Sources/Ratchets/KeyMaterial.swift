import CRatchets

/// 32 secret bytes, such as the key of pickles: wiped when the last reference goes, and printed by nobody.
public final class KeyMaterial: Sendable, CustomStringConvertible, CustomReflectable {
    // Written in `init` alone.
    private nonisolated(unsafe) let storage: UnsafeMutablePointer<UInt8>

    public static let count = 32

    /// A random one.
    public init() throws(RatchetError) {
        storage = .allocate(capacity: Self.count)
        storage.initialize(repeating: 0, count: Self.count)
        try check(ratchet_random(storage, Self.count))
    }

    /// A copy; `bytes` themselves are the caller's to forget.
    public init(bytes: some Collection<UInt8>) throws(RatchetError) {
        storage = .allocate(capacity: Self.count)
        storage.initialize(repeating: 0, count: Self.count)
        guard bytes.count == Self.count else { throw .argument }
        for (offset, byte) in bytes.enumerated() { storage[offset] = byte }
    }

    deinit {
        ratchet_wipe(storage, Self.count)
        storage.deallocate()
    }

    /// The bytes, as what keeps them needs them. The pointer must not leave `body`.
    public func withBytes<Result, Failure: Error>(
        _ body: (UnsafePointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(storage)
    }

    public func isEqual(to other: KeyMaterial) -> Bool { ratchet_equal(storage, other.storage, Self.count) }

    public var description: String { "KeyMaterial" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The system's random numbers.
public enum Randomness {
    public static func bytes(_ count: Int) throws(RatchetError) -> [UInt8] {
        try filled(count) { ratchet_random($0, count) }
    }
}

/// Comparing what must not be guessed byte by byte.
public enum ConstantTime {
    /// In the same time whatever differs; lengths are no secret.
    public static func equal(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.count == other.count && ratchet_equal(one, other, one.count)
    }
}
