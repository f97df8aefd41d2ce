import Foundation

/// A text folded for comparison without case, diacritics and width: one unit for each remaining scalar.
struct FoldedScalars {
    private(set) var units: [UInt32] = []
    /// The UTF-8 offset of each unit, followed by the length of the text.
    private(set) var offsets: [Int] = []

    init(_ text: some StringProtocol) {
        units.reserveCapacity(text.utf8.count)
        offsets.reserveCapacity(text.utf8.count + 1)
        var offset = 0
        for scalar in text.unicodeScalars {
            let folded = Self.fold(scalar)
            if folded != 0 {
                units.append(folded)
                offsets.append(offset)
            }
            offset += UTF8.width(scalar)
        }
        offsets.append(offset)
    }

    /// Returns the index of the first occurrence at or after `start`, or `nil` if there is none.
    func firstIndex(of needle: [UInt32], from start: Int, atWordStart: Bool) -> Int? {
        guard let first = needle.first, units.count >= needle.count else { return nil }
        var index = start
        let last = units.count - needle.count
        search: while index <= last {
            defer { index += 1 }
            guard units[index] == first else { continue }
            for offset in 1..<max(needle.count, 1) where units[index + offset] != needle[offset] { continue search }
            if !atWordStart || startsWord(index) { return index }
        }
        return nil
    }

    private func startsWord(_ index: Int) -> Bool {
        index == 0 || !Self.isWord(units[index - 1])
    }

    static func isWord(_ unit: UInt32) -> Bool {
        if unit < 0x80 { return (0x30...0x39).contains(unit) || (0x61...0x7A).contains(unit) }
        guard let scalar = Unicode.Scalar(unit) else { return false }
        if scalar.properties.isAlphabetic { return true }
        return switch scalar.properties.generalCategory {
        case .decimalNumber, .letterNumber, .otherNumber, .spacingMark, .nonspacingMark: true
        default: false
        }
    }

    // MARK: Folding

    /// Returns 0 for ignorable characters, such as diacritics. Vowel signs of Indic scripts and the voicing marks of
    /// kana are significant and stay.
    static func fold(_ scalar: Unicode.Scalar) -> UInt32 {
        let value = scalar.value
        if value < 0x80 { return (0x41...0x5A).contains(value) ? value | 0x20 : value }
        if value < table.count { return table[Int(value)] }
        // Fullwidth forms of ASCII.
        if (0xFF01...0xFF5E).contains(value) {
            return Unicode.Scalar(value - 0xFEE0).map(fold) ?? value
        }
        // Variation selectors and the zero width joiner.
        if (0xFE00...0xFE0F).contains(value) || value == 0x200D { return 0 }
        return lowercase(scalar)
    }

    /// Returns the lower case. A final sigma is one like any other, as in the capitals that both have in common.
    private static func lowercase(_ scalar: Unicode.Scalar) -> UInt32 {
        let value = scalar.properties.lowercaseMapping.unicodeScalars.first?.value ?? scalar.value
        return value == 0x03C2 ? 0x03C3 : value
    }

    /// Folds scalars below U+2000: Latin, Greek, Cyrillic, Hebrew, Arabic, Indic and others.
    private static let table: [UInt32] = (0..<0x2000).map { value in
        guard let scalar = Unicode.Scalar(UInt32(value)) else { return 0 }
        let base = String(scalar).decomposedStringWithCanonicalMapping.unicodeScalars.first ?? scalar
        if ![0, 7, 8, 9].contains(base.properties.canonicalCombiningClass.rawValue) { return 0 }
        return lowercase(base)
    }
}
