extension String {
    /// Returns the text with a backslash before each character that might be markup.
    func escaped(isLineStart: Bool) -> String {
        var result: [UInt8] = []
        var isStart = isLineStart
        var digits = 0
        for byte in utf8 {
            let isMarkup =
                switch byte {
                case UInt8(ascii: "\\"), UInt8(ascii: "`"), UInt8(ascii: "*"), UInt8(ascii: "_"), UInt8(ascii: "~"),
                    UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "<"), UInt8(ascii: "&"), UInt8(ascii: "|"),
                    UInt8(ascii: "#"), UInt8(ascii: "!"):
                    true
                case UInt8(ascii: ">"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "="), UInt8(ascii: ":"):
                    isStart
                case UInt8(ascii: "."), UInt8(ascii: ")"): digits > 0
                default: false
                }
            if isMarkup { result.append(UInt8(ascii: "\\")) }
            result.append(byte)
            if byte == 0x0A {
                (isStart, digits) = (true, 0)
            } else if byte.isDigit, isStart || digits > 0 {
                (isStart, digits) = (false, digits + 1)
            } else if byte != 0x20 {
                (isStart, digits) = (false, 0)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
