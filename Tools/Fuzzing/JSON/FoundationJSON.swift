import Foundation
import JSONReading

/// Foundation's JSON parser, as an independent reference.
enum FoundationJSON {
    /// - Returns: the value, or `nil` if Foundation rejects the document.
    static func value(of bytes: [UInt8]) -> JSONValue? {
        try? JSONDecoder().decode(Decoded.self, from: Data(bytes)).value
    }

    private struct Decoded: Decodable {
        let value: JSONValue

        init(from decoder: any Decoder) throws {
            // A decoder says which type a value has only by failing for the others.
            if let members = try? decoder.container(keyedBy: AnyKey.self) {
                var object: [String: JSONValue] = [:]
                for key in members.allKeys {
                    object[key.stringValue] = try members.decode(Decoded.self, forKey: key).value
                }
                value = .object(object)
            } else if var members = try? decoder.unkeyedContainer() {
                var array: [JSONValue] = []
                while !members.isAtEnd { array.append(try members.decode(Decoded.self).value) }
                value = .array(array)
            } else {
                value = try Self.scalar(decoder.singleValueContainer())
            }
        }

        private static func scalar(_ container: any SingleValueDecodingContainer) throws -> JSONValue {
            if container.decodeNil() { return .null }
            // As above: failing means that it has another type.
            if let text = try? container.decode(String.self) { return .string(text) }
            if let truth = try? container.decode(Bool.self) { return .bool(truth) }
            return .number(try container.decode(Double.self))
        }
    }

    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

extension JSONValue {
    /// The value with integers converted to the nearest `Double`, as Foundation returns them.
    var roundingNumbers: JSONValue {
        switch self {
        case .integer(let whole): .number(Double(whole))
        case .array(let values): .array(values.map(\.roundingNumbers))
        case .object(let members): .object(members.mapValues(\.roundingNumbers))
        default: self
        }
    }

    /// Whether the value, a nested value, or a key satisfies the condition.
    func contains(_ condition: (JSONValue) -> Bool) -> Bool {
        if condition(self) { return true }
        switch self {
        case .array(let values): return values.contains { $0.contains(condition) }
        case .object(let members):
            return members.contains { condition(.string($0)) || $1.contains(condition) }
        default: return false
        }
    }

    /// The nesting depth of containers.
    var depth: Int {
        switch self {
        case .array(let values): 1 + (values.map(\.depth).max() ?? 0)
        case .object(let members): 1 + (members.values.map(\.depth).max() ?? 0)
        default: 0
        }
    }
}
