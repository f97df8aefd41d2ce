import Composer
import Testing

struct MarkdownTests {
    struct Row: Sendable {
        let text: String
        let selection: TextRange
        let format: String
        let result: String
        let after: TextRange

        init(_ text: String, _ location: Int, _ length: Int, _ format: String, _ result: String, _ at: Int, _ over: Int)
        {
            self.text = text
            selection = TextRange(location: location, length: length)
            self.format = format
            self.result = result
            after = TextRange(location: at, length: over)
        }
    }

    /// SLK-29, SLK-30: text, selection, rule, result, selection after.
    static let rows: [Row] = [
        // Paired delimiters: wrap, and unwrap with the delimiters inside or outside the selection.
        Row("word", 0, 4, "Bold", "**word**", 2, 4),
        Row("**word**", 2, 4, "Bold", "word", 0, 4),
        Row("**word**", 0, 8, "Bold", "word", 0, 4),
        Row("unhappy", 2, 5, "Bold", "un**happy**", 4, 5),
        Row("a word b", 1, 6, "Bold", "a **word** b", 4, 4),
        Row("a\nb", 0, 3, "Bold", "**a\nb**", 2, 3),
        Row("a\n\nb", 0, 4, "Bold", "**a**\n\n**b**", 2, 8),
        Row("**a**\n\n**b**", 0, 12, "Bold", "a\n\nb", 0, 4),
        // Delimiters on either side of both ends: applying a rule again to the resulting selection undoes it.
        Row("**a**\n\n**b**", 2, 8, "Bold", "a\n\nb", 0, 4),
        Row("**word**", 2, 6, "Bold", "word", 0, 4),
        Row("**word**", 0, 6, "Bold", "word", 0, 4),
        Row("a\r\n\r\nb", 0, 6, "Bold", "**a**\r\n\r\n**b**", 2, 10),
        Row("x", 0, 1, "**", "**x**", 2, 1),
        Row("👩‍💻", 0, 5, "Italic", "_👩‍💻_", 1, 5),
        // Without a selection: insert a pair around the caret, and remove it again.
        Row("a ", 2, 0, "Code", "a ``", 3, 0),
        Row("a ``", 3, 0, "Code", "a ", 2, 0),
        Row("", 0, 0, "Bold", "****", 2, 0),
        Row("****", 2, 0, "Bold", "", 0, 0),
        // Line prefixes: toggled on every line that is not empty.
        Row("a\n\nb", 0, 4, "Quote", "> a\n\n> b", 2, 6),
        Row("> a\n\n> b", 0, 8, "Quote", "a\n\nb", 0, 4),
        Row("> a\nb", 0, 5, "Quote", "> a\n> b", 0, 7),
        Row(">a", 2, 0, "Quote", "a", 1, 0),
        Row("abc", 2, 0, "List", "- abc", 4, 0),
        Row("", 0, 0, "Quote", "> ", 2, 0),
        Row("a\nb", 0, 2, "List", "- a\nb", 2, 2),
        Row("x\r\na\u{2028}b", 3, 3, "Quote", "x\r\n> a\u{2028}> b", 5, 5),
        // Fences, on lines of their own.
        Row("code", 0, 4, "Code block", "```\ncode\n```", 4, 4),
        Row("```\ncode\n```", 4, 4, "Code block", "code", 0, 4),
        Row("a code b", 2, 4, "Code block", "a \n```\ncode\n```\n b", 7, 4),
        Row("", 0, 0, "Code block", "```\n\n```", 4, 0),
        // Links.
        Row("see it", 4, 2, "Link", "see [it]()", 9, 0),
        Row("http://a.b", 0, 10, "Link", "[](http://a.b)", 1, 0),
        Row("[it](x)", 1, 2, "Link", "it", 0, 2),
    ]

    @Test(arguments: rows)
    func formattingTogglesDelimiters(row: Row) {
        var script = ComposerScript()
        script.load(row.text, select: row.selection)
        script.send(.format(row.format))
        #expect(script.text == row.result)
        #expect(script.state.selection == row.after)
        script.send(.undo)
        #expect(script.text == row.text, "one undo step")
        #expect(script.state.selection == row.selection)
    }

    /// `*` does not match within `**`.
    @Test func shorterDelimitersAreDistinguishedFromLongerOnes() {
        var configuration = ComposerConfiguration()
        configuration.markdown.append(MarkdownRule(symbol: "*", title: "Emphasis", form: .pair))
        var script = ComposerScript(configuration)
        script.load("**a**", select: TextRange(location: 2, length: 1))
        script.send(.format("Emphasis"))
        #expect(script.text == "***a***")
        script.send(.format("Emphasis"))
        #expect(script.text == "**a**")
    }

