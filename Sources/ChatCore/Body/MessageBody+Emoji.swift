extension MessageBody {
    /// The maximum number of emoji shown enlarged.
    public static let maxBigEmoji = 3

    /// Whether the message consists of up to ``maxBigEmoji`` emoji only, which are shown enlarged.
    public var isBigEmoji: Bool {
        guard !isEmote, let text = unstyledText, text.utf8.count <= 128 else { return false }
        var count = 0
        for character in text where !character.isWhitespace {
            guard character.isEmoji else { return false }
            count += 1
            if count > Self.maxBigEmoji { return false }
        }
        return count > 0
    }
}

extension Character {
    /// Whether the character has emoji presentation. Digits and symbols that need a variation selector for it do not
    /// count without one (UTS #51).
    var isEmoji: Bool {
        guard let first = unicodeScalars.first, first.properties.isEmoji else { return false }
        if first.properties.isEmojiPresentation { return true }
        // Keycaps, and text symbols followed by the emoji variation selector.
        return unicodeScalars.dropFirst().contains { $0.value == 0xFE0F || $0.value == 0x20E3 }
    }
}
