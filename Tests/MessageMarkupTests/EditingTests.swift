import ChatCore
import Composer
import MessageMarkup
import Testing

/// Received messages converted to editable text.
struct EditingTests {
    @Test(arguments: [
        ("a <b>b</b> <i>c</i> <del>d</del> <code>e</code>", "a **b** *c* ~~d~~ `e`"),
        ("<strong>a <em>b</em></strong>", "**a _b_**"), ("<em>a <strong>b</strong></em>", "*a **b***"),
        ("<p>a</p><p>b<br>c</p>", "a\n\nb\nc"), ("<h2>T</h2>x", "## T\n\nx"),
        ("<ul><li>a</li><li>b<ul><li>c</li></ul></li></ol>", "- a\n- b\n  - c"),
        ("<ol start=\"3\"><li>a</li><li><p>b</p><p>c</p></li></ol>", "3. a\n4. b\n\n   c"),
        ("<ul><li>☑ a</li><li>☐ b</li></ul>", "- [x] a\n- [ ] b"),
        ("<blockquote><p>a</p><p>b</p><blockquote>c</blockquote></blockquote>d", "> a\n>\n> b\n>\n> > c\n\nd"),
        (
            "<pre><code class=\"language-swift\">let a = \"```\"\n\nb</code></pre>",
            "````swift\nlet a = \"```\"\n\nb\n````"
        ),
        ("<ul><li>a<pre><code>b\n\nc</code></pre></li></ul>", "- a\n\n  ```\n  b\n\n  c\n  ```"),
        ("a<hr>b", "a\n\n---\n\nb"), ("<ul><li><hr></li></ul>", "- ___"),
        ("<a href=\"https://a.example/x_(y)\">t</a>", "[t](https://a.example/x_(y))"),
        ("<a href=\"https://a.example/)\">t</a>", "[t](https://a.example/\\))"),
        ("<a href=\"https://a.example/?a=1&amp;copy;=2\">t</a>", "[t](https://a.example/?a=1\\&copy;=2)"),
        ("<a href=\"https://a.example/\">https://a.example/</a>, b", "https://a.example/, b"),
        (
            "<table><tr><th>a</th><th>b|c</th></tr><tr><td>1</td><td><b>2</b></td></tr></table>",
            "| a | b\\|c |\n| --- | --- |\n| 1 | **2** |"
        ),
        ("<span data-mx-spoiler>a <b>b</b></span> c", "||a **b**|| c"),
        ("<ul><li>a</li></ul><ul><li>b</li></ul>", "- a\n\n* b"),
        ("*a* 2*3 &lt;b&gt; [x] # y", "\\*a\\* 2\\*3 \\<b> \\[x\\] \\# y"),
        ("2*3*4 a_b_c [1] #5 x&amp;y", "2*3*4 a_b_c [1] #5 x&y"),
        ("# a", "\\# a"), ("1. a", "1\\. a"), ("- a", "\\- a"), ("&gt; a", "\\> a"),
        ("<ul><li>[ ] a</li></ul>", "- \\[ \\] a"),
        ("<h1>a #</h1>", "# a \\#"), ("<b>a </b>b", "**a** b"), ("<code>a`b</code> <code>`</code>", "``a`b`` `` ` ``"),
        ("<mx-reply><blockquote>x</blockquote></mx-reply>a", "a"), ("<ul><li></li><li>b</li></ul>", "-\n- b"),
        ("<font color=\"#ff0000\">a</font>", "a"), ("<strike>a</strike>", "~~a~~"), ("", ""),
        ("||a|| \\", "\\|\\|a\\|\\| \\\\"), ("<ol><li>a<ol start=5><li>b</li></ol></li></ol>", "1. a\n\n   5. b"),
        ("a | b<br>- | -", "a \\| b\n\\- \\| -"), ("[a]: https://b.example", "\\[a\\]: https://b.example"),
    ])
    func htmlBecomesMarkdown(html: String, source: String) {
        let (text, losses) = MessageMarkup.written(html: html)
        #expect(text.source == source)
        #expect(losses == [])
        let sent = MessageMarkup.html(of: text).map { MessageMarkup.body(html: $0) }
        #expect(
            (sent ?? MessageMarkup.body(plain: MessageMarkup.plainText(of: text))).readsLike(
                MessageMarkup.body(html: html)))
    }

    /// Styles that Markdown cannot express, or not at this position, become marks on the text.
    @Test(arguments: [
        ("<u>a</u>b", "ab", [TextStyle.underline]), ("x<b>y</b>z", "xyz", [.bold]),
        ("<b>\"a\"</b>b", "\"a\"b", [.bold]),
        ("a<sup>2</sup>", "a2", [.rise(5)]), ("H<sub>2</sub>", "H2", [.rise(-5)]),
        ("<span data-mx-color=\"#ff0000\">a <b>b</b></span>", "a **b**", [.foreground("#ff0000")]),
        ("<span data-mx-spoiler=\"why\">a</span>", "a", [.spoiler(reason: "why")]),
        ("<code>a<br>b</code>", "a\nb", [.monospace]),
        ("<font color=\"#00ff00\">a</font>", "a", [.foreground("#00ff00")]),
    ])
    func htmlStylesBecomeMarks(html: String, source: String, styles: [TextStyle]) {
        let (text, losses) = MessageMarkup.written(html: html)
        #expect(text.source == source)
        #expect(
            text.marks.compactMap { mark -> TextStyle? in
                if case .style(let style) = mark.content { style } else { nil }
            } == styles)
        #expect(losses == [])
        #expect(MessageMarkup.body(of: text).readsLike(MessageMarkup.body(html: html)))
    }

    @Test(arguments: [
        (
            "hi <a href=\"https://matrix.to/#/@ann:a.example\">Ann *x*</a>!", "hi Ann *x*!",
            MentionTarget.member("@ann:a.example"), "Ann *x*"
        ),
        ("<b><a href=\"https://matrix.to/#/@ann:a.example\">Ann</a></b>", "**Ann**", .member("@ann:a.example"), "Ann"),
        (
            "<a href=\"https://matrix.to/#/%23r%3Aa.example?via=b.example\"><b>#</b>r</a>", "#r",
            .room("#r:a.example", via: ["b.example"]), "#r"
        ),
        ("<a href=\"matrix:u/ann:a.example\">- Ann</a>", "- Ann", .member("@ann:a.example"), "- Ann"),
        ("<code>@room</code> @room, @roomy", "`@room` @room, @roomy", .everyone, "@room"),
    ])
    func pillsBecomeMentions(html: String, source: String, target: MentionTarget, name: String) {
        let (text, losses) = MessageMarkup.written(html: html, mentionsEveryone: true)
        #expect(text.source == source)
        #expect(text.mentions.map(\.target) == [target])
        #expect(text.mentions.map(\.text) == [name])
        #expect(losses == [])
    }

    @Test(arguments: [
        ("<img data-mx-emoticon src=\"mxc://a/b\" alt=\":cat:\"> x", ":cat: x", MarkupLoss.image),
        ("<details><summary>S</summary>a</details>", "S\n\na", .details),
        ("<table><tr><td>a</td></tr></table>", "| a |\n| --- |", .table),
        ("<table><tr><th>a</th></tr><tr><td>b<br>c</td></tr></table>", "| a |\n| --- |\n| b c |", .table),
        ("a<br><br><br>b", "a\n\nb", .spacing),
        ("a<a href=\"https://matrix.to/#/@ann:a.example\">\u{301}n</a>", "a\u{301}n", .mention),
    ])
    func lossesAreReported(html: String, source: String, loss: MarkupLoss) {
        let (text, losses) = MessageMarkup.written(html: html)
        #expect(text.source == source)
        #expect(losses == [loss])
    }

    @Test(arguments: [
        ("*a* _b_", "\\*a\\* \\_b\\_"), ("a\nb", "a\nb"), ("2*3*4", "2*3*4"),
        ("# a\n- b\n1. c", "\\# a\n\\- b\n1\\. c"),
        ("see https://a.example/b_c_d", "see https://a.example/b_c_d"), ("\\*", "\\\\\\*"),
        ("`a` <b> &amp;", "\\`a\\` \\<b> \\&amp;"),
    ])
    func plainTextIsEscaped(plain: String, source: String) {
        let (text, losses) = MessageMarkup.written(plain: plain)
        #expect(text.source == source)
        #expect(losses == [])
        #expect(MessageMarkup.plainText(of: text) == plain)
    }

    @Test func lostWhiteSpaceIsReported() {
        #expect(MessageMarkup.written(plain: "a\n    b").losses == [.spacing])
        #expect(MessageMarkup.written(plain: "a\n\nb").losses == [])
    }
}