    /// Recorded traces contain these titles.
    @Test func titlesOfKindsArePinned() {
        #expect(
            MarkdownRule.Kind.allCases.map(\.rawValue)
                == ["Bold", "Italic", "Strike", "Code", "Code block", "Quote", "List", "Link"])
        #expect(MarkdownRule.commonMark.map(\.title) == MarkdownRule.Kind.allCases.map(\.rawValue))
    }

    /// Hosts can choose any title for a rule.
    @Test func kindDecidesOnShortcutAndStyle() {
        var configuration = ComposerConfiguration()
        configuration.markdown = [
            MarkdownRule(.italic, symbol: "/", title: "Schräg", form: .pair),
            MarkdownRule(symbol: "^", title: "Italic", form: .pair),
        ]
        #expect(
            KeyTable.standard(for: configuration).action(for: KeyChord("I", .control), in: []) == .format("Schräg"))
        let styling = MarkdownStyling(rules: configuration.markdown)
        #expect(styling.runs(in: "a /b/", isInFence: false).runs.contains { $0.style == .italic })
        #expect(styling.runs(in: "a ^b^", isInFence: false).runs.isEmpty)
    }

    @Test func mentionIsFormattedAsAWhole() {
        var script = ComposerScript()
        let mention = Mention(.custom("u"), text: "Ann Lee")
        script.send(
            .load(WrittenText("Ann Lee x", mentioning: [mention]), selection: TextRange(location: 2, length: 3)))
        script.send(.format("Bold"))
        #expect(script.text == "**Ann Lee** x")
        #expect(script.engine.document.mentions.map(\.range) == [TextRange(location: 2, length: 7)])
    }

    /// SLK-28: rules offered for a selection; SLK-30: Slack offers quotes only at the start of a line.
    @Test func offeredFormatsDependOnTheSelection() {
        var script = ComposerScript(.preset(.slack))
        script.load("one\ntwo")
        #expect(script.state.formatting == [])
        script.send(.select(TextRange(location: 4, length: 3)))
        #expect(script.state.formatting == ["Bold", "Italics", "Strike", "Code", "Preformatted", "Quote"])
        script.send(.select(TextRange(location: 1, length: 2)))
        #expect(script.state.formatting.last == "Preformatted")
        script.send(.format("Quote"))
        #expect(script.text == "one\ntwo" && script.effects.contains(.rejected(.format("Quote"))))
        script.send(.format("Unknown"))
        #expect(script.effects.contains(.rejected(.format("Unknown"))))
    }

    /// SLK-29, SLK-30: a rule limited to line starts is also offered after its own prefix, so it can be removed.
    @Test func quoteCanBeRemoved() {
        var script = ComposerScript(.preset(.slack))
        script.load("one\ntwo", select: TextRange(location: 4, length: 3))
        script.send(.format("Quote"))
        #expect(script.text == "one\n>two" && script.state.selection == TextRange(location: 5, length: 3))
        #expect(script.state.formatting.last == "Quote")
        script.send(.format("Quote"))
        #expect(script.text == "one\ntwo" && script.state.selection == TextRange(location: 4, length: 3))
    }

    /// SLK-29: many lines are a single edit, or several edits if one would destroy a mention; the result is the same.
    @Test(arguments: [false, true])
    func manyLinesAreFormattedTogether(withMention: Bool) {
        var script = ComposerScript()
        let text = String(repeating: "line 👍\n", count: 100) + "Ann"
        let mention = Mention(.custom("u"), text: "Ann")
        let whole = TextRange(location: 0, length: text.utf16.count)
        script.send(.load(WrittenText(text, mentioning: withMention ? [mention] : []), selection: whole))
        script.send(.format("Quote"))
        #expect(script.text == String(repeating: "> line 👍\n", count: 100) + "> Ann")
        #expect(script.engine.document.mentions.count == (withMention ? 1 : 0))
        script.send(.format("Quote"))
        #expect(script.text == text && script.state.selection == whole)
        script.send(.undo)
        script.send(.undo)
        #expect(script.text == text && script.engine.document.mentions.count == (withMention ? 1 : 0))
    }

    /// SLK-31: typed text, result of the double space.
    static let doubleSpaces: [(String, String)] = [
        ("**bold  ", "**bold** "), ("**bold word  ", "**bold word** "), ("a _b  ", "a _b_ "), ("`x  ", "`x` "),
        ("~~no  ", "~~no~~ "), ("_a_ b  ", "_a_ b  "), ("_a_  ", "_a_  "), ("snake_case  ", "snake_case  "),
        ("2 ** 3  ", "2 ** 3  "), ("** a  ", "** a  "), ("(_a  ", "(_a_ "), ("**a _b  ", "**a _b_ "),
        ("\\_a  ", "\\_a  "), ("a  ", "a  "), ("  ", "  "),
        // ⚠ The caret ended up inside a delimiter of three characters.
        ("```x y  ", "```x y``` "), ("a ```x  ", "a ```x``` "), ("``` x  ", "``` x  "), ("```x``` y  ", "```x``` y  "),
    ]

    @Test(arguments: doubleSpaces)
    func doubleSpaceClosesDelimiters(typed: String, text: String) {
        var script = ComposerScript()
        script.type(typed)
        #expect(script.text == text)
        #expect(script.state.selection == .caret(text.utf16.count))
        if text != typed {
            script.send(.undo)
            #expect(script.text == typed, "one undo brings the two spaces back")
        }
    }

    /// SLK-31: only in the current paragraph; not on paste (SLK-37); not in code.
    @Test func doubleSpaceClosesNothingElsewhere() {
        var script = ComposerScript()
        script.send(.insert("**open\nword", origin: .paste))
        script.type("  ")
        #expect(script.text == "**open\nword  ")
        script.send(.clear)
        script.send(.insert("**a ", origin: .paste))
        script.send(.insert(" ", origin: .paste))
        #expect(script.text == "**a  ")
        script.send(.clear)
        script.send(.insert("```\n_a", origin: .paste))
        script.type("  ")
        #expect(script.text == "```\n_a  ")
    }

    /// HKW-66: no period while completing; if queries cannot contain a space, completion has closed by then.
    @Test(arguments: [(["x"], "@an  "), ([], "@an. ")])
    func doubleSpaceAddsNoPeriodWhileCompleting(names: [String], text: String) {
        var configuration = ComposerConfiguration()
        configuration.doubleSpacePeriod = true
        configuration.completion.resultsThrottle = 0
        var script = ComposerScript(configuration)
        script.type("@an")
        if let query = script.engine.completion?.openQuery {
            let entities = names.map { CompletionEntity(id: $0, name: $0) }
            script.send(.completionResults(query: query, entities, isFinal: true))
        }
        script.type("  ")
        #expect(script.text == text)
    }

    /// SLK-31, HKW-66: not after a mention.
    @Test func doubleSpaceAddsAPeriod() {
        var configuration = ComposerConfiguration()
        configuration.doubleSpacePeriod = true
        var script = ComposerScript(configuration)
        script.type("end  ")
        #expect(script.text == "end. ")
        script.send(.undo)
        #expect(script.text == "end  ")
        script.send(.clear)
        script.type("end.  ")
        #expect(script.text == "end.  ")
        script.send(.load(WrittenText("Ann", mentioning: [Mention(.custom("u"), text: "Ann")])))
        script.type("  ")
        #expect(script.text == "Ann  ")
    }

    /// SLK-30: whether a line break continues or ends the construct.
    static let breaks: [(String, String)] = [
        ("- a", "- a\n- "), ("- a\n- ", "- a\n"), ("* a", "* a\n* "), ("1. a", "1. a\n2. "), ("9) a", "9) a\n10) "),
        ("> a", "> a\n> "), (">a", ">a\n>"), ("> ", ""), ("> - a", "> - a\n> - "), ("> - ", "> "),
        ("  - a", "  - a\n  - "),
        ("- [x] a", "- [x] a\n- [ ] "), ("a", "a\n"), ("-a", "-a\n"), ("```\n- a", "```\n- a\n"),
        ("1234567890. a", "1234567890. a\n"),
    ]

    @Test(arguments: breaks)
    func lineBreakContinuesOrEndsAList(text: String, result: String) {
        var script = ComposerScript()
        script.load(text)
        script.press("Shift+Return")
        #expect(script.text == result)
        script.send(.undo)
        #expect(script.text == text)
    }

    @Test("SLK-28, SLK-30, SLK-31: no rule of Markdown applies in literal text")
    func literalTextHasNoMarkdown() {
        var script = ComposerScript()
        script.send(.load(WrittenText("- **one", syntax: .plain), selection: TextRange(location: 4, length: 3)))
        #expect(script.state.formatting == [])
        script.send(.format("Bold"))
        #expect(script.text == "- **one")
        script.send(.select(.caret(7)))
        script.type("  ")
        #expect(script.text == "- **one  ", "nothing is closed")
        script.press("Shift+Return")
        #expect(script.text == "- **one  \n", "the list does not go on")
        script.send(.load(WrittenText("- **one"), selection: TextRange(location: 4, length: 3)))
        #expect(script.state.formatting.contains("Bold"), "in Markdown they are offered")
    }

    @Test func lineBreakBeforeTheMarkerIsPlain() {
        var script = ComposerScript()
        script.load("- a", select: .caret(0))
        script.press("Shift+Return")
        #expect(script.text == "\n- a")
    }
}
