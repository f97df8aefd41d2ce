import Testing

@testable import MessageMarkup

/// Which texts are parsed, told by counting: what would take longer than its length explains is not.
struct MarkdownEffortTests {
    @Test(arguments: [
        ("a <? ", ""), ("a <!A ", ""), ("a <![CDATA[ ", ""), ("a <?\n", ""), ("a <?\r\n", ""), ("![[]() ", ""),
        ("![[]()\r\n", ""),
        ("*t ", "_t*_ "), ("**t ", "_t**_ "), ("***t ", "_t***_ "), ("*t ", "_t***_ "), ("_t ", "***t_*** "),
        ("*t ", "~~t*~~ "), ("~~t ", "*t~~* "), ("*t\n", "_t*_\n"), ("*t\r\n", "_t*_\r\n"),
        (">", "t_ "), ("[a](b) ", "t_ [a](b) "), ("*t* ", "[a](b) "),
        // Marks of equal kinds and other lengths, and links, which look at the marks before them.
        ("**t ", "a*a t** "), ("*t ", "[a](b) "), ("*t ", "![a](b) "), ("[*t ", "_t*_](b) "),
        // What only seems to open: in code, escaped, in tags, addresses and other lines.
        ("*t ", "_t* `_t` t_ "), ("*t ", "_t* \\_t t_ "), ("*t ", "_t* <a b=\"_t\"> t_ "),
        ("*t ", "_t* [a](_t) t_ "), ("*t ", "_t* ~~~_t ~~~t_ "),
        ("*t ", "_t*\n_t\n---\n t_ "), ("*это ", "_это*_ "), ("*…t ", "_t*_ "),
    ])
    func whatIsLookedForInVainIsNotParsed(first: String, second: String) {
        let text = String(repeating: first, count: 6000) + String(repeating: second, count: 6000)
        #expect(!MarkdownEffort.isBearable(text))
        // What is short never takes long.
        #expect(MarkdownEffort.isBearable(String(repeating: first + second, count: 20)))
    }

    @Test(arguments: [
        "*word* _word_ **bold** ", "*Wort* ~~weg~~ __fett__, ***beides***.\n", "*слово* _слово_ **жирный** ",
        "(*word*), \"_word_\": `code_of_*x*` ",
        "Words, *some* of them strong, and more words up to the next [link](https://a.example/with/a/path), and so on ",
        "*a _b **c** d_ e* ", "5*3*2 a_b_c \\*d ",
        "/* a */ char *a; int *b = c * d;\n    value = other;\n    return value;\n    another = one(more, words);\n",
        "*see `code` (here)* and then some more words without any marks at all\n",
        "Words that begin in *one line\nand end in* the next, as they do now and then among words and more words\n",
        "<b>bold</b> <!-- no --> <i>it</i> ",
    ])
    func proseIsParsed(piece: String) {
        let paragraph = String(repeating: piece, count: 100_000 / piece.utf8.count)
        #expect(MarkdownEffort.isBearable(paragraph))
        let short = String(repeating: piece, count: 500 / piece.utf8.count)
        #expect(MarkdownEffort.isBearable(String(repeating: short + "\n\n", count: 200)))
    }

    @Test func blankLinesEndWhatIsOpen() {
        let text = "*t <? " + String(repeating: "word ", count: 40) + "_t*_\n\n"
        #expect(MarkdownEffort.isBearable(String(repeating: text, count: 1000)))
    }
}
