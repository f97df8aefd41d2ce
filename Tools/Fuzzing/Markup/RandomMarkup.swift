/// Generates HTML and Markdown from bytes, by combining likely and unlikely fragments in any order.
public struct RandomMarkup<Source: ByteSource> {
    var source: Source

    public init(_ source: Source) {
        self.source = source
    }

    /// Returns the next document, or `nil` when the bytes are used up.
    public mutating func next(isHTML: Bool) -> String? {
        guard let first = source.next() else { return nil }
        let fragments = isHTML ? MarkupFragments.html : MarkupFragments.markdown
        var text = ""
        for _ in 0...Int(first % 24) {
            guard let byte = source.next() else { break }
            if byte < 224 {
                text += fragments[Int(byte) % fragments.count]
            } else if byte < 250 {
                text += MarkupFragments.words[Int(byte) % MarkupFragments.words.count]
            } else {
                // An arbitrary scalar value.
                text.unicodeScalars.append(Unicode.Scalar(source.number(below: 0xD7FF)) ?? " ")
            }
        }
        return text
    }
}

enum MarkupFragments {
    static let words = [
        "a", " ", "  ", "\n", "\n\n", "x & y", "https://a.example/b_c", "www.a.example.", "👍🏽", "نص", "\u{202E}", "\0",
        "\r\n", "\t", "|", "||", "@Ann", "&lt;", "&#60;", "&#x3c;", "&#0;", "&#13;", "&nbsp;", "&quot;",
    ]

    static let html: [String] =
        [
            "p", "b", "i", "u", "s", "em", "strong", "del", "code", "pre", "sup", "sub", "div", "h1", "h6",
            "blockquote",
            "ul", "ol", "li", "table", "thead", "tbody", "tr", "td", "th", "caption", "details", "summary", "span", "a",
            "mx-reply", "script", "svg", "template", "button", "font", "select", "frameset", "body",
        ].flatMap { ["<\($0)>", "</\($0)>"] }
        + [
            "<br>", "<hr/>", "<img src=mxc://a/b alt='x \"y'>", "<img src=x onerror=alert(1)>", "<ol start=7>",
            "<ol start=-99999999999>", "<a href='https://a.example/?x=1&y=<'>", "<a href=javascript:alert(1)>",
            "<a href=\"https://matrix.to/#/@ann:a.example\">", "<a href='https://good.example@bad.example'>",
            "<span data-mx-color=#ff0000>", "<span data-mx-color='#FF0000;x'>", "<span data-mx-bg-color=\"#00ff00\">",
            "<span data-mx-spoiler>", "<span data-mx-spoiler=\"a &quot; b\">", "<code class='language-swift x'>",
            "<pre><code class=language-c++>", "<!--", "-->", "<!-->", "<!doctype html>", "<![CDATA[", "]]>", "<?x", "<",
            ">", "</", "<a", "<a b=\"", "\"", "'", "=", "/>", "<plaintext>", "<style>", "<math><mi>", "<b class=x>",
            "<table><b>", "<td><p>",
        ]

    static let markdown: [String] = [
        "*", "**", "_", "__", "~~", "`", "``", "```\n", "~~~ swift\n", "[", "](", ")", "](https://a.example)", "![",
        "<",
        ">", "> ", "- ", "* ", "1. ", "7) ", "- [ ] ", "- [x] ", "# ", "###### ", "---\n", "===\n", "|", "| - |",
        "|:-:|\n",
        "a | b\n", "    ", "\\", "&amp;", "<b>", "<div>\n", "<!-- ", "[a]: https://b.example\n", "[a]",
        "<https://c.example>",
        "||", "word", "\n", "\n\n", "@Ann Lee", "@", "mailto:a@b.example", "[^1]", "[^1]: x\n", "\t",
        "***", "*t ", "_t*_ ", "~~t ", "*t~~* ", "a*a", "<?", "<!A ", "<![CDATA[", "\\*", "~", "~a~ ", "|-|-|\n",
        "|a||b|\n", "\\|", "`\\|`", "<<", "]]>", "> ```\n", "  - ", "1. \n", "&ngE;", "&#x1F600;", "![[a]](b)",
        "\u{FEFF}",
    ]
}
