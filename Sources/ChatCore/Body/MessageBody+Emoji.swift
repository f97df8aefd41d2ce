extension MessageBody {
    /// The most emoji that are drawn big when a message has nothing else.
    public static let maxBigEmoji = 3

    /// Whether the message is one to three emoji and nothing else, to be drawn big.
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
    /// Whether it is drawn as a coloured picture. Digits and signs that only become emoji with a variation selector
    /// are none without it (UTS #51).
    var isEmoji: Bool {
        guard let first = unicodeScalars.first, first.properties.isEmoji else { return false }
        if first.properties.isEmojiPresentation { return true }
        // Keycaps, flags, and text symbols with the selector for emoji.
        return unicodeScalars.dropFirst().contains { $0.value == 0xFE0F || $0.value == 0x20E3 }
    }
}
