import CMD4C

/// Decodes character references such as `&amp;`, `&#60;` and `&#x3c;`, which MD4C detects but does not decode.
enum MarkdownEntity {
    /// - Parameter entity: The reference, from the ampersand to the semicolon.
    /// - Returns: The decoded text, or an unknown reference unchanged.
    static func text(_ entity: UnsafeRawBufferPointer) -> [UInt8] {
        if entity.count > 3, entity[1] == UInt8(ascii: "#") { return number(entity[2..<entity.count - 1]) }
        guard let found = entity_lookup(entity.baseAddress, entity.count) else { return Array(entity) }
        let (first, second) = found.pointee.codepoints
        return scalar(first) + (second == 0 ? [] : scalar(second))
    }

    private static func number(_ digits: Slice<UnsafeRawBufferPointer>) -> [UInt8] {
        let isHexadecimal = digits.first.map { $0 | 0x20 } == UInt8(ascii: "x")
        let text = String(decoding: isHexadecimal ? digits.dropFirst() : digits, as: UTF8.self)
        return scalar(UInt32(text, radix: isHexadecimal ? 16 : 10) ?? 0)
    }

    /// U+0000 and surrogates become U+FFFD, as CommonMark requires.
    private static func scalar(_ number: UInt32) -> [UInt8] {
        let scalar = Unicode.Scalar(number).flatMap { $0 == "\0" ? nil : $0 } ?? "\u{FFFD}"
        return Array(String(Character(scalar)).utf8)
    }
}
