import ChatCore
import Composer
import MessageMarkup
import Testing

/// A written text with its marks, and the HTML sent for it.
struct WrittenTextTests {
    private static let ann = MentionTarget.member("@ann:a.example")
    private static let pill = "<a href=\"https://matrix.to/#/@ann:a.example\">"

    /// Returns a text in which `‹…›` mentions Ann.
    private static func written(_ text: String, syntax: WrittenText.Syntax = .markdown) throws -> WrittenText {
        var source = ""
        var marks: [WrittenText.Mark] = []
        var start = 0
        for character in text {
            switch character {
            case "‹": start = source.utf16.count
            case "›":
                marks.append(
                    WrittenText.Mark(.mention(ann), over: TextRange(start: start, end: source.utf16.count)))
            default: source.append(character)
            }
        }
        return try #require(WrittenText(source, syntax: syntax, marks: marks))
    }

    /// Markup characters in a name are literal text, and the name is a single pill.
    @Test(arguments: [
        "Ann", "@Ann", "*star*", "**", "a_b_c", "_x", "[x](y)", "[", "![a](b)", "<b>", "<!--", "&amp;", "`", "# T",
        "- a", "1. a", "> q", "```", "~~x~~", "||", "||s||", "|", "\\", "\\*", "https://a.example", "www.a.example",
        "👩‍👩‍👧‍👦", "🇸🇪", "نص", "\u{202E}x", "Ann Lee", "--", "===", "\u{E000}", "\u{E000}a\u{E000}", "&#x2a;",
    ])
    func mentionTextIsNeverMarkup(name: String) throws {
        let body = MessageMarkup.body(of: try Self.written("a ‹\(name)› **b**"))
        guard case .text(let text)? = body.blocks.first, body.blocks.count == 1 else {
            return #expect(Bool(false), "\(body)")
        }
        #expect(text.runs.map(\.text) == ["a ", name, " ", "b"])
        #expect(text.runs.map(\.mention) == [nil, Self.ann, nil, nil])
        #expect(text.runs[1].style == [])
        #expect(text.runs[3].style == .bold)
    }

    @Test(arguments: [
        ("**‹*a*›**", "P({b,M:*a*})"), ("*‹Ann›*, hi", "P({i,M:Ann}, hi)"), ("_‹Ann›_", "P({i,M:Ann})"),
        ("**hi ‹Ann›!**", "P({b:hi }{b,M:Ann}{b:!})"), ("~~‹-›~~", "P({s,M:-})"), ("||‹Ann›||", "P({M,spoiler:Ann})"),
        ("- ‹Ann›\n- ‹1. x›", "UL(P({M:Ann}); P({M:1. x}))"), ("> ‹> q›", "QUOTE(P({M:> q}))"),
        ("# ‹# x›", "H1(P({M:# x}))"), ("‹# x›", "P({M:# x})"), ("‹- x›\n‹- y›", "P({M:- x}⏎{M:- y})"),
        ("| ‹a|b› |\n|-|\n| x ‹c› |", "TABLE(#{M:a|b}; x {M:c})"), ("`‹Ann›`", "P({c,M:Ann})"),
        ("```\n‹*Ann*› x\n```", "CODE -(*Ann* x)"),
        ("[‹Ann› x](https://b.example)", "P({M:Ann}{→https://b.example: x})"),
        ("‹Ann›‹Ann›", "P({M:AnnAnn})"), ("x‹Ann›y", "P(x{M:Ann}y)"), ("1‹.› a", "P(1{M:.} a)"),
        ("<‹b›>", "P(<{M:b}>)"), ("&‹amp›;", "P(&{M:amp};)"),
        ("[‹a›]: https://b.example", "P([{M:a}]: {→https://b.example:https://b.example})"),
        ("[x](https://b.example/‹Ann›)", "P({→https://b.example/Ann:x})"),
    ])
    func mentionsCanBeAmongMarkup(text: String, expected: String) throws {
        let sketch = sketch(MessageMarkup.body(of: try Self.written(text)))
            .replacing("→https://matrix.to/#/@ann:a.example,member @ann:a.example", with: "M")
        let expectedSketch = expected.hasPrefix("H1(P(") ? "H1(" + expected.dropFirst(5).dropLast() : expected
        #expect(sketch == expectedSketch)
    }

    @Test func typedNameIsNotAMention() {
        let body = MessageMarkup.body(of: WrittenText("hi @Ann and @room, @ann:a.example"))
        #expect(body.mentions.isEmpty)
        #expect(MessageMarkup.html(of: WrittenText("hi @Ann")) == nil)
    }

