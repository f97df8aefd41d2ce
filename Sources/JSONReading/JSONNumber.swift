/// Parses numbers as specified by RFC 8259.
enum JSONNumber {
    /// Whether a byte may continue a number.
    @inline(__always)
    static func mayContain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }

    private static func isValid(_ text: RawSpan) -> Bool {
        var offset = 0
        func skipDigits() -> Int {
            let start = offset
            while offset < text.byteCount, isDigit(text.byte(at: offset)) { offset += 1 }
            return offset - start
        }
        if has(text, UInt8(ascii: "-"), at: offset) { offset += 1 }
        let hasZero = has(text, UInt8(ascii: "0"), at: offset)
        let whole = skipDigits()
        guard whole == 1 || whole > 1 && !hasZero else { return false }
        if has(text, UInt8(ascii: "."), at: offset) {
            offset += 1
            guard skipDigits() > 0 else { return false }
        }
        if has(text, UInt8(ascii: "e"), at: offset) || has(text, UInt8(ascii: "E"), at: offset) {
            offset += 1
            if has(text, UInt8(ascii: "+"), at: offset) || has(text, UInt8(ascii: "-"), at: offset) { offset += 1 }
            guard skipDigits() > 0 else { return false }
        }
        return offset == text.byteCount
    }

    /// Returns integers exactly and other numbers rounded to `Double`, infinite beyond its range.
    /// - Returns: `nil` if the text is not a number.
    static func value(of text: RawSpan) -> JSONValue? {
        guard isValid(text) else { return nil }
        if let whole = integer(text) { return .integer(whole) }
        let spelling = text.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        return .number(Double(spelling) ?? 0)
    }

    /// - Returns: `nil` if the number has a fraction or an exponent, or does not fit.
    private static func integer(_ text: RawSpan) -> Int64? {
        let isNegative = text.byte(at: 0) == UInt8(ascii: "-")
        var value: Int64 = 0
        for offset in (isNegative ? 1 : 0)..<text.byteCount {
            let byte = text.byte(at: offset)
            guard isDigit(byte) else { return nil }
            let (tenfold, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            let digit = Int64(byte - UInt8(ascii: "0"))
            let (sum, isStillTooLarge) =
                isNegative ? tenfold.subtractingReportingOverflow(digit) : tenfold.addingReportingOverflow(digit)
            if isTooLarge || isStillTooLarge { return nil }
            value = sum
        }
        return value
    }

    @inline(__always)
    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    @inline(__always)
    private static func has(_ text: RawSpan, _ byte: UInt8, at offset: Int) -> Bool {
        offset < text.byteCount && text.byte(at: offset) == byte
    }
}
