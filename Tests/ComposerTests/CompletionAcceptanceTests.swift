import Composer
import Testing

/// SLK-24, HKW-53, HKW-54, MIB-28, and the keyboard navigation of the list.
struct CompletionAcceptanceTests {
    /// After-accept option, text with the caret in a token, text after accepting "Ann Lee".
    static let spaces: [(AfterAccept, String, String)] = [
        (.oneSpace, "hi @an|", "hi @Ann Lee |"), (.oneSpace, "@an| x", "@Ann Lee |x".replacing("|x", with: " |x")),
        (.oneSpace, "@a|nd x", "@Ann Lee |x"), (.oneSpace, "@an|\nx", "@Ann Lee |\nx"),
        (.space, "@an| x", "@Ann Lee | x"),
        (.nothing, "@an| x", "@Ann Lee| x"), (.spaceAtParagraphEnd, "@an| x", "@Ann Lee| x"),
        (.spaceAtParagraphEnd, "@an|\nx", "@Ann Lee |\nx"), (.spaceAtParagraphEnd, "@an|", "@Ann Lee |"),
    ]

    @Test(arguments: spaces)
    func acceptedNameIsFollowedByTheConfiguredSpace(after: AfterAccept, before: String, expected: String) {
        var script = ComposerScript(before, .completing { $0.afterAccept = after })
        script.send(.complete("@"))
        script.send(.acceptEntity(CompletionEntity(id: "u", name: "Ann Lee")))
        #expect(script.marked == expected.replacing("  |", with: " |"))
        #expect(script.engine.document.mentions.map(\.mention?.entityID) == ["u"])
        #expect(script.completion == nil)
        script.send(.undo)
        #expect(script.marked == before, "one undo step")
        script.send(.redo)
        #expect(script.engine.document.mentions.count == 1)
    }

    /// Whether the prefix is kept, whether a mention is created, resulting text and mention.
    static let forms: [(Bool, Bool, String, String?)] = [
        (true, true, "@Ann ", "@Ann"), (false, true, "Ann ", "Ann"), (true, false, "@Ann ", nil),
        (false, false, "Ann ", nil),
    ]

    @Test(arguments: forms)
    func prefixAndTokenAreConfigurable(keepsPrefix: Bool, leavesMention: Bool, text: String, mention: String?) {
        var script = ComposerScript(
            .completing {
                $0.keepPrefix = keepsPrefix
                $0.mentionTokens = leavesMention
            })
        script.type("@a")
        script.respond(with: ["Ann"], to: "query-1")
        script.press("Tab")
        #expect(script.text == text && script.engine.document.mentions.first?.mention?.text == mention)
    }

    @Test(
        "SLK-24: a name that begins with the prefix, such as an address, gets no other one",
        arguments: [
            ("@b", "@bob:example.org", "@bob:example.org "), ("#r", "#room:example.org", "#room:example.org "),
            ("@b", "#bob", "@#bob "),
        ])
    func prefixIsNotDoubled(typed: String, name: String, text: String) {
        var script = ComposerScript()
        script.type(typed)
        script.send(.acceptEntity(CompletionEntity(id: "u", name: name)))
        #expect(script.text == text)
        #expect(script.engine.document.mentions.first?.mention?.text == String(text.dropLast()))
        script.send(.startEdit(id: "m", WrittenText("hi ")))
        script.type(typed)
        script.send(.acceptEntity(CompletionEntity(id: "u", name: name)))
        #expect(script.text == "hi " + text)
        script.send(.undo)
        #expect(script.text == "hi " + typed)
    }

    /// A rule's template, and an entity's replacement text: an emoji instead of its name.
    @Test func templatesAndReplacements() {
        let rule = CompletionRule(prefix: "#", template: "[{name}]", mentionTokens: false)
        var script = ComposerScript(.completing { $0.rules = [rule, CompletionRule(prefix: ":")] })
        script.type("#r")
        script.send(.acceptEntity(CompletionEntity(id: "r", name: "room")))
        #expect(script.text == "[room] ")
        script.type(":s")
        script.send(.acceptEntity(CompletionEntity(id: "e", name: "smile", replacement: "😄")))
        #expect(script.text == "[room] 😄 " && script.engine.document.mentions.isEmpty)
    }