    @Test func manyMentionsAreParsed() throws {
        let text = String(repeating: "‹*a*› x, ", count: 5_000)
        let body = MessageMarkup.body(of: try Self.written(text))
        guard case .text(let inline)? = body.blocks.first else { return #expect(Bool(false)) }
        #expect(inline.runs.count { $0.mention != nil && $0.text == "*a*" } == 5_000)
    }

    @Test func eachMentionHasItsOwnTarget() throws {
        let marks = (0..<300).map {
            WrittenText.Mark(.mention(.member("@u\($0):a.example")), over: TextRange(location: 2 * $0, length: 1))
        }
        let text = try #require(WrittenText(String(repeating: "a ", count: 300), marks: marks))
        #expect(MessageMarkup.body(of: text).mentions == marks.compactMap(\.mention))
    }

    @Test func plainTextIsNotParsed() throws {
        let text = try Self.written("*a* ‹*b*›\n# c", syntax: .plain)
        #expect(
            MessageMarkup.html(of: text) == "*a* \(Self.pill)*b*</a><br># c")
        #expect(MessageMarkup.plainText(of: text) == "*a* *b*\n# c")
        #expect(MessageMarkup.html(of: WrittenText("**a** `b`", syntax: .plain)) == nil)
        #expect(MessageMarkup.plainText(of: WrittenText("\\*a", syntax: .plain)) == "\\*a")
    }

    @Test(
        arguments: [
            (MentionTarget.room("#r:a.example"), "<a href=\"https://matrix.to/#/%23r:a.example\">x</a>"),
            (
                .room("!r:a.example", via: ["a.example", "b.example:8448"]),
                "<a href=\"https://matrix.to/#/!r:a.example?via=a.example&amp;via=b.example:8448\">x</a>"
            ),
            (.room("!newid", via: ["a.example"]), "<a href=\"https://matrix.to/#/!newid?via=a.example\">x</a>"),
            (.member("@ann:a.example"), "<a href=\"https://matrix.to/#/@ann:a.example\">x</a>"),
            (.everyone, nil), (.custom("thing"), nil), (.member("ann"), nil),
        ] as [(MentionTarget, String?)])
    func mentionTargetsBecomeLinks(target: MentionTarget, html: String?) throws {
        let mark = WrittenText.Mark(.mention(target), over: TextRange(location: 0, length: 1))
        let text = try #require(WrittenText("x", marks: [mark]))
        #expect(MessageMarkup.html(of: text) == html)
        #expect(MessageMarkup.body(of: text).mentions == [target])
        if let html { #expect(MessageMarkup.written(html: html).text == text) }
    }

    @Test(
        arguments: [
            (TextStyle.underline, "a <u>b c</u> d"), (.bold, "a <strong>b c</strong> d"),
            (.strikethrough, "a <del>b c</del> d"), (.monospace, "a <code>b c</code> d"), (.italic, "a <em>b c</em> d"),
            (.foreground("#FF0000"), "a <span data-mx-color=\"#ff0000\">b c</span> d"),
            (.background("#00ff00"), "a <span data-mx-bg-color=\"#00ff00\">b c</span> d"),
            (.link("https://b.example"), "a <a href=\"https://b.example\">b c</a> d"),
            (.spoiler(), "a <span data-mx-spoiler=\"\">b c</span> d"),
            (.spoiler(reason: "it \"ends\""), "a <span data-mx-spoiler=\"it &quot;ends&quot;\">b c</span> d"),
            (.rise(4), "a <sup>b c</sup> d"), (.rise(-4), "a <sub>b c</sub> d"),
            (.scale(2), nil), (.family("Serif"), nil), (.link("javascript:x"), nil), (.foreground("red"), nil),
            (.named("mine"), nil), (.named("spoilers"), nil),
        ] as [(TextStyle, String?)])
    func stylesBecomeHTML(style: TextStyle, html: String?) throws {
        for syntax in [WrittenText.Syntax.markdown, .plain] {
            let mark = WrittenText.Mark(.style(style), over: TextRange(location: 2, length: 3))
            let text = try #require(WrittenText("a b c d", syntax: syntax, marks: [mark]))
            #expect(MessageMarkup.html(of: text) == html)
            #expect(MessageMarkup.plainText(of: text) == "a b c d")
        }
    }

    /// Styles may overlap markup, mentions, block boundaries, and each other.
    @Test func stylesCanOverlapAnything() throws {
        let source = "x **yz** Ann\n\n- item\n\n`code` end"
        let underline = WrittenText.Mark(.style(.underline), over: TextRange(location: 5, length: 20))
        let red = WrittenText.Mark(.style(.foreground("#ff0000")), over: TextRange(location: 0, length: 5))
        let blue = WrittenText.Mark(.style(.foreground("#0000ff")), over: TextRange(location: 4, length: 8))
        let ann = WrittenText.Mark(.mention(Self.ann), over: TextRange(location: 9, length: 3))
        let text = try #require(WrittenText(source, marks: [underline, red, blue, ann]))
        #expect(
            sketch(MessageMarkup.body(of: text)).replacing(
                "→https://matrix.to/#/@ann:a.example,member @ann:a.example", with: "M")
                == "P({fg#ff0000:x }{b,fg#0000ff:y}{b,u,fg#0000ff:z}{u,fg#0000ff: }{u,M,fg#0000ff:Ann}) UL(P({u:item})) P({u,c:co}{c:de} end)"
        )
    }

