import ChatCore
import Fuzzing
import MessageMarkup
import Testing

/// HTML as other clients send it, and the parsed body.
struct HTMLBodyTests {
    @Test(arguments: [
        ("plain &amp; <b>bold</b>", "P(plain & {b:bold})"),
        ("<p>a\n  b</p><p>c<br>d</p>", "P(a b) P(c⏎d)"),
        (
            "<em>a <strong>b</strong></em><del>c</del><u>d</u><sup>e</sup><sub>f</sub>",
            "P({i:a }{b,i:b}{s:c}{u:d}{sup:e}{sub:f})"
        ),
        ("<h3>T</h3>x", "H3(T) P(x)"),
        ("<pre><code class=\"language-rust foo\">fn  a()\n\n{}\n</code></pre>", "CODE rust(fn  a()⏎⏎{})"),
        ("<blockquote><p>a</p><blockquote>b</blockquote></blockquote>c", "QUOTE(P(a) QUOTE(P(b))) P(c)"),
        ("<ol start=\"5\"><li>a</li><li>b<ul><li>c</li></ul></li></ol>", "OL5(P(a); P(b) UL(P(c)))"),
        ("<ul><li>a<li>b</ul>", "UL(P(a); P(b))"),
        ("<ol start=-4><li>a</ol>", "OL0(P(a))"),
        ("<li>a<li>b", "UL(P(a); P(b))"), ("<li>a</li>x<li>b</li>", "UL(P(a)) P(x) UL(P(b))"),
        ("<ul><li>a</ul><li>b", "UL(P(a)) UL(P(b))"), ("<li>a</li><ul><li>b</ul>", "UL(P(a)) UL(P(b))"),
        ("<blockquote><li>a<li>b</blockquote>c", "QUOTE(UL(P(a); P(b))) P(c)"),
        ("<table><li>a</li><li>b</li><tr><td>1</table>", "UL(P(a); P(b)) TABLE(1)"),
        ("<table><tr><td><li>a</li><li>b</li></table>", "TABLE(a⏎b)"),
        (
            "<table><caption>T</caption><thead><tr><th>a</th></tr></thead><tbody><tr><td>1</td><td><b>2</b></td></tr></tbody></table>",
            "TABLE[T](#a; 1 | {b:2})"
        ),
        ("<table><tr><td>1<td>2<tr><td>3</table>", "TABLE(1 | 2; 3)"),
        ("<pre><code><pre>\n\nx\n\ny\n</pre>", "CODE -(x⏎⏎y)"),
        ("<hr>", "RULE"),
        ("<details><summary>S</summary>text</details>", "DETAILS[S](P(text))"),
        ("<span data-mx-spoiler=\"why\">x <b>y</b></span>", "P({spoiler why:x }{b,spoiler why:y})"),
        ("<span data-mx-color=\"#FF0000\" data-mx-bg-color=\"#00ff7f\">c</span>", "P({fg#ff0000,bg#00ff7f:c})"),
        ("<span data-mx-color=\"red\">c</span>", "P(c)"),
        ("<a href=\"https://a.example\">t</a>", "P({→https://a.example:t})"),
        ("<a href=\"/relative\">t</a> <a href=\"file:///etc\">u</a>", "P(t u)"),
        (
            "<a href=\"https://matrix.to/#/@ann:a.example\">Ann</a>: hi",
            "P({→https://matrix.to/#/@ann:a.example,member @ann:a.example:Ann}: hi)"
        ),
        ("<a href=\"matrix:r/room:a.example\">#room</a>", "P({→matrix:r/room:a.example,room #room:a.example:#room})"),
        ("<img src=\"mxc://a/b\" alt=\"cat\" width=\"20\" height=\"99999\">", "P({img mxc://a/b 20x0:cat})"),
        ("a <img src=\"https://a.example/x.png\" alt=\"cat\"> b", "P(a cat b)"),
        ("<mx-reply><blockquote>old</blockquote></mx-reply>new", "P(new)"),
        ("<mx-reply>old", ""),
        ("a<script>b", "P(a)"), ("a<script", "P(a)"), ("a<STYLE x=\"", "P(a)"), ("a<title>b</titl", "P(a)"),
        ("a<template>b", "P(a)"), ("<svg>a", "P(a)"), ("a <scripted b", "P(a <scripted b)"),
        (
            "<font color=\"#FF0000\" data-mx-bg-color=\"#00ff7f\">a</font><font data-mx-color=\"#000001\">b</font>",
            "P({fg#ff0000,bg#00ff7f:a}{fg#000001:b})"
        ),
        ("<strike>a</strike>", "P({s:a})"), ("<ul><li>☑ a</li><li>☐ </li><li>☐b</li></ul>", "UL(x:P(a); o:; P(☐b))"),
        ("<blockquote><summary>a</summary>b</blockquote>", "QUOTE(P(a) P(b))"),
        ("<script>alert(1)</script>a<style>b{}</style>c", "P(ac)"),
        ("<font color=red>a</font><marquee>b</marquee>", "P(ab)"),
        ("a<!-- <b>x</b> -->b", "P(ab)"),
        ("1 < 2 <3", "P(1 < 2 <3)"),
        ("<b>a<p>b</b>c", "P({b:a}) P({b:b}) P(c)"),
        ("<p><b>a<p>b", "P({b:a}) P({b:b})"),
        ("<b><i>a</b>b</i>c", "P({b,i:a}{i:b}c)"),
        ("a&nbsp; b", "P(a\u{A0} b)"),
        ("see https://a.example.", "P(see {→https://a.example:https://a.example}.)"),
        ("<code>||a||</code> ||b||", "P({c:||a||} ||b||)"),
        ("<div>a</div><div>b</div>", "P(a) P(b)"),
        ("<a href=x title=\"", "P(<a href=x title=\")"),
        ("", ""),
    ])
    func parsesHTML(html: String, expected: String) {
        #expect(sketch(MessageMarkup.body(html: html)) == expected)
    }

