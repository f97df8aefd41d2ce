import Testing

@testable import Composer

/// How completion is set up, and what it leaves alone.
struct CompletionRuleTests {
    /// HKW-35: any number of prefixes with a source each; the length of implicit queries, which 0 turns off.
    @Test(arguments: [("@", "@"), ("+", "+"), ("＠", "＠"), ("#", nil), ("", nil)])
    func prefixesOfOnesOwn(prefix: String, opens: String?) {
        var script = ComposerScript(
            .completing(.hakawai) { options in
                options.implicitLength = 0
                options.controlCharacters = ["@", "+", "＠"]
                options.rules = ["@", "+", "＠"].map { CompletionRule(prefix: $0) }
            })
        script.send(.focus(true))
        script.type(prefix + "turing")
        #expect(script.completion?.prefix == opens)
        #expect(script.completion?.kind != .implicit)
    }

    /// HKW-40: asked in this order: a prefix of one character is never punctuation, unless it is none.
    @Test(
        arguments: [
            (" ", .blank), ("\n", .blank), ("\u{3000}", .blank), ("\0", .blank), ("@", .control), ("#", .punctuation),
            (".", .punctuation), ("“", .punctuation), ("。", .punctuation), ("a", .normal), ("7", .normal),
            ("+", .normal),
            ("é", .normal), ("李", .normal), ("👩‍💻", .normal),
        ] as [(Character, CompletionCharacterClass)])
    func characterClasses(character: Character, expected: CompletionCharacterClass) {
        #expect(CompletionCharacterClass(character, controls: ["@"]) == expected)
        let asPrefix = CompletionCharacterClass(character, controls: [character])
        #expect(asPrefix == (expected == .blank ? .blank : .control))
    }

    /// SLK-26: completion never touches what an input method shows; what it commits is the query.
    @Test func inputMethodsAreLeftAlone() {
        var script = ComposerScript()
        script.send(.focus(true))
        script.type("@")
        script.send(.preedit("ni"))
        script.answer(["你好"])
        #expect(script.state.preedit == "ni" && script.text == "@")
        script.send(.selectCompletion(0))
        script.send(.cancelCompletion)
        #expect(script.state.preedit == "ni" && script.text == "@")
        script.send(.preedit(""))
        script.type("你")
        #expect(script.completion == nil, "closed for this word")
        script.type(" @")
        script.send(.preedit("ni"))
        script.send(.commit("你"))
        #expect(script.state.preedit.isEmpty)
        #expect(script.completion?.query == "你")
    }

    /// MIB-27: without rows there is no list; at most so many show as the host says.
    @Test(arguments: [(0, 8, 0), (3, 8, 3), (40, 8, 8), (40, 5, 5)])
    func rowsThatShow(matches: Int, most: Int, shown: Int) {
        var script = ComposerScript(.completing { $0.rows = most })
        script.type("@")
        script.answer((0..<matches).map { "Member \($0)" })
        #expect(script.completion?.isVisible ?? false == (shown > 0))
        #expect(script.completion?.visibleRows ?? 0 == shown)
    }
}
