import ChatCore
import Composer
import MessageMarkup

/// Plain-text previews of messages, without Markdown delimiters and with spoilers hidden.
nonisolated enum PlainPreview {
    /// The maximum number of characters parsed for a preview, since a message may have a million.
    static let readCharacters = 2_000
    private static let spoilerDelimiter = "||"

    /// Returns the first non-blank line of a body with its mentions, at most ``MessageItem/quotedCharacters``
    /// characters. For a message without text, returns the first attachment's alt text or file name.
    static func quote(_ body: MessageBody, attachments: [MediaReference]) -> WrittenText {
        let lines = body.plainText(.covered).split(whereSeparator: \.isNewline)
        guard let line = lines.first(where: { !$0.allSatisfy(\.isWhitespace) }) else {
            return WrittenText(attachments.first.map { $0.altText ?? $0.name } ?? "", syntax: .plain)
        }
        let excerpt = line.prefix(MessageItem.quotedCharacters)
        let words = lines.count > 1 || excerpt.endIndex < line.endIndex ? excerpt + "…" : String(excerpt)
        return WrittenText(words, mentioning: Array(body.pills.prefix(MessageItem.quotedCharacters)), syntax: .plain)
    }

    /// Returns a text on a single line.
    ///
    /// - Parameters:
    ///   - syntax: `.plain` leaves the text as it is.
    ///   - isCut: whether the text may be truncated, possibly within a spoiler.
    static func line(_ text: String, _ syntax: WrittenText.Syntax, isCut: Bool) -> String {
        let displayedText = syntax == .plain ? text : plain(isCut ? closed(text) : text)
        return displayedText.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Returns the part of a text around a search match.
    ///
    /// - Parameters:
    ///   - first: the offset of the match in UTF-8 code units.
    ///   - syntax: `.plain` leaves the text as it is.
    static func surroundings(of first: Int, in text: String, _ syntax: WrittenText.Syntax) -> String {
        if syntax == .plain { return text }
        guard text.utf8.count > readCharacters else { return plain(text) }
        let center = text.utf8.index(text.startIndex, offsetBy: first).samePosition(in: text) ?? text.startIndex
        let half = readCharacters / 2
        let start = text.index(center, offsetBy: -half, limitedBy: text.startIndex) ?? text.startIndex
        let end = text.index(center, offsetBy: half, limitedBy: text.endIndex) ?? text.endIndex
        // Both ends of the excerpt may be inside a spoiler.
        let opening = count(text[..<start]).isMultiple(of: 2) ? "" : spoilerDelimiter
        return plain(closed(opening + text[start..<end]))
    }

    private static func plain(_ text: String) -> String {
        MessageMarkup.plainBody(markdown: text) != nil
            ? text : MessageMarkup.body(markdown: text).plainText(.covered)
    }

    private static func closed(_ text: String) -> String {
        count(text[...]).isMultiple(of: 2) ? text : text + spoilerDelimiter
    }

    private static func count(_ text: Substring) -> Int {
        var count = 0
        var isHalf = false
        for byte in text.utf8 {
            guard byte == UInt8(ascii: "|") else {
                isHalf = false
                continue
            }
            if isHalf { count += 1 }
            isHalf.toggle()
        }
        return count
    }
}
