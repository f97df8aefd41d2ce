import Foundation

/// A JSON value.
indirect enum JSONValue: Decodable {
    case null
    case bool(Bool)
    case integer(Int)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // Each failure only means another type; the last one is the error.
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    static func parse(_ line: Data) -> JSONValue? {
        // Foundation replaces invalid UTF-8; reject it, as such a trace is damaged.
        guard String(validating: line, as: UTF8.self) != nil else { return nil }
        // The answer to a malformed line is the same whatever is wrong with it.
        return try? JSONDecoder().decode(JSONValue.self, from: line)
    }
}
