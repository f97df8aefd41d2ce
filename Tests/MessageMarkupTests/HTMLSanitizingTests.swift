import ChatCore
import Fuzzing
import MessageMarkup
import Testing

/// XSS vectors, each in several contexts. The output contains only allowed markup, and sanitizing is idempotent.
struct HTMLSanitizingTests {
    @Test(arguments: AttackVectors.all)
    func attackVectorsYieldSafeHTML(html: String) {
        let body = MessageMarkup.body(html: html)
        #expect(MarkupInvariants.violation(of: body) == nil)
        let out = MessageMarkup.html(of: body)
        #expect(SafeHTML.violation(of: out) == nil, "\(out)")
        #expect(MessageMarkup.sanitized(html: out) == out)
    }

    @Test func thereAreThreeHundredVectors() {
        #expect(Set(AttackVectors.all).count >= 300)
    }
}

enum AttackVectors {
    static let all: [String] =
        schemes.flatMap { address in
            [
                "<a href=\"\(address)\">x</a>", "<a href='\(address)'>x</a>", "<img src=\"\(address)\">",
                "<div><a/href=\(address)>x</a></div>",
            ]
        }
        + elements.flatMap { ["<\($0)>alert(1)</\($0)>", "<b><\($0) src=x href=x onload=alert(1)>"] }
        + handlers.flatMap { ["<b \($0)=alert(1)>x</b>", "<img src=mxc://a/b \($0)='alert(1)'>"] }
        + styles.map { "<span \($0)>x</span>" } + mutations + broken

    private static let schemes = [
        "javascript:alert(1)", "JaVaScRiPt:alert(1)", " javascript:alert(1)", "java\tscript:alert(1)",
        "java\nscript:alert(1)", "java&#x09;script:alert(1)", "java&Tab;script:alert(1)", "&#106;avascript:alert(1)",
        "&#x6A;avascript&colon;alert(1)", "&#0000106&#0000097vascript:alert(1)", "\u{1}javascript:alert(1)",
        "javascript&#58;alert(1)", "vbscript:msgbox(1)", "data:text/html,&lt;script>alert(1)&lt;/script>",
        "data:image/svg+xml;base64,PHN2Zz4=", "file:///etc/passwd", "//evil.example/x", "/x", "x", "#x", "?x",
        "\\\\evil.example", "about:blank", "blob:https://a.example/1", "ws://a.example", "tel:1", "sms:1", "intent:#x",
        "view-source:https://a.example", "jar:https://a.example!/", "feed:javascript:alert(1)", "mxc://a/b",
        "https:javascript:alert(1)", "javascript://a.example/%0aalert(1)", "https://", "http:///x",
        "https://a.example\" onclick=\"alert(1)", "https://a.example&quot; onclick=&quot;alert(1)",
        "\u{FEFF}javascript:x",
        "\u{200B}javascript:x", "ｊavascript:x", "https://user:pw@evil.example", "mailto:a@b\" onclick=x",
    ]

    private static let elements = [
        "script", "style", "iframe", "object", "embed", "applet", "frame", "frameset", "link", "meta", "base", "form",
        "input", "button", "textarea", "select", "option", "keygen", "isindex", "svg", "math", "template", "noscript",
        "title", "head", "body", "html", "video", "audio", "source", "track", "canvas", "dialog", "marquee", "blink",
        "bgsound", "layer", "ilayer", "xml", "xss", "custom-element", "slot", "portal", "image", "picture", "map",
        "area",
        "noembed", "noframes", "xmp", "listing", "plaintext", "center", "font", "big", "tt", "nobr", "acronym", "dir",
        "menu", "fieldset", "legend", "label", "datalist", "output", "progress", "meter", "ruby", "rt", "col",
        "colgroup",
        "tfoot", "mx-reply", "sc\0ript", "SCRIPT", "scr\u{0131}pt",
    ]

    private static let handlers = [
        "onclick", "onerror", "onload", "onmouseover", "onfocus", "onanimationstart", "ontoggle", "onpointerdown",
        "style", "class", "id", "srcset", "srcdoc", "formaction", "xlink:href", "background", "ping", "is", "slot",
        "data-x", "contenteditable", "autofocus", "OnClIcK", "on\0click",
    ]

    private static let styles = [
        "data-mx-color=red", "data-mx-color=\"#fff\"", "data-mx-color=\"#ffffff;x\"", "data-mx-color=\"url(x)\"",
        "data-mx-bg-color=\"rgb(1,1,1)\"", "data-mx-bg-color=\"#GGGGGG\"", "style=\"color:red\"",
        "style=\"background:url(javascript:alert(1))\"", "style=\"width:expression(alert(1))\"",
        "data-mx-spoiler=\"&quot;><script>\"", "data-mx-spoiler='\"><img src=x onerror=alert(1)>'",
        "data-mx-color=\"#000000\" data-mx-color=\"javascript:x\"", "data-mx-maths=\"\\\\href{javascript:x}{y}\"",
    ]