    @Test func manyStylesAreRendered() throws {
        let source = String(repeating: "a *b* ", count: 10_000)
        let marks = (0..<10_000).map {
            WrittenText.Mark(
                .style($0.isMultiple(of: 2) ? .underline : .foreground("#ff0000")),
                over: TextRange(start: $0, end: 60_000 - $0))
        }
        let text = try #require(WrittenText(source, marks: marks))
        #expect(MessageMarkup.html(of: text)?.contains("<u>") == true)
    }

    /// A backslash escape is resolved in the HTML, or else in the plain text.
    @Test(
        arguments: [
            ("\\*tide\\*", nil, "*tide*"), ("\\*tide\\* **in**", "*tide* <strong>in</strong>", "\\*tide\\* **in**"),
            ("a\\\nb", nil, "a\nb"), ("a  \nb", nil, "a\nb"), ("&lt;b&gt;", nil, "<b>"),
            ("\\|\\|a\\|\\|", nil, "||a||"),
            ("&#124;&#124;a||", nil, "||a||"),
            ("||a\\|| b||", "<span data-mx-spoiler=\"\">a|| b</span>", "||a\\|| b||"),
            ("2*3*4", nil, "2*3*4"), ("2**3**4 a*b*c", nil, "2**3**4 a*b*c"), ("\\# a", nil, "# a"),
            ("1\\. a", nil, "1. a"),
            ("**Haupt**bahnhof", "<strong>Haupt</strong>bahnhof", "**Haupt**bahnhof"),
            ("中文**重要**中文", "中文<strong>重要</strong>中文", "中文**重要**中文"), ("hi", nil, "hi"), ("", nil, ""),
            ("**", nil, "**"),
            (">>", nil, ">>"), ("\\\\|x|", nil, "\\|x|"),
        ] as [(String, String?, String)])
    func rendersHTMLAndPlainText(source: String, html: String?, plain: String) {
        let text = WrittenText(source)
        #expect(MessageMarkup.html(of: text) == html)
        #expect(MessageMarkup.plainText(of: text) == plain)
    }

    @Test func filePlaceholdersAreRemoved() throws {
        let mark = WrittenText.Mark(.file("file:///a"), over: TextRange(location: 2, length: 1))
        let text = try #require(WrittenText("a \u{FFFC}**b**", marks: [mark]))
        #expect(MessageMarkup.plainText(of: text) == "a **b**")
        #expect(sketch(MessageMarkup.body(of: text)) == "P(a {b:b})")
    }

    /// ⚠ A body of white space alone was sent and rendered as an empty message.
    @Test(arguments: ["&nbsp;", "&nbsp;\n\n\t", "# &#32;", "> &nbsp;", "&#9;\n> # &nbsp;"])
    func invisibleMarkdownIsShownAsPlainText(source: String) {
        let bold = WrittenText.Mark(.style(.bold), over: TextRange(location: 0, length: source.utf16.count))
        for text in [WrittenText(source), WrittenText(source, marks: [bold])!] {
            let shown = MessageMarkup.body(of: text).plainText()
            #expect(shown.filter { !$0.isWhitespace } == source.filter { !$0.isWhitespace })
            #expect(MessageMarkup.plainText(of: text) == source)
        }
        #expect(MessageMarkup.html(of: WrittenText(source)) == nil)
    }
}
