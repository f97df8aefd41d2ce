import Composer
import Testing

/// What opens completion and with which query: SLK-17 to SLK-21, SLK-66, HKW-37, HKW-69, MIB-23 to MIB-25.
struct CompletionTokenTests {
    struct Token: Equatable, CustomStringConvertible {
        var prefix: String
        var query: String
        var range: TextRange
        var description: String { "\(prefix)·\(query)·\(range.location),\(range.length)" }

        init(_ prefix: String, _ query: String, _ location: Int, _ length: Int) {
            self.prefix = prefix
            self.query = query
            range = TextRange(location: location, length: length)
        }

        init?(_ state: CompletionState?) {
            guard let state else { return nil }
            self.init(state.prefix, state.query, state.range.location, state.range.length)
        }
    }

    /// Typed text, resulting token.
    static let typed: [(String, Token?)] = [
        ("@", Token("@", "", 0, 1)), ("@jo", Token("@", "jo", 0, 3)), ("hi @jo", Token("@", "jo", 3, 3)),
        ("a\n@jo", Token("@", "jo", 2, 3)), ("(@jo", Token("@", "jo", 1, 3)), ("“@jo", Token("@", "jo", 1, 3)),
        ("\"@jo", Token("@", "jo", 1, 3)), ("«@jo", Token("@", "jo", 1, 3)), ("a@jo", nil), ("7@jo", nil),
        ("é@jo", nil), ("-@jo", nil), (")@jo", nil), ("#", Token("#", "", 0, 1)), ("#x", Token("#", "x", 0, 2)),
        (":a", nil), (":sm", Token(":", "sm", 0, 3)), ("/", Token("/", "", 0, 1)), ("/jo", Token("/", "jo", 0, 3)),
        ("a /jo", nil), ("a\n/jo", nil), ("/usr/bin", nil), ("@a@b", nil), (":smile:", nil), ("@ ", nil), ("@jo ", nil),
        ("@jo\n", nil), ("@a #b", Token("#", "b", 3, 2)), ("@Ünï", Token("@", "Ünï", 0, 4)),
        ("@李", Token("@", "李", 0, 2)), ("@مر", Token("@", "مر", 0, 3)), ("@👩‍💻", Token("@", "👩‍💻", 0, 6)),
        ("@\u{301}", nil), ("@" + String(repeating: "x", count: 61), nil),
    ]

    @Test(arguments: typed)
    func typingOpensCompletion(text: String, token: Token?) {
        var script = ComposerScript()
        script.type(text)
        #expect(Token(script.completion) == token)
    }

    /// Never inside an email address or a URL, and never on an emoticon, whatever the boundary.
    @Test(
        arguments: [
            "me@example.com", "x_@jo", "https://a.org/@jo", "https://a.org/#jo", "www.a.org/(@jo", "mailto:(@jo",
            ":)", ":-)", ":-P", ":'(", ":/", ":|", ":*", ":D", ":3", "10:30", "std::vec",
        ], CompletionBoundary.allCases)
    func addressesAndEmoticonsOpenNothing(text: String, boundary: CompletionBoundary) {
        guard boundary != .anywhere || !text.contains("0") && !text.contains("std") else { return }
        var script = ComposerScript(
            .completing {
                $0.boundary = boundary
                $0.rules = [
                    CompletionRule(prefix: "@"), CompletionRule(prefix: "#"), CompletionRule(prefix: ":", minQuery: 1),
                ]
            })
        var opened: [String] = []
        for character in text {
            script.type(String(character))
            if let completion = script.completion { opened.append(completion.prefix + completion.query) }
        }
        #expect(opened.allSatisfy { $0 == ":'" } || opened.isEmpty, "\(opened)")
        #expect(script.completion == nil)
    }

    @Test(arguments: [":+1", ":-1", ":_x", ":smi", ":3d"])
    func shortcodesAreNotEmoticons(text: String) {
        var script = ComposerScript()
        script.type(text)
        #expect(script.completion?.prefix == ":")
    }

