/// Texts that trigger quadratic behavior in parsers: deep nesting, unclosed delimiters, tables.
struct HostileMarkup {
    let name: String
    let isHTML: Bool
    /// Returns the text with approximately this many bytes.
    let text: @Sendable (Int) -> String

    static let all = markdown + html

    private init(_ name: String, isHTML: Bool = false, text: @escaping @Sendable (Int) -> String) {
        self.name = name
        self.isHTML = isHTML
        self.text = text
    }

    private static func repeated(_ pattern: String, _ bytes: Int) -> String {
        String(repeating: pattern, count: max(1, bytes / pattern.utf8.count))
    }

    private static let markdown =
        [
            "[", "![", "![[]()", "[a](b", "[a](<b", "![a](", "]", "[a]", "[a]: b\n", "[a]: b '", "*", "**a ", "*a **a ",
            "_a __a ", "*a_ ", "a**b c* ", "~~a ", "~a~~ ", "`", "``` ", "<", "<!--", "<a b=\"", "</", "&", "&#x1",
            "> ",
            "> a\n", "- ", "- [ ] a\n", "1. ", "*\n", "a\n\n", "x\n", "a|", "||", "|-|\nx\n", "a|b\n-|-\n", "\\",
            "@Ann ", "a <? ", "a <!A ", "a <![CDATA[",
            "https://a(", "www.", "www.a.example ", "# a\n", "a\n=\n", "\t", "\0", "[a](https://a.example) ",
        ].map { pattern in HostileMarkup(pattern.debugDescription) { repeated(pattern, $0) } } + [
            HostileMarkup("code by ever more marks") { bytes in
                var (text, length) = ("", 1)
                while text.utf8.count < bytes {
                    text += "e" + String(repeating: "`", count: length)
                    length += 1
                }
                return text
            },
            HostileMarkup("blank lines in deep lists") { repeated("- ", $0 / 2) + "x" + repeated("\n", $0 / 2) },
            HostileMarkup("a paragraph in deep quotes") { repeated(">", $0 / 2) + repeated("a\n", $0 / 2) },
            HostileMarkup("lists in lists, blank lines") { bytes in
                let depth = min(bytes / 40, 60)
                let items = (0..<depth).map { String(repeating: " ", count: 2 * $0) + "- a\n" }.joined()
                return items + repeated("\n", bytes - items.utf8.count)
            },
            HostileMarkup("a wide table of short rows") {
                "|" + repeated("a|", $0 / 4) + "\n|" + repeated("-|", $0 / 4) + "\n" + repeated("|a\n", $0 / 2)
            },
            HostileMarkup("tables of 120 columns and short rows") {
                repeated(
                    "|" + repeated("a|", 240) + "\n|" + repeated("-|", 240) + "\n" + repeated("|a\n", 600) + "\n", $0)
            },
            HostileMarkup("numbered lists in each other, blank lines") {
                repeated("1. ", $0 / 2) + repeated("\n", $0 / 2)
            },
            HostileMarkup("brackets on lines of their own") { repeated("[\n", $0 / 2) + repeated("]\n", $0 / 2) },
            HostileMarkup("a long address at many places") {
                "[a]: b " + repeated("x", $0 / 2) + "\n\n[b]: " + repeated("x", $0 / 4) + "\n\n"
                    + repeated("[b]", $0 / 4)
            },
            HostileMarkup("a long label of a link that is none") {
                "[a]: b\n\n" + repeated("[" + String(repeating: "b", count: 900) + "]", $0)
            },
            HostileMarkup("the heads of tables that are none") {
                repeated("a b c\n", $0 / 2) + repeated("|-|\n", $0 / 2)
            },
            HostileMarkup("brackets in brackets") { repeated("[", $0 / 2) + repeated("]", $0 / 2) },
            HostileMarkup("styles in styles") { repeated("*a **b ", $0 / 2) + repeated("b** a*", $0 / 2) },
            HostileMarkup("marks in deep quotes") { repeated(">", $0 / 2) + repeated("t_ ", $0 / 2) },
            HostileMarkup("links behind marks") { repeated("*t* ", $0 / 2) + repeated("[a](b) ", $0 / 2) },
            HostileMarkup("links behind marks left open") { repeated("*t ", $0 / 2) + repeated("[a](b) ", $0 / 2) },
            HostileMarkup("marks that cross those of other lengths") {
                repeated("**t ", $0 / 2) + repeated("a*a t** ", $0 / 2)
            },
            HostileMarkup("a table of many cells") {
                "|" + repeated("a|", 40) + "\n|" + repeated("-|", 40) + "\n"
                    + repeated(
                        "|a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p|q|r|s|t|a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p|q|r|s|t|\n", $0)
            },
        ]
        + [("*", "_"), ("**", "_"), ("_", "***"), ("***", "_"), ("~~", "*"), ("*", "~~")].map { open, other in
            HostileMarkup("\(other) that crosses \(open)") {
                repeated("\(open)t ", $0 * 2 / 5) + repeated("\(other)t\(open)\(other) ", $0 * 3 / 5)
            }
        }

    private static let html =
        [
            "<div>", "<b>", "</p>", "<div><b>", "<b><p>", "<p>", "<p><b><i>x</p>", "<a href=https://a.example>",
            "<a href=https://a.example>x</a>", "<table>", "<table><td>", "<table><tr><td>", "<td>x<tr>", "<table>x",
            "<ul><li>", "<li>", "<blockquote>", "<details><summary>", "<span data-mx-spoiler>",
            "<span data-mx-color=#ff0000>", "<img src=mxc://a/b>", "<pre>\n", "<pre><code>", "<br>", "<hr>", "<h1><h2>",
            "<script>", "<svg>", "<select><template>", "<mx-reply>", "<x>", "<!--", "<!-->", "<![CDATA[", "<?x", "<",
            "</", "<a b=\"", "<b a=\"1\" b=2 ", "&", "&amp;", "&#x3c;", "&#", "\0", "\r\n", "<b>x</b>", "x <i>y</i> ",
            "<p>x</p>", "<div></b></i></a>",
        ].map { pattern in HostileMarkup(pattern.debugDescription, isHTML: true) { repeated(pattern, $0) } } + [
            HostileMarkup("attributes without end", isHTML: true) { "<b " + repeated("a=b ", $0) },
            HostileMarkup("an address taken up again", isHTML: true) { bytes in
                let address = "https://a.example/" + String(repeating: "x", count: 4000)
                let pattern = repeated("<div>", 450) + "<a href=\(address)>x" + repeated("</div>y", 450) + "</a>"
                return repeated(pattern, bytes)
            },
            HostileMarkup("styles left open in blocks", isHTML: true) {
                repeated("<b><i><u><s><code><em><strong><p>x</p>", $0)
            },
        ]
}
