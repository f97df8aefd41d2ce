extension Unicode.Scalar {
    /// Tab or general category Zs: white space that doesn't end a line.
    var isInlineSpace: Bool {
        self == "\t" || properties.generalCategory == .spaceSeparator
    }

    /// LF, VT, FF, CR, NEL and the line and paragraph separators.
    var isLineBreak: Bool {
        switch value {
        case 0x0A...0x0D, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }

    /// White space or a line break. Sending trims these.
    var isBlank: Bool {
        if value < 0x80 { return value == 0x20 || (0x09...0x0D).contains(value) }
        return isInlineSpace || isLineBreak
    }

    /// A letter, number or combining mark, in any script.
    var isWordScalar: Bool {
        if isASCII { return ("a"..."z").contains(self) || ("A"..."Z").contains(self) || ("0"..."9").contains(self) }
        return switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber:
            true
        default: false
        }
    }
}

extension Character {
    var isInlineSpace: Bool { unicodeScalars.first!.isInlineSpace && unicodeScalars.count == 1 }
    var isLineBreak: Bool { unicodeScalars.first!.isLineBreak }
    var isBlank: Bool { unicodeScalars.allSatisfy(\.isBlank) }

    /// A letter or number, in any script.
    var isWordCharacter: Bool { isLetter || isNumber }
}

extension StringProtocol {
    /// The number of scalars that are neither white space nor line breaks.
    var nonBlankScalarCount: Int {
        unicodeScalars.reduce(0) { $1.isBlank ? $0 : $0 + 1 }
    }

    /// The number of line breaks; CR LF counts once.
    var lineBreakCount: Int {
        var count = 0
        var afterReturn = false
        for scalar in unicodeScalars {
            if scalar.isLineBreak, !(afterReturn && scalar == "\n") { count += 1 }
            afterReturn = scalar == "\r"
        }
        return count
    }
}

extension String {
    /// Returns the text without leading and trailing white space and line breaks.
    func trimmingBlanks() -> String {
        let scalars = unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.isBlank }),
            let last = scalars.lastIndex(where: { !$0.isBlank })
        else { return "" }
        return String(scalars[first...last])
    }

    /// Returns the text without NUL, which would end a C string and which `GtkTextBuffer` can't hold.
    func withoutNUL() -> String {
        guard utf8.contains(0) else { return self }
        return String(unicodeScalars.filter { $0.value != 0 }.map(Character.init))
    }
}
