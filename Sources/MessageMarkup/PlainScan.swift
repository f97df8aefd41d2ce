/// Detects in one pass texts without markup, which most messages are.
enum PlainScan {
    private static let isSuspect: [Bool] = {
        var table = [Bool](repeating: false, count: 256)
        for byte in "*_~`[]<>&\\|#@\0\t\r".utf8 { table[Int(byte)] = true }
        return table
    }()

    /// - Returns: `true` only if parsing the text as Markdown would yield the text itself.
    static func isPlain(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            guard let first = bytes.first, let last = bytes.last else { return false }
            guard !first.isSpace, !last.isSpace else { return false }
            var isLineStart = true
            for (index, byte) in bytes.enumerated() {
                if isSuspect[Int(byte)] { return false }
                if isLineStart, byte.isSpace || byte.isDigit || "+-=".utf8.contains(byte) { return false }
                if byte == UInt8(ascii: "\n"), bytes[index - 1].isSpace { return false }
                // The start of a URL: `scheme:…` or `www.`.
                if byte == UInt8(ascii: ":"), index + 1 < bytes.count, !bytes[index + 1].isSpace { return false }
                if byte == UInt8(ascii: "."), index > 0, bytes[index - 1] | 0x20 == UInt8(ascii: "w") { return false }
                isLineStart = byte == UInt8(ascii: "\n")
            }
            return true
        }
    }
}
