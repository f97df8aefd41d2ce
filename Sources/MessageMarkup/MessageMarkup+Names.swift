import ChatCore
public import Composer

extension MessageMarkup {
    /// A text of an earlier version or of another program, in which a member's name after an `@` means the member: with
    /// marks over those. Names in code are none, and in a text that is not Markdown none is looked for.
    public static func written(_ text: WrittenText, naming names: MentionNames) -> WrittenText {
        guard text.syntax == .markdown, text.marks.isEmpty else { return text }
        let found = names.mentions(in: text.source).prefix(maxNames)
        guard !found.isEmpty else { return text }
        let bytes = Array(text.source.utf8)
        func units(_ range: Range<Int>) -> Int { String(decoding: bytes[range], as: UTF8.self).utf16.count }
        let marks = found.compactMap { range, annotation -> WrittenText.Mark? in
            guard case .mention(let mention) = annotation else { return nil }
            // Alone among the names, so that it is seen what becomes of this one.
            var others = bytes
            for (other, _) in found where other != range { others[other.lowerBound] = UInt8(ascii: "a") }
            let body = body(markdown: String(decoding: others, as: UTF8.self), names: names)
            guard !body.mentions.isEmpty else { return nil }
            return WrittenText.Mark(
                .mention(mention),
                over: TextRange(location: units(0..<range.lowerBound), length: units(range)))
        }
        return WrittenText(text.source, marks: marks) ?? text
    }

    /// Each costs a reading of the text.
    private static let maxNames = 100
}