    /// Character before the prefix, boundaries that accept it.
    static let boundaries: [(String, Set<CompletionBoundary>)] = [
        ("", Set(CompletionBoundary.allCases)), (" ", Set(CompletionBoundary.allCases)),
        ("\n", Set(CompletionBoundary.allCases)), ("(", [.openPunctuation, .punctuation, .notAlphanumeric, .anywhere]),
        ("-", [.punctuation, .notAlphanumeric, .anywhere]), ("🎉", [.notAlphanumeric, .anywhere]),
        ("$", [.notAlphanumeric, .anywhere]), ("a", [.anywhere]), ("5", [.anywhere]),
    ]

    @Test(arguments: boundaries, CompletionBoundary.allCases)
    func boundariesDetermineWherePrefixesOpen(row: (String, Set<CompletionBoundary>), boundary: CompletionBoundary) {
        var script = ComposerScript(.completing { $0.boundary = boundary })
        script.type(row.0 + "#")
        #expect((script.completion != nil) == row.1.contains(boundary))
    }

    /// A rule's own boundary, minimum length, position, and spaces; of several matching prefixes, the longest wins.
    static let ruleTable: [(CompletionRule, String, Bool)] = [
        (CompletionRule(prefix: "+:", minQuery: 2), "a +:sm", true),
        (CompletionRule(prefix: "+:", minQuery: 2), "a +:s", false),
        (CompletionRule(prefix: "👍", boundary: .anywhere), "a👍x", true),
        (CompletionRule(prefix: "👍"), "a👍x", false),
        (CompletionRule(prefix: "//", position: .start), "//x", true),
        (CompletionRule(prefix: "//", position: .start), " //x", false),
        (CompletionRule(prefix: ""), "x", false),
    ]

    @Test(arguments: ruleTable)
    func rulesDetermineWhenPrefixesOpen(rule: CompletionRule, text: String, opens: Bool) {
        var script = ComposerScript(.completing { $0.rules = [CompletionRule(prefix: ":", minQuery: 3), rule] })
        script.type(text)
        #expect(script.completion?.prefix == (opens ? rule.prefix : nil))
    }

    /// Query extent, text with the caret, token after moving the caret there: SLK-18, SLK-20, HKW-54.
    static let extents: [(QueryExtent, String, Token?)] = [
        (.caret, "hi @jo|hn x", Token("@", "jo", 3, 5)), (.caret, "@jo|, x", Token("@", "jo", 0, 3)),
        (.caret, "@|john", Token("@", "", 0, 5)), (.caret, "|@john", nil), (.caret, "@john |", nil),
        (.word, "hi @jo|hn x", Token("@", "john", 3, 5)), (.word, "@|john", Token("@", "john", 0, 5)),
        (.word, "|@john", nil), (.typed, "hi @jo|hn", nil),
    ]

