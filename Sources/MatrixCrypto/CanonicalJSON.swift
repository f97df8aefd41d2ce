public import JSONReading

/// The one form of JSON that is signed: no spaces, members in the order of their bytes, integers only.
public enum CanonicalJSON {
    public enum Failure: Error, Hashable, Sendable {
        /// A number that is no integer, or one beyond ±(2^53 − 1), which other programs would round.
        case number
        case tooDeep
    }

    /// Deeper JSON is signed by nobody.
    static let maxDepth = 100
    private static let integers: ClosedRange<Int64> = -(1 << 53) + 1...(1 << 53) - 1

    public static func bytes(of value: JSONValue) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        try write(value, depth: 0, into: &bytes)
        return bytes
    }

    private static func write(_ value: JSONValue, depth: Int, into bytes: inout [UInt8]) throws(Failure) {
        guard depth <= maxDepth else { throw .tooDeep }
        switch value {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let value):
            guard integers.contains(value) else { throw .number }
            bytes += String(value).utf8
        case .number: throw .number
        case .string(let text): write(text.utf8, into: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (offset, value) in values.enumerated() {
                if offset > 0 { bytes.append(UInt8(ascii: ",")) }
                try write(value, depth: depth + 1, into: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            // The bytes of UTF-8 have the order of code points. Swift's order of strings is another.
            let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            for (offset, member) in sorted.enumerated() {
                if offset > 0 { bytes.append(UInt8(ascii: ",")) }
                write(member.key.utf8, into: &bytes)
                bytes.append(UInt8(ascii: ":"))
                try write(member.value, depth: depth + 1, into: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// A string, from its UTF-8.
    static func write(_ text: some Sequence<UInt8>, into bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x08: bytes += "\\b".utf8
            case 0x09: bytes += "\\t".utf8
            case 0x0A: bytes += "\\n".utf8
            case 0x0C: bytes += "\\f".utf8
            case 0x0D: bytes += "\\r".utf8
            case 0..<0x20: bytes += "\\u00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))".utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
