/// Messages with every kind of markup, for screenshots.
enum FixtureBodies {
    static let markdown: [String] = [
        "The *new* type **specimen** is ~~late~~ here: `Cantarell 11` and ***more***. See https://example.org/specimen or [the shop](https://shop.example.org/q?x=1).",
        "## Center spread\nSet them in **two columns**, as @Ann Lindqvist and @Tomás Herrera said:\n\n1. the interview\n2. the portrait\n   - in color\n   - full height, and with a caption long enough for a second line\n3. the index",
        "> The opening is a paragraph too long.\n>\n> > Which one?\n\nThe second. ||It gives the *ending* away.||",
        "```swift\nstruct Page: Equatable {\n    var number = 1 // from the cover\n    func folio() -> String { \"p. \\(number)\" }\n}\n```",
        "| Sheet | Paper | Copies |\n|:--|:-:|--:|\n| Cover | coated, 300 g | 500 |\n| Inside | **uncoated**, 120 g | 8,000 |\n| Insert | `proof` | 40 |",
        "- [x] proofs\n- [ ] captions\n- [ ] index\n\n---\n\nReady by Friday?",
        "👍🏽",
        "☕🎉🥐",
        "النص العربي مع **كلمة** و[رابط](https://example.org)",
    ]

    static let html: [String] = [
        "H<sub>2</sub>O and E = mc<sup>2</sup>, <u>underlined</u>, <span data-mx-color=\"#101010\">dark</span>, <span data-mx-color=\"#f5f5dc\">pale</span>, <span data-mx-color=\"#c01c28\" data-mx-bg-color=\"#f9f06b\">marked</span>",
        "<details><summary>Minutes of the meeting</summary><p>All agreed.</p></details>",
        "<a href=\"https://evil.example\">https://bank.example</a> and <a href=\"https://matrix.to/#/@ida:example.org\">Ida</a> <span data-mx-spoiler=\"the ending\">she wins</span>",
    ]
}
