/// Text that is compared byte by byte, as identifiers and signed text must be.
///
/// Swift's `String` considers a precomposed é equal to an e with a combining accent, also as keys of sets and
/// dictionaries; to a server they are two users.
public struct ExactText: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let bytes: [UInt8]

    public init(_ text: some StringProtocol) { bytes = Array(text.utf8) }
    public init(bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    /// Replaces invalid UTF-8. Use it to display text, never to compare it.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
    public var description: String { text }

    /// Hashes all bytes in one call, which is several times as fast as one by one.
    public func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        hasher.combine(bytes.count)
    }

    /// Compares bytes, which is the order of Unicode scalars.
    public static func < (one: ExactText, other: ExactText) -> Bool { one.bytes.lexicographicallyPrecedes(other.bytes) }
}

extension ExactText: ExpressibleByStringLiteral {
    public init(stringLiteral text: String) { self.init(text) }
}
