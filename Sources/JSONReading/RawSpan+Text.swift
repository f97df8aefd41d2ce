extension RawSpan {
    @inline(__always)
    func byte(at offset: Int) -> UInt8 { unsafeLoad(fromByteOffset: offset, as: UInt8.self) }

    /// Returns the position of the next quotation mark, backslash or control character, or the end.
    @inline(__always)
    package func endOfPlainText(from start: Int) -> Int {
        var offset = start
        // SWAR search over eight bytes: sets the high bit of each matching byte. Borrows may mark later bytes wrongly,
        // but never the first.
        while offset <= byteCount - 8 {
            let word = UInt64(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
            let quote = word ^ 0x2222_2222_2222_2222
            let slash = word ^ 0x5C5C_5C5C_5C5C_5C5C
            let ones: UInt64 = 0x0101_0101_0101_0101
            let found =
                (quote &- ones) & ~quote | (slash &- ones) & ~slash | (word &- 0x2020_2020_2020_2020) & ~word
            let highBits = found & 0x8080_8080_8080_8080
            if highBits != 0 {
                return offset + highBits.trailingZeroBitCount >> 3
            }
            offset += 8
        }
        while offset < byteCount {
            let byte = byte(at: offset)
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 { return offset }
            offset += 1
        }
        return offset
    }
}

extension String {
    /// Decodes UTF-8, with U+FFFD for invalid sequences.
    @inline(__always)
    init(repairing bytes: RawSpan) {
        self = bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// Decodes UTF-8, or returns `nil` for invalid sequences.
    init?(validating bytes: RawSpan) {
        guard let text = bytes.withUnsafeBytes({ String(validating: $0, as: UTF8.self) }) else { return nil }
        self = text
    }
}
