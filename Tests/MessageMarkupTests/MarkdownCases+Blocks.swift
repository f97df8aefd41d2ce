/// Blocks: chapters 2 to 5 of CommonMark, and task lists.
extension MarkdownCases {
    static let tabs: [(markdown: String, body: String)] = [
        ("\tcode", "CODE -(code)"),
        ("  \tcode", "CODE -(code)"),
        ("- one\n\n\ttwo", "UL(P(one) P(two))"),
        ("> \tquoted", "QUOTE(P(quoted))"),
        ("\t\tdeep", "CODE -(\tdeep)"),
        ("-\tone", "UL(P(one))"),
        ("#\ttitle", "H1(title)"),
        ("*\t*\t*", "RULE"),
        ("```\n\ttab\n  \tmixed\n```", "CODE -(\ttab⏎  \tmixed)"),
        ("- ```\n  \ttab\n  ```", "UL(CODE -(\ttab))"),
    ]

    static let backslashes: [(markdown: String, body: String)] = [
        ("\\*not italic\\*", "P(*not italic*)"),
        ("a\\\\b", "P(a\\b)"),
        ("\\a \\1", "P(\\a \\1)"),
        ("\\# no title", "P(# no title)"),
        ("\\[no](https://a.example)", "P([no]({→https://a.example:https://a.example}))"),
        ("line\\\nbreak", "P(line⏎break)"),
        ("`\\*`", "P({c:\\*})"),
        ("[a](https://a.example/x\\*y)", "P({→https://a.example/x*y:a})"),
        ("\\&amp;", "P(&amp;)"),
        ("\\<b>", "P(<b>)"),
    ]

    static let entities: [(markdown: String, body: String)] = [
        ("&amp; &lt; &copy;", "P(& < ©)"),
        ("&#65; &#x42;", "P(A B)"),
        ("&#0;", "P(�)"),
        ("&nothing; &amp", "P(&nothing; &amp)"),
        ("&ouml;ber", "P(öber)"),
        ("[a](https://a.example/?x=1&amp;y=2)", "P({→https://a.example/?x=1&y=2:a})"),
        ("`&amp;`", "P({c:&amp;})"),
        ("&#42;no&#42;", "P(*no*)"),
        ("&#99999999;", "P(&#99999999;)"),
        ("&#xD800;", "P(�)"),
        ("&ngE;", "P(≧̸)"),
        ("``` c&#43;&#43;\nx\n```", "CODE c++(x)"),
    ]

    static let precedence: [(markdown: String, body: String)] = [
        ("- `one\n- two`", "UL(P(`one); P(two`))"),
        ("*a `b*`", "P(*a {c:b*})"),
    ]

    static let thematicBreaks: [(markdown: String, body: String)] = [
        ("---", "RULE"),
        ("***", "RULE"),
        ("___", "RULE"),
        ("--", "P(--)"),
        ("- - -", "RULE"),
        ("  ***", "RULE"),
        ("    ***", "CODE -(***)"),
        ("a\n***\nb", "P(a) RULE P(b)"),
        ("- a\n***\n- b", "UL(P(a)) RULE UL(P(b))"),
        ("- a\n- * * *", "UL(P(a); RULE)"),
        ("_____x", "P(_____x)"),
        ("*-*", "P({i:-})"),
        ("-     -     -", "RULE"),
    ]

    static let headings: [(markdown: String, body: String)] = [
        ("# one", "H1(one)"),
        ("###### six", "H6(six)"),
        ("####### seven", "P(####### seven)"),
        ("#none", "P(#none)"),
        ("#", "P(#)"),
        ("## two ##", "H2(two)"),
        ("# one \\#", "H1(one #)"),
        ("   # in", "H1(in)"),
        ("    # code", "CODE -(# code)"),
        ("a\n# b\nc", "P(a) H1(b) P(c)"),
        ("# *a* b", "H1({i:a} b)"),
        ("### a ###   ", "H3(a)"),
        ("#5 tea", "P(#5 tea)"),
    ]

    static let underlinedHeadings: [(markdown: String, body: String)] = [
        ("one\n===", "H1(one)"),
        ("two\n---", "H2(two)"),
        ("a\nb\n===", "H1(a⏎b)"),
        ("*a*\n---", "H2({i:a})"),
        ("a\n    ---", "P(a⏎---)"),
        ("- a\n---", "UL(P(a)) RULE"),
        ("> a\n---", "QUOTE(P(a)) RULE"),
        ("\\> a\n---", "H2(> a)"),
        ("===", "P(===)"),
        ("a\n\n===", "P(a) P(===)"),
        ("`a\n---\n`", "H2(`a) P(`)"),
        ("a  \n---", "H2(a)"),
    ]

