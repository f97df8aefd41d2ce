/// A JSON value.
public enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    public subscript(_ key: String) -> JSONValue? {
        if case .object(let members) = self { members[key] } else { nil }
    }

    public var string: String? { if case .string(let text) = self { text } else { nil } }
    public var array: [JSONValue]? { if case .array(let values) = self { values } else { nil } }
    public var object: [String: JSONValue]? { if case .object(let members) = self { members } else { nil } }

    /// The value as an integer: an integer, a number truncated toward zero, or a numeric string.
    public var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value.rounded(.towardZero))
        case .string(let text): Int64(text)
        default: nil
        }
    }

    public var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        case .string(let text): Double(text)
        default: nil
        }
    }

    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The value as an identifier, which may be a string or an integer.
    public var identifier: String? {
        switch self {
        case .string(let text) where !text.isEmpty: text
        case .integer(let value): String(value)
        default: nil
        }
    }
}
