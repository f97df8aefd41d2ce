/// A tag name as a number, for comparing and looking up names without strings.
struct TagName: Hashable {
    static let plaintext = TagName("plaintext")

    /// Six bits per character, at most ten characters; 0 for names that are not relevant.
    fileprivate let code: UInt64

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

/// Values by tag name. Each tag of a text is looked up, and a `Dictionary` takes as long for that as scanning the tag.
struct TagTable<Value: Sendable>: Sendable {
    private var slots: [(code: UInt64, value: Value)?]
    private let shift: Int

    init(_ values: [(name: TagName, value: Value)]) {
        // At most a quarter full, so that few lookups meet another name.
        let bits = (values.count * 4).bitWidth - (values.count * 4).leadingZeroBitCount
        slots = Array(repeating: nil, count: 1 << bits)
        shift = UInt64.bitWidth - bits
        for (name, value) in values {
            var slot = slot(of: name.code)
            while slots[slot] != nil { slot = (slot + 1) % slots.count }
            slots[slot] = (name.code, value)
        }
    }

    subscript(name: TagName) -> Value? {
        var slot = slot(of: name.code)
        while let found = slots[slot] {
            if found.code == name.code { return found.value }
            slot = (slot + 1) % slots.count
        }
        return nil
    }

    /// The highest bits of a product depend on all bits of the code.
    private func slot(of code: UInt64) -> Int { Int((code &* 0x9E37_79B9_7F4A_7C15) >> UInt64(shift)) }
}
