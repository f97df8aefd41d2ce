import Testing

@testable import Composer

/// Configuring completion, and what it must not interfere with.
struct CompletionRuleTests {
    /// HKW-35: any number of prefixes, each with a source; a minimum length of 0 turns implicit queries off.
    @Test(arguments: [("@", "@"), ("+", "+"), ("＠", "＠"), ("#", nil), ("", nil)])
    func hostCanDefinePrefixes(prefix: String, opens: String?) {
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

    /// HKW-40: classes in order of precedence: blank, control (a single-character prefix), punctuation, normal.
    @Test(
        arguments: [
            (" ", .blank), ("\n", .blank), ("\u{3000}", .blank), ("\0", .blank), ("@", .control), ("#", .punctuation),
            (".", .punctuation), ("“", .punctuation), ("。", .punctuation), ("a", .normal), ("7", .normal),
            ("+", .normal),
            ("é", .normal), ("李", .normal), ("👩‍💻", .normal),
        ] as [(Character, CompletionCharacterClass)])
    func charactersAreClassified(character: Character, expected: CompletionCharacterClass) {
        #expect(CompletionCharacterClass(character, controls: ["@"]) == expected)
        let asPrefix = CompletionCharacterClass(character, controls: [character])
        #expect(asPrefix == (expected == .blank ? .blank : .control))
    }

    /// SLK-26: completion does not modify preedit text; the query is what the input method commits.
    @Test func completionLeavesThePreeditUnchanged() {
        var script = ComposerScript()
        script.send(.focus(true))
        script.type("@")
        script.send(.preedit("ni"))
        script.respond(with: ["你好"])
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

    /// MIB-27: without rows there is no list; the host limits the number of visible rows.
    @Test(arguments: [(0, 8, 0), (3, 8, 3), (40, 8, 8), (40, 5, 5)])
    func visibleRowsAreLimited(matches: Int, most: Int, shown: Int) {
        var script = ComposerScript(.completing { $0.rows = most })
        script.type("@")
        script.respond(with: (0..<matches).map { "Member \($0)" })
        #expect(script.completion?.isVisible ?? false == (shown > 0))
        #expect(script.completion?.visibleRows ?? 0 == shown)
    }
}