    static let indentedCode: [(markdown: String, body: String)] = [
        ("    a\n      b", "CODE -(a⏎  b)"),
        ("a\n    b", "P(a⏎b)"),
        ("    a\n\n    b", "CODE -(a⏎⏎b)"),
        ("    a\nb", "CODE -(a) P(b)"),
        ("- a\n\n      code", "UL(P(a) CODE -(code))"),
        ("# t\n    code\na", "H1(t) CODE -(code) P(a)"),
        ("\n    \n    a", "CODE -(a)"),
    ]

    static let fencedCode: [(markdown: String, body: String)] = [
        ("```\na\n```", "CODE -(a)"),
        ("~~~\na\n~~~", "CODE -(a)"),
        ("``` swift\na\n```", "CODE swift(a)"),
        ("~~~ py x=1\na\n~~~", "CODE py(a)"),
        ("````\n```\n````", "CODE -(```)"),
        ("```\n~~~\n```", "CODE -(~~~)"),
        ("```\na", "CODE -(a)"),
        ("> ```\n> a\n\nb", "QUOTE(CODE -(a)) P(b)"),
        ("```\n\n  \n```", "CODE -(⏎  )"),
        ("  ```\n  a\n    b\n  ```", "CODE -(a⏎  b)"),
        ("```\na\n  ```", "CODE -(a)"),
        ("```\na\n    ```", "CODE -(a⏎    ```)"),
        ("a\n```\nb\n```\nc", "P(a) CODE -(b) P(c)"),
        ("`` ` ``\nb", "P({c:`}⏎b)"),
        ("``` a`b", "P(``` a`b)"),
        ("> ```\n```\na", "CODE -(a)"),
        ("```\n*a* <b> &amp;\n```", "CODE -(*a* <b> &amp;)"),
    ]

    static let htmlBlocks: [(markdown: String, body: String)] = [
        ("<div>\n*a*\n</div>", "P(<div>⏎*a*⏎</div>)"),
        ("<div>\n\n*a*\n\n</div>", "P(<div>) P({i:a}) P(</div>)"),
        ("<!-- a\n\nb -->\nc", "P(<!-- a⏎⏎b -->) P(c)"),
        ("<?x\n\n?>\na", "P(<?x⏎⏎?>) P(a)"),
        ("<!X\n>\na", "P(<!X⏎>) P(a)"),
        ("<![CDATA[\n\na]]>\nb", "P(<![CDATA[⏎⏎a]]>) P(b)"),
        ("<script>\n\n*a*\n</script>\nb", "P(<script>⏎⏎*a*⏎</script>) P(b)"),
        ("a\n<div>", "P(a) P(<div>)"),
        ("a\n<x>", "P(a⏎<x>)"),
        ("<x>\n*a*", "P(<x>⏎*a*)"),
        ("    <div>", "CODE -(<div>)"),
        ("- <div>\n- a", "UL(P(<div>); P(a))"),
        ("<pre>\n\n*a*</pre>", "P(<pre>⏎⏎*a*</pre>)"),
    ]

    static let linkReferenceDefinitions: [(markdown: String, body: String)] = [
        ("[a]: https://a.example\n\n[a]", "P({→https://a.example:a})"),
        ("[a]: https://a.example 'title'\n\n[A]", "P({→https://a.example:A})"),
        ("[a]:\nhttps://a.example\n\n[a]", "P({→https://a.example:a})"),
        ("[a]: <https://a.example/x y>\n\n[a]", "P({→https://a.example/x%20y:a})"),
        ("[a]", "P([a])"),
        ("[a]: https://a.example\n[a]: https://b.example\n\n[a]", "P({→https://a.example:a})"),
        ("a\n[b]: https://a.example\n\n[b]", "P(a⏎[b]: {→https://a.example:https://a.example}) P([b])"),
        ("[a]: https://a.example 'no\n\n[a]", "P([a]: {→https://a.example:https://a.example} 'no) P([a])"),
        ("[Straße]: https://a.example\n\n[STRASSE]", "P({→https://a.example:STRASSE})"),
        ("> [a]: https://a.example\n\n[a]", "P({→https://a.example:a})"),
        ("[a]: javascript:x\n\n[a]", "P(a)"),
        ("[]: https://a.example\n\n[]", "P([]: {→https://a.example:https://a.example}) P([])"),
    ]

    static let paragraphsAndBlankLines: [(markdown: String, body: String)] = [
        ("a\n\nb", "P(a) P(b)"),
        ("a\nb", "P(a⏎b)"),
        ("a\n\n\n\nb", "P(a) P(b)"),
        ("  a\n b", "P(a⏎b)"),
        ("a\n      b", "P(a⏎b)"),
        ("a  \nb", "P(a⏎b)"),
        ("\n\n  \na\n  \n", "P(a)"),
        ("a   ", "P(a)"),
    ]

