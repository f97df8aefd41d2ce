import ChatCore
public import Composer

extension RandomMarkup {
    /// Returns the next text as a user may write it: Markdown with mentions, and styles over arbitrary ranges; `nil`
    /// when the bytes are used up.
    public mutating func nextWritten() -> WrittenText? {
        guard let first = source.next() else { return nil }
        var text = ""
        var length = 0
        var offsets = [0]
        var marks: [WrittenText.Mark] = []
        for _ in 0...Int(first % 16) {
            guard let byte = source.next() else { break }
            var fragment: String
            switch byte {
            case ..<56: fragment = Self.names[Int(byte) % Self.names.count]
            case ..<160: fragment = MarkupFragments.markdown[Int(byte) % MarkupFragments.markdown.count]
            default: fragment = MarkupFragments.words[Int(byte) % MarkupFragments.words.count]
            }
            // The composer's text contains neither NUL nor CR LF.
            fragment = fragment.replacing("\0", with: "").replacing("\r\n", with: "\n")
            let isMention = byte < 56 && marks.last?.range.end != length
            if isMention {
                let target = Self.targets[source.number(below: Self.targets.count)]
                let name = target == .everyone ? MentionTarget.everyoneID : fragment
                marks.append(
                    WrittenText.Mark(
                        .mention(target), over: TextRange(location: length, length: name.utf16.count)))
                fragment = name
            }
            text += fragment
            length += fragment.utf16.count
            offsets.append(length)
        }
        for _ in 0..<source.number(below: 5) {
            let ends = [offsets[source.number(below: offsets.count)], offsets[source.number(below: offsets.count)]]
                .sorted()
            guard ends[0] < ends[1] else { continue }
            let style = Self.styles[source.number(below: Self.styles.count)]
            marks.append(WrittenText.Mark(.style(style), over: TextRange(start: ends[0], end: ends[1])))
        }
        let syntax: WrittenText.Syntax = first >= 240 ? .plain : .markdown
        return WrittenText(text, syntax: syntax, marks: marks) ?? WrittenText(text, syntax: syntax)
    }

    private static var names: [String] {
        [
            "Ann", "@Ann Lee", "*star*", "**", "a_b_c", "[x](y)", "[", "<b>", "<!--", "&amp;", "`", "# T", "- a", "1.",
            "> q", "```", "~~x~~", "||", "|", "\\", "https://a.example", "👩‍👩‍👧‍👦", "نص", "日本", "-", "\u{E000}",
            "☑", "Zoë",
        ]
    }

    private static var targets: [MentionTarget] {
        [
            .member("@ann:a.example"), .member("@ann1:a.example"), .member("@lee:b.example:8448"),
            .room("#r:a.example"), .room("!r:a.example", via: ["a.example", "b.example"]),
            .room("!r", via: ["a.example"]),
            .everyone,
        ]
    }

    private static var styles: [TextStyle] {
        [
            .bold, .italic, .underline, .strikethrough, .monospace, .foreground("#ff0000"), .foreground("#00ff00"),
            .background("#0000ff"), .link("https://c.example/x_(y)"), .spoiler(), .spoiler(reason: "why"), .rise(3),
            .rise(-3), .scale(2), .named("mine"),
        ]
    }
}
