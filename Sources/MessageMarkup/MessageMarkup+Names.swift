import ChatCore
public import Composer

extension MessageMarkup {
    /// Adds mention marks to a text of an earlier version or another client, in which members are mentioned by name
    /// after an `@`. Names in code are not marked, nor are names in a text that is not Markdown.
    public static func written(_ text: WrittenText, naming names: MentionNames) -> WrittenText {
        guard text.syntax == .markdown, text.marks.isEmpty else { return text }
        let found = names.mentions(in: text.source).prefix(maxNames)
        guard !found.isEmpty else { return text }
        let bytes = Array(text.source.utf8)
        func units(_ range: Range<Int>) -> Int { String(decoding: bytes[range], as: UTF8.self).utf16.count }
        let marks = found.compactMap { range, annotation -> WrittenText.Mark? in
            guard case .mention(let mention) = annotation else { return nil }
            // Mask the other names, so the result of parsing concerns this one.
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

    /// The maximum number of names, because each requires parsing the text.
    private static let maxNames = 100
}
