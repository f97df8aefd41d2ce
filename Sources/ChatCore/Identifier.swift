/// An opaque identifier, kept apart from those of other kinds by the type of what it identifies.
///
/// Identifiers come from a backend and are compared, stored and handed back, never taken apart:
/// a Matrix room id of version 12, for example, has no domain.
public struct Identifier<Subject>: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    public var description: String { rawValue }
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
/// Fixed when a message is queued and kept through every retry, so that it is delivered once.
public typealias TransactionID = Identifier<WrittenMessage>
