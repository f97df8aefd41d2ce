import Composer
import JSONReading

/// The argument of a verb, validated strictly.
struct Argument {
    /// A whole number is an integer, whether it is written `1`, `1.0` or `1e0`.
    let value: JSONValue

    init(_ value: JSONValue) {
        if case .number(let number) = value, let whole = Int64(exactly: number) {
            self.value = .integer(whole)
        } else {
            self.value = value
        }
    }

    func requireTrue() throws {
        guard case .bool(true) = value else { throw ReplayError.wrongArgument("true") }
    }

    func bool() throws -> Bool {
        guard case .bool(let value) = value else { throw ReplayError.wrongArgument("true or false") }
        return value
    }

    func string() throws -> String {
        guard case .string(let value) = value else { throw ReplayError.wrongArgument("a string") }
        return value
    }

    func integer() throws -> Int {
        guard case .integer(let value) = value else { throw ReplayError.wrongArgument("a whole number") }
        return Int(value)
    }

    func count() throws -> Int {
        let value = try integer()
        guard value >= 0 else { throw ReplayError.wrongArgument("a count") }
        return value
    }

    /// Returns a number in 0...1e9.
    func measure() throws -> Double {
        let number: Double
        switch value {
        case .integer(let value): number = Double(value)
        case .number(let value): number = value
        default: throw ReplayError.wrongArgument("a number")
        }
        guard number >= 0, number <= 1e9 else { throw ReplayError.wrongArgument("a number from 0 to 1e9") }
        return number
    }

    func array() throws -> [Argument] {
        guard case .array(let values) = value else { throw ReplayError.wrongArgument("a list") }
        return values.map(Argument.init)
    }

    /// Returns an object with these keys, of which optional ones may be missing or null. Rejects unknown keys.
    func object(required: [String], optional: [String] = []) throws -> Fields {
        guard case .object(let values) = value else { throw ReplayError.wrongArgument("an object") }
        for key in required where values[key] == nil { throw ReplayError("missing key \"\(key)\"") }
        for key in values.keys.sorted() where !required.contains(key) && !optional.contains(key) {
            throw ReplayError("unknown key \"\(key)\"")
        }
        return Fields(values: values)
    }

    /// Parses `[location, length]` without checking the bounds.
    func range() throws -> TextRange {
        let numbers = try array()
        guard numbers.count == 2 else { throw ReplayError.wrongArgument("[location, length]") }
        return TextRange(location: try numbers[0].integer(), length: try numbers[1].integer())
    }

    /// Parses a range, which must lie in the document.
    func range(in document: ComposerDocument) throws -> TextRange {
        let range = try range()
        guard document.contains(range) else { throw ReplayError("range out of the text") }
        return range
    }
}

/// The fields of a validated object.
struct Fields {
    let values: [String: JSONValue]

    subscript(key: String) -> Argument { Argument(values[key] ?? .null) }

    /// Returns `nil` if the key is missing or null.
    func optional(_ key: String) -> Argument? {
        switch values[key] {
        case nil, .null: nil
        case .some(let value): Argument(value)
        }
    }
}