    /// HKW-53: words of the name that already precede the query are replaced too.
    @Test(arguments: [
        ("bruce wayn", "Bruce Wayne"), ("the bruce wayn", "the Bruce Wayne"), ("abruce wayn", "abruce Bruce Wayne"),
        ("wayn", "Bruce Wayne"),
    ])
    func wordsAlreadyTypedAreReplaced(typed: String, text: String) {
        var script = ComposerScript(.preset(.hakawai))
        script.type(typed)
        script.send(.acceptEntity(CompletionEntity(id: "b", name: "Bruce Wayne")))
        #expect(script.text == text)
    }

    @Test func emptyNameKeepsTheListOpen() {
        var script = ComposerScript()
        script.type("@")
        script.send(.acceptEntity(CompletionEntity(id: "u", name: "")))
        #expect(script.text == "@" && script.completion != nil)
    }

    /// MIB-28, MCV-9: an interceptor or the hard limit may reject it; then nothing changes.
    @Test func acceptanceCanBeRejected() {
        var limited = ComposerConfiguration()
        limited.characterLimit = 5
        limited.limitPolicy = .hard
        var script = ComposerScript(limited)
        script.type("@a")
        script.send(.acceptEntity(CompletionEntity(id: "u", name: "Ann Lee")))
        #expect(script.text == "@a" && script.completion != nil)
        #expect(script.effects.contains { if case .rejected(.limit) = $0 { true } else { false } })
        var denied = ComposerScript()
        denied.type("@")
        denied.change { $0.add(interceptor: Rejection(rejected: "@Ann ")) }
        denied.send(.acceptEntity(CompletionEntity(id: "u", name: "Ann")))
        #expect(denied.text == "@")
    }

    /// HKW-70: a host with a list of its own can insert an entity without a token.
    @Test func hostCanAcceptWithoutACompletionToken() {
        var script = ComposerScript("hi |")
        script.send(.acceptEntity(CompletionEntity(id: "u", name: "Ann")))
        #expect(script.text == "hi Ann " && script.engine.document.mentions.count == 1)
    }

    /// Keys pressed with three rows open, and the index of the selected row.
    static let keys: [([String], Int)] = [
        ([], 0), (["Down"], 1), (["Down", "Down", "Down"], 0), (["Up"], 2), (["End"], 2), (["End", "Home"], 0),
        (["Page_Down"], 2), (["Page_Down", "Page_Up"], 0), (["Down", "Up"], 0),
    ]

    @Test(arguments: keys, ["Tab", "Return"])
    func keysNavigateTheListAndAccept(row: ([String], Int), accept: String) {
        var script = ComposerScript()
        script.type("@")
        script.respond(with: ["A", "B", "C"])
        for key in row.0 {
            script.press(key)
            #expect(script.effects.contains(.keyHandled))
        }
        #expect(script.completion?.selected == row.1 && script.text == "@")
        script.press(accept)
        #expect(script.text == "@\(["A", "B", "C"][row.1]) " && script.sent.isEmpty)
        #expect(script.effects.contains(.keyHandled))
    }

    /// Without rows, keys keep their meaning in the text, and Escape still closes completion.
    @Test func keysWithoutRowsActOnTheText() {
        var script = ComposerScript()
        script.type("@a")
        script.press("Down")
        #expect(!script.effects.contains(.keyHandled))
        var other = script
        script.press("Return")
        #expect(script.sent.map(\.text.source) == ["@a"])
        other.send(.startEdit(id: "m", WrittenText("x ")))
        other.type("@")
        other.press("Escape")
        #expect(other.completion == nil && other.state.editing == "m", "one layer a press (SLK-45)")
    }

    @Test func pointerSelectsAndAccepts() {
        var script = ComposerScript()
        script.type("@")
        script.respond(with: ["A", "B"])
        script.send(.selectCompletion(5))
        #expect(script.completion?.selected == 0)
        script.send(.selectCompletion(1))
        script.send(.acceptCompletion(nil))
        #expect(script.text == "@B ")
    }

    /// After accepting, completion does not reopen in the same word (HKW-45).
    @Test func completionDoesNotReopenAfterAccepting() {
        var script = ComposerScript(.preset(.slack))
        script.type("@a")
        script.respond(with: ["ann"], to: "query-2")
        script.send(.acceptCompletion(0))
        #expect(script.text == "@ann")
        script.type("x")
        #expect(script.completion == nil)
    }
}