    static let blockQuotes: [(markdown: String, body: String)] = [
        ("> a", "QUOTE(P(a))"),
        ("> # a\n> b", "QUOTE(H1(a) P(b))"),
        ("   > a", "QUOTE(P(a))"),
        ("    > a", "CODE -(> a)"),
        ("> a\nb", "QUOTE(P(a⏎b))"),
        ("> a\n\nb", "QUOTE(P(a)) P(b)"),
        ("> a\n>\n> b", "QUOTE(P(a) P(b))"),
        ("> a\n\n> b", "QUOTE(P(a)) QUOTE(P(b))"),
        (">>> a", "QUOTE(QUOTE(QUOTE(P(a))))"),
        ("> > a\n> b", "QUOTE(QUOTE(P(a⏎b)))"),
        (">", "P(>)"),
        ("> - a\n- b", "QUOTE(UL(P(a))) UL(P(b))"),
        ("> ```\na\n```", "P(a)"),
        ("a\n> b", "P(a) QUOTE(P(b))"),
        ("> a\n---", "QUOTE(P(a)) RULE"),
    ]

    static let listItems: [(markdown: String, body: String)] = [
        ("- a\n\n  b", "UL(P(a) P(b))"),
        ("- a\n\n b", "UL(P(a)) P(b)"),
        ("1. a\n\n   b\n\n       c", "OL1(P(a) P(b) CODE -(c))"),
        ("-a", "P(-a)"),
        ("1.a", "P(1.a)"),
        ("123456789. a", "OL123456789(P(a))"),
        ("1234567890. a", "P(1234567890. a)"),
        ("0. a", "OL0(P(a))"),
        ("003. a", "OL3(P(a))"),
        ("-1. a", "P(-1. a)"),
        ("- a\n-\n- c", "UL(P(a); ; P(c))"),
        ("-\n\n  a", "UL() P(a)"),
        ("a\n*", "P(a⏎*)"),
        ("a\n1. ", "P(a⏎1.)"),
        ("a\n1. b", "P(a) OL1(P(b))"),
        ("a\n2. b", "P(a⏎2. b)"),
        ("10) a\n    - b", "OL10(P(a) UL(P(b)))"),
        ("- - a", "UL(UL(P(a)))"),
        ("1. - 2. a", "OL1(UL(OL2(P(a))))"),
        ("- # a\n- b\n  ---", "UL(H1(a); H2(b))"),
        ("  - a\n    b", "UL(P(a⏎b))"),
        ("- a\nb", "UL(P(a⏎b))"),
        ("+ a\n+ b", "UL(P(a); P(b))"),
    ]

    static let lists: [(markdown: String, body: String)] = [
        ("- a\n- b\n+ c", "UL(P(a); P(b)) UL(P(c))"),
        ("1. a\n2. b\n3) c", "OL1(P(a); P(b)) OL3(P(c))"),
        ("- a\n\n- b", "UL(P(a); P(b))"),
        ("- a\n  - b\n    - c\n      - d", "UL(P(a) UL(P(b) UL(P(c) UL(P(d)))))"),
        ("- a\n - b\n  - c", "UL(P(a); P(b); P(c))"),
        ("1. a\n\n  2. b\n\n    3. c", "OL1(P(a); P(b)) CODE -(3. c)"),
        ("- a\n\n<!-- -->\n\n- b", "UL(P(a)) P(<!-- -->) UL(P(b))"),
        ("- a\n- ```\n  b\n\n\n  ```\n- c", "UL(P(a); CODE -(b⏎⏎); P(c))"),
        ("* a\n  > b\n  ```\n  c\n  ```\n* d", "UL(P(a) QUOTE(P(b)) CODE -(c); P(d))"),
        ("It was in\n1999. A good year", "P(It was in⏎1999. A good year)"),
        ("3. a\n1. b", "OL3(P(a); P(b))"),
        ("- a\n  1. b\n  2. c\n- d", "UL(P(a) OL1(P(b); P(c)); P(d))"),
    ]

    static let taskLists: [(markdown: String, body: String)] = [
        ("- [ ] a\n- [x] b\n- [X] c", "UL(o:P(a); x:P(b); x:P(c))"),
        ("1. [x] a", "OL1(x:P(a))"),
        ("- [x]a", "UL(P([x]a))"),
        ("- [ ]", "UL(o:)"),
        ("* [x] a\n  - [ ] b", "UL(x:P(a) UL(o:P(b)))"),
        ("- - [x] a", "UL(UL(x:P(a)))"),
        ("[x] a", "P([x] a)"),
        ("- [y] a", "UL(P([y] a))"),
        ("- [x] **a**", "UL(x:P({b:a}))"),
        ("- \\[x] a", "UL(P([x] a))"),
    ]
}
