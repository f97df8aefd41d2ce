/// A color chosen by the sender.
public struct BodyColor: Hashable, Sendable {
    public var red: UInt8
    public var green: UInt8
    public var blue: UInt8

    public init(red: UInt8, green: UInt8, blue: UInt8) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// Parses `#rrggbb`, the only format that the Matrix specification allows.
    public init?(hexadecimal text: some StringProtocol) {
        let digits = text.utf8.dropFirst().compactMap { Self.digitValue($0) }
        guard text.utf8.first == UInt8(ascii: "#"), text.utf8.count == 7, digits.count == 6 else { return nil }
        self.init(
            red: digits[0] << 4 | digits[1], green: digits[2] << 4 | digits[3], blue: digits[4] << 4 | digits[5])
    }

    /// `#rrggbb`.
    public var hexadecimal: String {
        let digits = Array("0123456789abcdef")
        return [red, green, blue].reduce(into: "#") { text, component in
            text.append(digits[Int(component >> 4)])
            text.append(digits[Int(component & 15)])
        }
    }

    private static func digitValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
