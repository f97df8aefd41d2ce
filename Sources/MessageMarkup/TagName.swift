/// A tag name as a number, for comparing and looking up names without strings.
struct TagName: Hashable {
    static let plaintext = TagName("plaintext")

    /// Six bits per character, at most ten characters; 0 for names that are not relevant.
    private let code: UInt64

    init(_ name: some Collection<UInt8>) {
        var code: UInt64 = 0
        if name.count <= 10 {
            for byte in name {
                guard let digit = Self.digit(byte.lowercased) else {
                    code = 0
                    break
                }
                code = code << 6 | digit
            }
        }
        self.code = code
    }

    init(_ name: String) {
        self.init(Array(name.utf8))
    }

    private static func digit(_ byte: UInt8) -> UInt64? {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt64(byte - UInt8(ascii: "a")) + 1
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0")) + 27
        case .dash: 37
        default: nil
        }
    }
}
