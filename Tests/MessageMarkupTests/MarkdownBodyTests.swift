import ChatCore
import Composer
import MessageMarkup
import Testing

/// Markdown as typed, and the parsed body.
struct MarkdownBodyTests {
    @Test(arguments: [
        ("Hello", "P(Hello)"),
        ("one\ntwo", "P(one⏎two)"),
        ("one\n\ntwo", "P(one) P(two)"),
        ("*a* **b** ***c*** ~~d~~ `e`", "P({i:a} {b:b} {b,i:c} {s:d} {c:e})"),
        ("snake_case_name and 2 * 3 * 4", "P(snake_case_name and 2 * 3 * 4)"),
        ("# Title\ntext", "H1(Title) P(text)"),
        ("```swift\nlet a = \"<b>\"\n\n  b\n```", "CODE swift(let a = \"<b>\"⏎⏎  b)"),
        ("```\nx\n```", "CODE -(x)"),
        ("> a\n> > b\n\nc", "QUOTE(P(a) QUOTE(P(b))) P(c)"),
        ("- a\n- b\n  - c", "UL(P(a); P(b) UL(P(c)))"),
        ("7. a\n8. b", "OL7(P(a); P(b))"),
        ("- [x] done\n- [ ] not", "UL(x:P(done); o:P(not))"),
        ("| a | b |\n|:-:|--:|\n| 1 | **2** |", "TABLE(#^a | #>b; ^1 | >{b:2})"),
        ("a\n\n---\n\nb", "P(a) RULE P(b)"),
        ("||secret **bold**|| shown", "P({spoiler:secret }{b,spoiler:bold} shown)"),
        ("a || b", "P(a || b)"),
        ("`||a||`", "P({c:||a||})"),
        ("[text](https://a.example/x)", "P({→https://a.example/x:text})"),
        ("[text](javascript:alert(1))", "P(text)"),
        (
            "see https://a.example/b_c_d, or www.b.example.",
            "P(see {→https://a.example/b_c_d:https://a.example/b_c_d}, or {→https://www.b.example:www.b.example}.)"
        ),
        ("(https://a.example/x_(y))", "P(({→https://a.example/x_(y):https://a.example/x_(y)}))"),
        ("`https://a.example`", "P({c:https://a.example})"),
        ("xhttps://a.example", "P(xhttps://a.example)"),
        ("<b>no</b> & &lt;", "P(<b>no</b> & <)"),
        ("<script>\nalert(1)\n</script>", "P(<script>⏎alert(1)⏎</script>)"),
        ("![a cat](https://a.example/cat.png)", "P({→https://a.example/cat.png:a cat})"),
        ("hi @Ann Lee and @Ann, not @Annabel", "P(hi {member lee:@Ann Lee} and {member ann:@Ann}, not @Annabel)"),
        (
            "[Ann](https://matrix.to/#/@ann:a.example)",
            "P({→https://matrix.to/#/@ann:a.example,member @ann:a.example:Ann})"
        ),
        ("", ""),
        ("    code", "CODE -(code)"),
        ("a\0b", "P(a\u{FFFD}b)"),
    ])
    func parsesMarkdown(text: String, expected: String) {
        let names = MentionNames([
            Member(id: MemberID("ann"), displayName: "Ann", kind: .person),
            Member(id: MemberID("lee"), displayName: "Ann Lee", kind: .person),
        ])
        #expect(sketch(MessageMarkup.body(markdown: text, names: names)) == expected)
    }

    @Test(arguments: [
        ("Hello there", nil),
        ("one\ntwo", nil),
        ("*a* & b", "<em>a</em> &amp; b"),
        ("a\n\n**b**\nc", "<p>a</p><p><strong>b</strong><br>c</p>"),
        ("```swift\na < b\n```", "<pre><code class=\"language-swift\">a &lt; b</code></pre>"),
        ("3. x\n\n   y", "<ol start=\"3\"><li><p>x</p><p>y</p></li></ol>"),
        ("||x||", "<span data-mx-spoiler=\"\">x</span>"),
        ("- [x] a", "<ul><li>☑ a</li></ul>"),
    ])
    func rendersHTMLForSending(text: String, expected: String?) {
        #expect(MessageMarkup.html(of: WrittenText(text)) == expected)
    }

    @Test func plainTextKeepsStructureAndHidesSpoilers() {
        let body = MessageMarkup.body(
            markdown: "# T\n> q\n> r\n\n1. a\n   - b\n\n```\nx\ny\n```\n||s|| end\n\na | b\n-|-\n1 | 2")
        #expect(body.plainText() == "T\n> q\n> r\n1. a\n   • b\nx\ny\ns end\na\tb\n1\t2")
        #expect(body.plainText(.covered).contains("▒▒▒▒▒ end"))
        #expect(!body.plainText(.covered).contains("s end"))
    }

