/// Generates documents from bytes: valid JSON, and damaged JSON.
public struct RandomJSON<Source: ByteSource> {
    private var source: Source

    public init(_ source: Source) {
        self.source = source
    }

    /// Returns the next document, or `nil` when the bytes are used up.
    public mutating func next() -> [UInt8]? {
        guard let byte = source.next() else { return nil }
        var document: [UInt8] = byte & 15 == 0 ? [0xEF, 0xBB, 0xBF] : []
        document += value(depth: 0)
        // Damage every second document.
        if byte & 16 != 0 {
            for _ in 0...source.number(below: 3) { damage(&document) }
        }
        return document
    }

    private mutating func damage(_ document: inout [UInt8]) {
        let index = source.number(below: min(document.count, 65_535) + 1)
        switch source.number(below: 4) {
        case 0: document.removeSubrange(index...)
        case 1: document.insert(contentsOf: Array(fragment().utf8), at: index)
        case 2: if index < document.count { document.remove(at: index) }
        default: document.insert(source.next() ?? 0, at: index)
        }
    }

    private mutating func fragment() -> String {
        let fragments = [
            "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "\\ud83d", "\\u0000", "/", "-", ".", "e", "E+", "0",
            "1", "null", "tru", "NaN", "\n", "\r", "\t", " ", "//", "/**/", "'", "é", "\u{2028}", "\u{7F}", "\0",
        ]
        return fragments[source.number(below: fragments.count)]
    }

    private mutating func value(depth: Int) -> [UInt8] {
        let kind = source.number(below: depth > 6 ? 8 : 14)
        let space = Array(["", "", " ", "\n", "\r\n\t"][source.number(below: 5)].utf8)
        let text: [UInt8]
        switch kind {
        case 0: text = Array("null".utf8)
        case 1: text = Array("true".utf8)
        case 2: text = Array("false".utf8)
        case 3...5: text = number()
        case 6...7: text = self.text()
        case 8...10: text = list("[", "]") { $0.value(depth: depth + 1) }
        default:
            text = list("{", "}") {
                let key = $0.text()
                return key + Array(":".utf8) + $0.value(depth: depth + 1)
            }
        }
        return space + text + space
    }

    private mutating func list(_ start: String, _ end: String, _ member: (inout Self) -> [UInt8]) -> [UInt8] {
        var text = Array(start.utf8)
        for index in 0..<source.number(below: 5) {
            if index > 0 { text += Array(",".utf8) }
            text += member(&self)
        }
        return text + Array(end.utf8)
    }

    private mutating func number() -> [UInt8] {
        var text = source.number(below: 3) == 0 ? "-" : ""
        switch source.number(below: 6) {
        case 0: text += "0"
        case 1: text += ["9223372036854775807", "9223372036854775808", "18446744073709551616"][source.number(below: 3)]
        default: text += String(source.number(below: 9) + 1) + String(source.number(below: 65_536))
        }
        if source.number(below: 3) == 0 { text += ".\(source.number(below: 1000))" }
        if source.number(below: 4) == 0 {
            text += ["e", "E", "e+", "E-"][source.number(below: 4)] + String(source.number(below: 400))
        }
        return Array(text.utf8)
    }

    private mutating func text() -> [UInt8] {
        let fragments: [[UInt8]] =
            [
                "a", "key", "m.room.message", "é", "日本", "👍", "\u{7F}", "\u{2028}", "\\n", "\\\"", "\\\\", "\\/",
                "\\b\\f\\r\\t", "\\u0041", "\\u00e9", "\\ud83d\\ude00", "\\uD83D", "\\ude00", "\\u0000", "\\uFFFF",
            ].map { Array($0.utf8) } + [[0xFF], [0xC3], [0xE2, 0x82], [0x80], [0xED, 0xA0, 0x80], [0xC0, 0x80]]
        var text = Array("\"".utf8)
        for _ in 0..<source.number(below: 5) { text += fragments[source.number(below: fragments.count)] }
        return text + Array("\"".utf8)
    }
}
