/// Text that is compared by its bytes, as identifiers and what is signed must be.
///
/// To Swift's `String` the letter é is equal to an e with an accent behind it, in dictionaries and sets too; to a server
/// these are two users.
public struct ExactText: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let bytes: [UInt8]

    public init(_ text: some StringProtocol) { bytes = Array(text.utf8) }
    public init(bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    /// What is not UTF-8 is replaced: for showing, never for comparing.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
    public var description: String { text }

    /// Hashes all bytes at once: one by one takes several times as long.
    public func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        hasher.combine(bytes.count)
    }

    /// By bytes, which is the order of Unicode's scalars.
    public static func < (one: ExactText, other: ExactText) -> Bool { one.bytes.lexicographicallyPrecedes(other.bytes) }
}

extension ExactText: ExpressibleByStringLiteral {
    public init(stringLiteral text: String) { self.init(text) }
}
