import Composer
import MessageMarkup
import Testing

/// HTML from other clients, converted to editable text.
struct ClientTests {
    @Test(arguments: [
        (
            // Element: a reply with a pill.
            "<mx-reply><blockquote><a href=\"https://matrix.to/#/!r:a.example/$e?via=a.example\">In reply to</a> "
                + "<a href=\"https://matrix.to/#/@bob:a.example\">@bob:a.example</a><br>old</blockquote></mx-reply>"
                + "<a href=\"https://matrix.to/#/@ann:a.example\">Ann Lee</a>: see <strong>this</strong>, <em>please</em> <code>a_b</code>",
            "Ann Lee: see **this**, *please* `a_b`", []
        ),
        (
            "<p>First</p>\n<ol>\n<li>one</li>\n<li>two\n<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n</li>\n</ol>\n<p>Last</p>\n",
            "First\n\n1. one\n2. two\n   - a\n   - b\n\nLast", []
        ),
        (
            "<pre><code class=\"language-python\">def f(x):\n    return x*2\n</code></pre>\n",
            "```python\ndef f(x):\n    return x*2\n```", []
        ),
        ("<ul>\n<li>[ ] todo</li>\n<li>[x] done</li>\n</ul>\n", "- \\[ \\] todo\n- \\[x\\] done", []),
        (
            "<h2>Notes</h2>\n<blockquote>\n<p>quoted <del>text</del></p>\n</blockquote>\n<p>a<br />\nb</p>\n",
            "## Notes\n\n> quoted ~~text~~\n\na\nb", []
        ),
        (
            "<p>Hello <a href=\"https://matrix.to/#/@x:a.example\">@x:a.example</a></p>"
                + "<p>multi<strong>bold</strong>word and <strong>bold</strong>, <em><strong>both</strong></em>.</p>",
            "Hello @x:a.example\n\nmultiboldword and **bold**, **_both_**.", []
        ),
        // Nheko, and the `/rainbow` command of older Element versions.
        ("<font color=\"#ff0000\">r</font><font color=\"#ffa500\">a</font>in", "rain", []),
        // Cinny.
        ("<span data-mx-spoiler=\"ending\">He <b>dies</b></span>", "He **dies**", []),
        (
            // FluffyChat.
            "hi <img data-mx-emoticon src=\"mxc://a.example/x\" alt=\":wave:\" title=\":wave:\" height=\"32\" "
                + "vertical-align=\"middle\" />", "hi :wave:", [MarkupLoss.image]
        ),
        ("<details><summary>Log</summary><pre><code>x\n</code></pre></details>", "Log\n\n```\nx\n```", [.details]),
        (
            "<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n"
                + "<td><code>x|y</code></td>\n</tr>\n</tbody>\n</table>\n",
            "| a | b |\n| --- | --- |\n| 1 | x\\|y |", []
        ),
        (
            "<a href=\"https://matrix.to/#/%23room%3Aa.example\">#room:a.example</a> and "
                + "<a href=\"https://a.example/?q=a*b\">link</a> https://a.example/x_y_z",
            "#room:a.example and [link](https://a.example/?q=a*b) https://a.example/x_y_z", []
        ),
    ])
    func otherClientsMessagesBecomeMarkdown(html: String, source: String, losses: [MarkupLoss]) {
        let (text, lost) = MessageMarkup.written(html: html)
        #expect(text.source == source)
        #expect(lost == losses)
        let sent = MessageMarkup.html(of: text).map { MessageMarkup.body(html: $0) }
        if losses.isEmpty { #expect(sent?.readsLike(MessageMarkup.body(html: html)) ?? false) }
    }
}
