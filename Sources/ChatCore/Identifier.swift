/// An opaque identifier, typed by what it identifies.
///
/// Identifiers come from a backend and must not be parsed: a Matrix room ID of room version 12, for example, has no
/// domain.
public struct Identifier<Subject>: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    public var description: String { rawValue }

    /// Compares bytes, as servers and the store do: `String` calls canonically equivalent names equal, which may be
    /// those of two people. Equal bytes have equal hashes.
    public static func == (one: Self, other: Self) -> Bool {
        let (bytes, others) = (one.rawValue.utf8, other.rawValue.utf8)
        return bytes.withContiguousStorageIfAvailable { bytes in
            others.withContiguousStorageIfAvailable { bytes.elementsEqual($0) }
        }.flatMap(\.self) ?? bytes.elementsEqual(others)
    }

    /// For types with a raw value, the standard library has one that compares that.
    public static func != (one: Self, other: Self) -> Bool { !(one == other) }
}

extension Identifier: Codable {
    public init(from decoder: any Decoder) throws {
        rawValue = try decoder.singleValueContainer().decode(String.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

public typealias RoomID = Identifier<Room>
public typealias MemberID = Identifier<Member>
public typealias MessageID = Identifier<Message>
/// Assigned when a message is queued and reused for each attempt, so that it is delivered once.
public typealias TransactionID = Identifier<WrittenMessage>
