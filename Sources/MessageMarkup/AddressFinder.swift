import ChatCore

/// Finds addresses in text that nobody marked as links, by the rules of GitHub's extended autolinks.
enum AddressFinder {
    private static let prefixes = ["https://", "http://", "www.", "mailto:", "matrix:", "magnet:?"].map {
        Array($0.utf8)
    }

    /// The bytes that one of the prefixes begins with.
    private static let canStart = (0..<256).map { byte in
        prefixes.contains { $0[0] == UInt8(byte).lowercased }
    }

    /// The addresses in order, with their ranges in UTF-8 units. Costs the same for each byte.
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

    /// Up to white space or what never stands in an address, less the punctuation of the sentence around it.
    private static func extent(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int, prefix: Int) -> Range<Int> {
        var end = start + prefix
        var parentheses = 0
        while end < bytes.count, bytes[end] > 0x20, !"<>\"`".utf8.contains(bytes[end]) {
            // No-break space, the spaces of U+2000 and the ideographic space end an address too.
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
