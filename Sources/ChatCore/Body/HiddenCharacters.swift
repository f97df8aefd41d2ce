/// Invisible characters that change how text is displayed.
public enum HiddenCharacters {
    /// Bidirectional control characters, joiners, zero-width spaces, the soft hyphen, tags and fillers.
    public static func contains(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B...0x180F, 0x200B...0x200F, 0x202A...0x202E,
            0x2060...0x206F, 0x3164, 0xFEFF, 0xFFA0, 0xFFF9...0xFFFB, 0xE0000...0xE007F:
            true
        default: false
        }
    }

    /// Whether a character can reorder the following text up to the end of the paragraph (UAX #9). The implicit marks
    /// U+061C, U+200E and U+200F only act like a letter of their direction, and are common in Arabic and Hebrew.
    static func turns(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// Whether a text contains characters that reorder the following text.
    static func hasBidiControls(in text: String) -> Bool {
        text.utf8.contains { $0 >= 0x80 } && text.unicodeScalars.contains(where: turns)
    }

    /// Returns the text without characters that reorder the following text.
    static func withoutTurns(_ text: String) -> String {
        hasBidiControls(in: text) ? String(String.UnicodeScalarView(text.unicodeScalars.filter { !turns($0) })) : text
    }

    /// Whether a text contains hidden characters.
    static func occur(in text: String) -> Bool {
        // Fast path: ASCII has none.
        text.utf8.contains { $0 >= 0x80 } && text.unicodeScalars.contains(where: contains)
    }
}