    @Test func emotesAreMarked() {
        #expect(sketch(MessageMarkup.body(markdown: "waves *hard*", isEmote: true)) == "EMOTE P(waves {i:hard})")
        #expect(sketch(MessageMarkup.body(html: "waves", isEmote: true)) == "EMOTE P(waves)")
        #expect(!MessageMarkup.body(markdown: "👍", isEmote: true).isBigEmoji)
    }

    @Test(arguments: ["👍", "👍🏽 ❤️", "🇸🇪👨‍👩‍👧‍👦1️⃣"])
    func upToThreeEmojiAreEnlarged(text: String) {
        #expect(MessageMarkup.body(markdown: text).isBigEmoji)
    }

    @Test(arguments: ["", "1", "👍 a", "👍👍👍👍", "©", "❤", "**👍**"])
    func otherTextIsNotEnlarged(text: String) {
        #expect(!MessageMarkup.body(markdown: text).isBigEmoji)
    }

    /// Quadratic blowup: deeply nested inline markup, a definition referenced everywhere, and more.
    @Test(arguments: [
        "> ", "*a **a ", "[", "![", "- ", "`", "~~a ", "||", "@Ann ", "https://a.example/ ", "(", "<b>", "a|",
    ])
    func longRepetitionsAreParsed(fragment: String) {
        let body = MessageMarkup.body(markdown: String(repeating: fragment, count: 10_000))
        #expect(!body.blocks.isEmpty)
    }

    /// Input that would take too long to parse, or would expand too much, is shown as plain text.
    @Test(arguments: [
        String(repeating: "- ", count: 25_000) + "x" + String(repeating: "\n", count: 50_000),
        String(repeating: "1. ", count: 300) + "x",
        String(repeating: ">", count: 50_000) + "a\n" + String(repeating: "a\n", count: 25_000),
        "|" + String(repeating: "a|", count: 100) + "\n|" + String(repeating: "-|", count: 100) + "\n"
            + String(repeating: "|a\n", count: 16_000),
    ])
    func pathologicalMarkdownIsPlainText(text: String) {
        let isText = MessageMarkup.body(markdown: text) == MessageMarkup.body(plain: text)
        #expect(isText)
    }

    /// cmark-gfm took minutes for these.
    @Test(arguments: [
        (String(repeating: "![[]()", count: 20_000), 1), (String(repeating: "[", count: 100_000), 1),
        (String(repeating: "*t ", count: 20_000) + String(repeating: "_t*_ ", count: 20_000), 1),
        (String(repeating: "a <? ", count: 20_000), 1), (String(repeating: "[a\n", count: 20_000) + "]", 1),
        (String(repeating: "a b c\n", count: 8000) + String(repeating: "|-|\n", count: 12_500), 2),
    ])
    func unclosedMarkupIsParsed(text: String, blocks: Int) {
        #expect(MessageMarkup.body(markdown: text).blocks.count == blocks)
    }

    /// Rows of a wide table may omit cells, and lists may be nested beyond the displayed depth.
    @Test func unusualMarkdownIsParsed() {
        let table = "|" + String(repeating: "a|", count: 30) + "\n|" + String(repeating: "-|", count: 30) + "\n"
        let body = MessageMarkup.body(markdown: table + String(repeating: "|a\n", count: 300))
        guard case .table(let rows)? = body.blocks.first else { return #expect(Bool(false), "no table") }
        #expect(rows.rows.count == 301)
        #expect(rows.rows.allSatisfy { $0.count == 30 })
        let list = (0..<90).map { String(repeating: "  ", count: $0) + "- a\n" }.joined()
        #expect(MessageMarkup.body(markdown: list) != MessageMarkup.body(plain: list))
    }

    /// Long texts as people write them do not hit the limits, whatever markup they use.
    @Test func longTextsAreParsed() {
        let fragment = """
            ## A *title*

            1. first
               - [x] done, [a link](https://a.example/x_y) and ![a cat](https://a.example/cat.png)
                 > quoted **twice**

            | a | b | c |
            |---|---|---|
            | 1 | 2 | 3 |
            | 4 |

            ```swift
            let a = [[1], [2]]
            ```\n\n
            """
        let body = MessageMarkup.body(markdown: String(repeating: fragment, count: 500))
        #expect(body.blocks.count == 4 * 500)
        #expect(body.blocks.starts(with: MessageMarkup.body(markdown: fragment).blocks))
    }

    @Test func linkDefinitionRepetitionIsBounded() {
        let address = "https://a.example/" + String(repeating: "x", count: 8000)
        let text = "[a]: \(address)\n\n" + String(repeating: "[a] b ", count: 10_000)
        let html = MessageMarkup.html(of: WrittenText(text)) ?? ""
        #expect(html.utf8.count < 4 * text.utf8.count + 100_000)
        #expect(html.contains("href"))
    }
}