    @Test(arguments: extents)
    func movingTheCaretOpensCompletion(extent: QueryExtent, marked: String, token: Token?) {
        let caret = marked.split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)[0].utf16.count
        for start in [0, marked.utf16.count - 1] where start != caret {
            var script = ComposerScript("", .completing { $0.queryExtent = extent })
            script.load(marked.replacing("|", with: ""), select: .caret(start))
            script.send(.select(.caret(caret)))
            #expect(Token(script.completion) == token)
        }
    }

    /// HKW-37: typing a prefix directly before a word makes that word the query.
    @Test func prefixIncludesTheFollowingWord() {
        var script = ComposerScript("|ann", .preset(.hakawai))
        script.type("@")
        #expect(Token(script.completion) == Token("@", "ann", 0, 4))
    }

    /// Nothing opens on paste, restored or loaded text, undo, or caret movement without focus.
    static let otherEvents: [[ComposerEvent]] = [
        [.paste([.text("@jo")])], [.load(WrittenText("@jo"))],
        [.load(WrittenText("@jo")), .focus(true)], [.insert("@jo", origin: .code)],
        [.insert("@jo", origin: .paste)], [.insert("@jo", origin: .code), .clear, .undo],
        [.load(WrittenText("@jo x")), .select(.caret(3))],
        [.startEdit(id: "m", WrittenText("@jo"))],
        [.focus(true), .load(WrittenText("@jo x")), .select(TextRange(location: 1, length: 2))],
        [.preedit("@jo")],
    ]

    @Test(arguments: otherEvents)
    func otherEventsDoNotOpenCompletion(events: [ComposerEvent]) {
        var script = ComposerScript()
        for event in events { script.send(event) }
        #expect(script.completion == nil && script.queries.isEmpty)
    }

    @Test func restoredDraftsDoNotOpenCompletion() {
        var script = ComposerScript()
        script.load("@jo")
        let draft = script.engine.makeDraft()
        var other = ComposerEngine()
        _ = other.handle(.focus(true), at: .zero)
        _ = other.restore(draft)
        #expect(other.document.text == "@jo" && other.completion == nil)
    }

    /// Typing within a pasted token opens completion; so do input methods and dictation (HKW-38).
    static let openingEvents: [[ComposerEvent]] = [
        [.paste([.text("@j")]), .insert("o", origin: .typed)], [.preedit("@"), .commit("@jo")],
        [.insert("@jo", origin: .dictation)], [.load(WrittenText("@jox")), .deleteBackward(byWord: false)],
        [.load(WrittenText("@jo ")), .deleteBackward(byWord: false)],
    ]

    @Test(arguments: openingEvents)
    func userEditsOpenCompletion(events: [ComposerEvent]) {
        var script = ComposerScript()
        for event in events { script.send(event) }
        #expect(Token(script.completion) == Token("@", "jo", 0, 3))
    }

    /// A button inserts the prefix, after a space if needed, and ignores the minimum length (SLK-25, MIB-35).
    static let buttons: [(String, String, String, Bool)] = [
        ("|", "@", "@|", true), ("hi|", "@", "hi @|", true), ("hi |", "@", "hi @|", true), ("(|)", "@", "(@|)", true),
        ("a|b", "#", "a #|b", true), ("|", ":", ":|", true), ("@jo|", "@", "@jo|", true), ("|x", "/", "/|x", true),
        ("x|", "/", "x|", false), ("|", "&", "|", false),
    ]

    @Test(arguments: buttons)
    func buttonOpensCompletion(before: String, prefix: String, after: String, opens: Bool) {
        var script = ComposerScript(before)
        script.send(.complete(prefix))
        #expect(script.marked == after)
        #expect((script.completion?.prefix == prefix) == opens)
        #expect(script.effects.contains(.rejected(.completion(prefix))) == !opens)
    }

    @Test func buttonRequestsTheFocus() {
        var script = ComposerScript()
        script.send(.complete("@"))
        #expect(script.effects.contains(.focusRequested(true)))
        script.type("j")
        #expect(script.completion?.query == "j")
    }

    /// Escape closes completion, which stays closed until the caret leaves the token (HKW-42, HKW-45).
    @Test func escapeClosesCompletionForTheToken() {
        var script = ComposerScript("")
        script.type("a @jo")
        script.press("Escape")
        #expect(script.completion == nil && script.effects.contains(.keyHandled) && script.state.isFocused)
        script.type("h")
        script.send(.deleteBackward(byWord: false))
        script.send(.select(.caret(4)))
        #expect(script.completion == nil)
        script.send(.select(.caret(1)))
        script.send(.select(.caret(4)))
        #expect(Token(script.completion) == Token("@", "j", 2, 3), "the caret had left it")
        script.send(.cancelCompletion)
        script.change { engine in
            _ = engine.transform(TextRange(location: 0, length: 1), at: .zero) { _ in "xxx" }
        }
        script.send(.select(.caret(5)))
        #expect(script.completion == nil, "text before it moves the token")
        script.type(" @")
        #expect(script.completion != nil, "another token")
    }

    /// Prefixes may be removed at any time (SLK-17).
    @Test func rulesCanBeRemovedWhileCompleting() {
        var engine = ComposerEngine()
        _ = engine.handle(.insert("@", origin: .typed), at: .zero)
        _ = engine.reconfigure(.completing { $0.rules = [] })
        #expect(engine.completion == nil)
    }
}
