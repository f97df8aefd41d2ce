import ChatCore
import Composer
import MessageMarkup

/// What a message says where there is room for a line or two: without marks, spoilers covered.
nonisolated enum PlainPreview {
    /// The most characters that are read for a preview: a message may have a million.
    static let readCharacters = 2_000
    private static let spoilerDelimiter = "||"

    /// The first line of a body that says something, and whom it mentions, at most ``MessageItem/quotedCharacters`` of it; of a message
    /// without words what its first file shows, or else what that is called.
    static func quote(_ body: MessageBody, attachments: [MediaReference]) -> WrittenText {
        let lines = body.plainText(.covered).split(whereSeparator: \.isNewline)
        guard let line = lines.first(where: { !$0.allSatisfy(\.isWhitespace) }) else {
            return WrittenText(attachments.first.map { $0.altText ?? $0.name } ?? "", syntax: .plain)
        }
        let excerpt = line.prefix(MessageItem.quotedCharacters)
        let words = lines.count > 1 || excerpt.endIndex < line.endIndex ? excerpt + "…" : String(excerpt)
        return WrittenText(words, mentioning: Array(body.pills.prefix(MessageItem.quotedCharacters)), syntax: .plain)
    }

    /// A text on one line.
    ///
    /// - Parameters:
    ///   - syntax: how it is to be read: what another program sent as text alone is shown as it is.
    ///   - isCut: whether it may be only the beginning of what was said, so that a spoiler has no end in it.
    static func line(_ text: String, _ syntax: WrittenText.Syntax, isCut: Bool) -> String {
        let displayedText = syntax == .plain ? text : plain(isCut ? closed(text) : text)
        return displayedText.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// The part of a text around what was found in it.
    ///
    /// - Parameters:
    ///   - first: where that begins, in UTF-8 units.
    ///   - syntax: how the text is to be read.
    static func surroundings(of first: Int, in text: String, _ syntax: WrittenText.Syntax) -> String {
        if syntax == .plain { return text }
        guard text.utf8.count > readCharacters else { return plain(text) }
        let center = text.utf8.index(text.startIndex, offsetBy: first).samePosition(in: text) ?? text.startIndex
        let half = readCharacters / 2
        let start = text.index(center, offsetBy: -half, limitedBy: text.startIndex) ?? text.startIndex
        let end = text.index(center, offsetBy: half, limitedBy: text.endIndex) ?? text.endIndex
        // From a spoiler's inside, and into one.
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