    /// Mutation XSS: markup that parses differently after serialization.
    private static let mutations = [
        "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\">",
        "<svg></p><style><a id=\"</style><img src=1 onerror=alert(1)>\">",
        "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
        "<svg><style>&lt;img src=x onerror=alert(1)&gt;</style>",
        "<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
        "<table><b><a href=javascript:x>x</table>", "<table><tr><td><table><caption><script>x</script>",
        "<select><template><b><style><c><d></style></b></template></select><img src=x onerror=alert(1)>",
        "<a href=\"https://a.example\"><a href=\"javascript:x\">x</a></a>", "<p><p><p><b><i><u></p></b>x",
        "<details open ontoggle=alert(1)><summary>x", "<img alt=\"`><img src=x onerror=alert(1)>\" src=mxc://a/b>",
        "<textarea></textarea><script>alert(1)</script>", "<title><img src=x onerror=alert(1)></title>",
        "<xmp><p title=\"</xmp><svg/onload=alert(1)>\">", "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
        "<pre>\n\n<code class=\"language-x\" onclick=x>y", "<code class='language-<b>'>x</code>",
        "<code class='x language-'>y</code>",
        "<ol start='1\" onclick=x'><li>x</ol>", "<ol start=1e9><li>x</ol>", "<ol start=99999999999999999999><li>x</ol>",
        "<img src='mxc://a/b\" onerror=x'>", "<img src='mxc://'>", "<img src='MXC://a/b'>",
        "<img src='mxc://a/b' width=-1 height='1;x'>",
        "<h1><h2><h3><h4><h5><h6><h7>x", "<li><li><li>x", "<td>x<tr>y<table>z", "</table></tr></td></b></p></br>x",
        "<mx-reply><mx-reply>a</mx-reply>b</mx-reply>c", "<mx-reply/>a", "<p><mx-reply></p>a</mx-reply>b",
        "<mx-reply><a href=javascript:x>a</mx-reply><script>b</script>",
    ]

    /// Malformed HTML.
    private static let broken = [
        "<<script>alert(1)//<</script>", "<scr<script>ipt>alert(1)</scr</script>ipt>",
        "<img \"\"\"><script>alert(1)</script>\">",
        "<img src=x onerror\n=\nalert(1)>", "<a\u{0C}href=javascript:x>y", "<a\u{0B}href=javascript:x>y",
        "< a href=javascript:x>y",
        "<a href=\"https://a.example", "<a href='https://a.example>x</a><b title='", "<b/onclick=alert(1)//>x", "<//b>",
        "</ b>",
        "<!--><script>alert(1)</script>-->", "<!--[if gte IE 4]><script>alert(1)</script><![endif]-->",
        "<!-- --!><img src=x onerror=alert(1)> -->",
        "<![CDATA[<script>alert(1)</script>]]>", "<?xml version=\"1.0\"?><script>alert(1)</script>",
        "<!DOCTYPE html [<!ENTITY x '<script>'>]>&x;",
        "<img src=mxc://a/b alt='\"\u{301} onerror=alert(1) x=\"'>",
        "<span data-mx-spoiler='\u{600}\" onclick=x'>y</span>",
        "<a href='https://a.example/\u{600}\" onclick=x'>y</a>", "&lt;script&gt;alert(1)&lt;/script&gt;",
        "&amp;lt;script&amp;gt;", "&#60;script&#62;", "&#x3C;script&#x3E;",
        "&ltscript&gt",
        "\u{0}<script>alert(1)</script>", "<scri\u{0}pt>alert(1)</scri\u{0}pt>", "+ADw-script+AD4-alert(1)",
        "\u{FEFF}<script>x", "<b>\u{202E}x</b>",
        "%3Cscript%3E", "<script>", "<script", "<style><!--</style><script>alert(1)</script>",
        "<a b=\"<script>alert(1)</script>\">x", "<p =\"a\" =b>x",
        "<a href=https://a.example/?a=<b>&c=d>x</a>", "<a href=\"https://a.example/\u{202E}x\">y",
        "<a href=\"https://аpple.example\">https://apple.example</a>",
        String(repeating: "<div>", count: 5000), String(repeating: "<b><p>", count: 2000),
        String(repeating: "<table><td>", count: 500),
        String(repeating: "<a href=https://a.example>", count: 500), String(repeating: "</p>", count: 5000),
        String(repeating: "&", count: 5000),
        String(repeating: "<ul><li>", count: 500) + "x", String(repeating: "<details><summary>", count: 300) + "x",
        String(repeating: "<b><i><u><s><code><sup><sub><span data-mx-spoiler><a href=https://a.example>", count: 60)
            + "x",
        String(repeating: "<blockquote>", count: 99) + "<b><i><u><s><code><sup><sub>x",
        "<p>" + String(repeating: "<span data-mx-color=#ff0000>", count: 200) + "x",
    ]
}
