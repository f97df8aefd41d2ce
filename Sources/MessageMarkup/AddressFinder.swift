import ChatCore

/// Finds URLs in plain text by the rules of GitHub's extended autolinks.
enum AddressFinder {
    private static let prefixes = ["https://", "http://", "www.", "mailto:", "matrix:", "magnet:?"].map {
        Array($0.utf8)
    }

    /// For each byte, whether a prefix begins with it, ignoring case.
    private static let canStart = (0..<256).map { byte in
        prefixes.contains { $0[0] == UInt8(byte).lowercased }
    }

    /// Returns the links in order, with their ranges in UTF-8 code units, in linear time.
    static func links(in text: String) -> [(range: Range<Int>, mark: InlineAnnotator.Annotation)] {
        var text = text
        return text.withUTF8 { bytes in
            guard bytes.contains(UInt8(ascii: ":")) || bytes.contains(UInt8(ascii: ".")) else { return [] }
            var found: [(range: Range<Int>, mark: InlineAnnotator.Annotation)] = []
            var position = 0
            let canStart = canStart
            while position < bytes.count {
                guard canStart[Int(bytes[position])], isBoundary(bytes, position),
                    let prefix = prefixes.first(where: { matches($0, bytes, position) })
                else {
                    position += 1
                    continue
                }
                let range = extent(bytes, from: position, prefix: prefix.count)
                let address = String(decoding: bytes[range], as: UTF8.self)
                if range.count > prefix.count,
                    let target = LinkTarget(prefix[0] == UInt8(ascii: "w") ? "https://" + address : address)
                {
                    found.append((range, .link(target)))
                }
                position = range.upperBound
            }
            return found
        }
    }

    private static func isBoundary(_ bytes: UnsafeBufferPointer<UInt8>, _ position: Int) -> Bool {
        guard position > 0 else { return true }
        let before = bytes[position - 1]
        return !(before.isLetter || before.isDigit || before == UInt8(ascii: ".") || before == UInt8(ascii: "/"))
    }

    private static func matches(_ prefix: [UInt8], _ bytes: UnsafeBufferPointer<UInt8>, _ position: Int) -> Bool {
        guard position + prefix.count <= bytes.count else { return false }
        for offset in prefix.indices where bytes[position + offset].lowercased != prefix[offset] { return false }
        return true
    }

    /// Returns the range up to white space or a character that no URL contains, without trailing punctuation.
    private static func extent(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int, prefix: Int) -> Range<Int> {
        var end = start + prefix
        var parentheses = 0
        while end < bytes.count, bytes[end] > 0x20, !"<>\"`".utf8.contains(bytes[end]) {
            // No-break space, the spaces from U+2000 on and the ideographic space end a URL as well.
            if isWideSpace(bytes, end) { break }
            if bytes[end] == UInt8(ascii: "(") { parentheses += 1 }
            if bytes[end] == UInt8(ascii: ")") { parentheses -= 1 }
            end += 1
        }
        while end > start + prefix {
            let last = bytes[end - 1]
            if last == UInt8(ascii: ")") {
                guard parentheses < 0 else { break }
                parentheses += 1
            } else if !"?!.,:;*_~'|]}".utf8.contains(last) {
                break
            }
            end -= 1
        }
        return start..<end
    }

    private static func isWideSpace(_ bytes: UnsafeBufferPointer<UInt8>, _ position: Int) -> Bool {
        guard bytes[position] >= 0xC2, position + 1 < bytes.count else { return false }
        if bytes[position] == 0xC2 { return bytes[position + 1] == 0xA0 }
        guard position + 2 < bytes.count else { return false }
        if bytes[position] == 0xE2, bytes[position + 1] == 0x80 {
            return bytes[position + 2] <= 0x8A || bytes[position + 2] == 0xAF
        }
        return bytes[position] == 0xE3 && bytes[position + 1] == 0x80 && bytes[position + 2] == 0x80
    }
}
