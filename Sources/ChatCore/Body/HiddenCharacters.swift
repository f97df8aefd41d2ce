/// Characters that change how a text looks without being seen.
public enum HiddenCharacters {
    /// Bidi controls, joiners and spaces without width, the soft hyphen, tags, fillers.
    public static func contains(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B...0x180F, 0x200B...0x200F, 0x202A...0x202E,
            0x2060...0x206F, 0x3164, 0xFEFF, 0xFFA0, 0xFFF9...0xFFFB, 0xE0000...0xE007F:
            true
        default: false
        }
    }

    /// Whether what follows may be drawn in another order, up to the end of the paragraph. Marks (U+061C, U+200E,
    /// U+200F) are as harmless as a letter of their direction, and Arabic and Hebrew texts have them.
    static func turns(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// Whether a text has one that turns what follows.
    static func hasBidiControls(in text: String) -> Bool {
        text.utf8.contains { $0 >= 0x80 } && text.unicodeScalars.contains(where: turns)
    }

    /// A text without those that turn what follows.
    static func withoutTurns(_ text: String) -> String {
        hasBidiControls(in: text) ? String(String.UnicodeScalarView(text.unicodeScalars.filter { !turns($0) })) : text
    }

    /// Whether a text has one.
    static func occur(in text: String) -> Bool {
        // None is in ASCII.
        text.utf8.contains { $0 >= 0x80 } && text.unicodeScalars.contains(where: contains)
    }
}
