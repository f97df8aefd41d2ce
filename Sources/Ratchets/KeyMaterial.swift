import CRatchets

/// 32 secret bytes, such as a pickle key: wiped with the last reference, and never printed.
public final class KeyMaterial: Sendable, CustomStringConvertible, CustomReflectable {
    // Written only in `init`.
    private nonisolated(unsafe) let storage: UnsafeMutablePointer<UInt8>

    public static let count = 32

    /// Generates a random key.
    public init() throws(RatchetError) {
        storage = .allocate(capacity: Self.count)
        storage.initialize(repeating: 0, count: Self.count)
        try check(ratchet_random(storage, Self.count))
    }

    /// Copies the bytes; the caller still has to erase `bytes`.
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

    /// Calls `body` with the bytes. The pointer must not escape `body`.
    public func withBytes<Result, Failure: Error>(
        _ body: (UnsafePointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(storage)
    }

    public func isEqual(to other: KeyMaterial) -> Bool { ratchet_equal(storage, other.storage, Self.count) }

    public var description: String { "KeyMaterial" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The system's random number generator.
public enum Randomness {
    public static func bytes(_ count: Int) throws(RatchetError) -> [UInt8] {
        try filled(count) { ratchet_random($0, count) }
    }
}

/// Comparison without a timing side channel.
public enum ConstantTime {
    /// Takes the same time wherever the bytes differ; lengths are not secret.
    public static func equal(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.count == other.count && ratchet_equal(one, other, one.count)
    }
}
