public import JSONReading

/// Canonical JSON, the form that is signed: no whitespace, members sorted by their bytes, integers only.
public enum CanonicalJSON {
    public enum Failure: Error, Hashable, Sendable {
        /// A number that is not an integer, or is outside ±(2^53 − 1), where other implementations lose precision.
        case number
        case tooDeep
    }

    /// Limits the recursion; genuine signed objects are far shallower.
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
        case .string(let text): write(text.utf8.span.bytes, into: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (offset, value) in values.enumerated() {
                if offset > 0 { bytes.append(UInt8(ascii: ",")) }
                try write(value, depth: depth + 1, into: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            // UTF-8 byte order is code point order, as canonical JSON requires; Swift compares strings differently.
            let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            for (offset, member) in sorted.enumerated() {
                if offset > 0 { bytes.append(UInt8(ascii: ",")) }
                write(member.key.utf8.span.bytes, into: &bytes)
                bytes.append(UInt8(ascii: ":"))
                try write(member.value, depth: depth + 1, into: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// Writes a string, given as UTF-8, with quotes and escapes.
    static func write(_ text: RawSpan, into bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        var offset = 0
        while offset < text.byteCount {
            let end = text.endOfPlainText(from: offset)
            text.extracting(offset..<end).withUnsafeBytes { bytes += $0 }
            if end < text.byteCount {
                writeEscape(of: text.unsafeLoad(fromByteOffset: end, as: UInt8.self), into: &bytes)
            }
            offset = end + 1
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func writeEscape(of byte: UInt8, into bytes: inout [UInt8]) {
        switch byte {
        case 0x08: bytes += "\\b".utf8
        case 0x09: bytes += "\\t".utf8
        case 0x0A: bytes += "\\n".utf8
        case 0x0C: bytes += "\\f".utf8
        case 0x0D: bytes += "\\r".utf8
        case 0..<0x20: bytes += "\\u00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))".utf8
        default: bytes += [UInt8(ascii: "\\"), byte]
        }
    }
}