    @Test func customEmojiArePreserved() {
        let html = "<img src=\"mxc://a/b\" data-mx-emoticon=\"\" alt=\":cat:\" height=\"32\">"
        #expect(MessageMarkup.sanitized(html: "<img data-mx-emoticon height=32 alt=:cat: src=mxc://a/b>") == html)
        #expect(MessageMarkup.sanitized(html: html) == html)
    }

    /// Matrix recommends a nesting limit of 100. A list without items contributes one level more than the parser keeps.
    @Test(arguments: [
        "<ul>", "<ul><li>", "<ol start=2>", "<li><blockquote>", "<blockquote><li>", "<details>", "<ul><blockquote>",
        "<table><tr><td>", "<ul><details>",
    ])
    func sentNestingIsLimitedToOneHundred(fragment: String) {
        let looks =
            "<a href=\"https://a.example\"><span data-mx-spoiler><span data-mx-color=\"#ff0000\"><b><i><u><s><sup><sub><code>"
        for count in [30, 39, 40, 41, 80, 90] {
            let html = MessageMarkup.sanitized(html: String(repeating: fragment, count: count) + looks + "x")
            #expect(html.contains("x"))
            #expect(SafeHTML.violation(of: html) == nil)
        }
    }

    /// Containers beyond the depth limit are dropped, but their content is not.
    @Test(arguments: [
        "<b>", "<blockquote>", "<ul><li>", "<table><tr><td>", "<p>", "<span data-mx-spoiler>", "<details>",
        "<b class=x>", "<a href='https://a.example'>", "<h1>",
    ])
    func deeplyNestedTextIsPreserved(tag: String) {
        let html = String(repeating: tag, count: 30_000) + "text"
        let body = MessageMarkup.body(html: html)
        #expect(body.plainText().contains("text"))
    }

    @Test func millionfoldNestingKeepsItsText() {
        let body = MessageMarkup.body(html: String(repeating: "<div>", count: 1_000_000) + "text")
        #expect(sketch(body) == "P(text)")
    }

    @Test func manyAttributesAreParsed() {
        let names = (0..<100_000).reduce(into: "") { $0 += " a\($1)=1" }
        #expect(sketch(MessageMarkup.body(html: "<b\(names)>x</b>")) == "P({b:x})")
    }

    /// Reopening unclosed formatting in every paragraph would grow quadratically.
    @Test func unclosedFormattingDoesNotMultiply() {
        let html =
            (0..<200).map { "<a href='https://a.example/\($0)'><b class=\($0)>" }.joined()
            + String(repeating: "<p>x</p>", count: 10_000)
        let out = MessageMarkup.sanitized(html: html)
        #expect(out.utf8.count < 40 * html.utf8.count)
    }

    @Test func unclosedTagsAndCommentsAreScannedOnce() {
        for fragment in ["<a ", "<a b='", "<script>", "<!--", "</", "<!", "<svg>", "<title>", "&#x", "<a href=", "\""] {
            _ = MessageMarkup.body(html: String(repeating: fragment, count: 50_000))
        }
    }

    /// Unclosed formatting continues after its block and repeats its link URL; that repetition is bounded.
    @Test func linkRepetitionIsBounded() {
        let address = "https://a.example/" + String(repeating: "x", count: 8000)
        let fragment =
            String(repeating: "<div>", count: 90) + "<a href=\(address)>x" + String(repeating: "</div>y", count: 90)
            + "</a>"
        let html = String(repeating: fragment, count: 20)
        #expect(MessageMarkup.sanitized(html: html).utf8.count < 4 * html.utf8.count + 200_000)
    }
}
