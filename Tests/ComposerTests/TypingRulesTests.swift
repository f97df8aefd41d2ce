import Testing

@testable import Composer

/// The rules in isolation: they return the edits to a text without applying them.
struct TypingRulesTests {
    private static func rules(_ text: String, _ change: (inout ComposerConfiguration) -> Void = { _ in }) -> TypingRules
    {
        var configuration = ComposerConfiguration()
        change(&configuration)
        return TypingRules(configuration: configuration, document: ComposerDocument(text))
    }

    @Test(
        "A line break continues a list, and ends it on an empty item",
        arguments: [("- one", "\n- ", 5), ("> one", "\n> ", 5), ("one", "\n", 3), ("- ", "", 0)])
    func lineBreakContinuesOrEndsAList(text: String, replacement: String, location: Int) {
        let edit = Self.rules(text).lineBreak(over: .caret(text.utf16.count))
        #expect(edit.replacement == replacement && edit.range.location == location)
    }

    @Test("A second space closes a delimiter, or ends a sentence where that is configured")
    func doubleSpaceClosesADelimiter() throws {
        let closing = try #require(Self.rules("**bold  ").doubleSpace(before: 8, isCompleting: false))
        #expect(closing.edits == [TextEdit(range: TextRange(location: 6, length: 2), replacement: "** ")])
        #expect(Self.rules("word  ").doubleSpace(before: 6, isCompleting: false) == nil)
        let periods = Self.rules("word  ") { $0.doubleSpacePeriod = true }
        #expect(periods.doubleSpace(before: 6, isCompleting: false)?.edits.first?.replacement == ". ")
        #expect(periods.doubleSpace(before: 6, isCompleting: true) == nil, "a query may contain spaces")
    }

    @Test("Toggling a pair twice changes nothing")
    func togglingTwiceChangesNothing() throws {
        let bold = try #require(ComposerConfiguration().markdownRule(named: "Bold"))
        let plain = MarkdownFormatting(
            document: ComposerDocument("word"), selection: TextRange(location: 0, length: 4))
        let change = try #require(plain.toggling(bold))
        #expect(change.edits.map(\.range) == [.caret(4), .caret(0)] && change.addedLength == 4)
        #expect(change.selection == TextRange(location: 2, length: 4))
        let wrapped = MarkdownFormatting(
            document: ComposerDocument("**word**"), selection: TextRange(location: 2, length: 4))
        #expect(wrapped.toggling(bold)?.addedLength == -4)
    }

    @Test("MCV-9: a hard limit keeps the start of the text, and shortening is always allowed")
    func hardLimitKeepsTheStartOfTheText() {
        var configuration = ComposerConfiguration()
        configuration.characterLimit = 5
        configuration.limitPolicy = .hard
        let document = ComposerDocument("abc")
        let cut = configuration.fitting("defg", over: .caret(3), in: document)
        #expect(cut.text == "de" && cut.rejected == 2)
        let whole = configuration.fitting("👍🏽x", over: .caret(3), in: document)
        #expect(whole.text == "👍🏽x" && whole.rejected == 0)
        let long = ComposerDocument("abcdefgh")
        let shorter = configuration.fitting("x", over: TextRange(location: 0, length: 2), in: long)
        #expect(shorter.text == "x" && shorter.rejected == 0)
        #expect(configuration.fitsLimit(adding: 2, to: document) && !configuration.fitsLimit(adding: 3, to: document))
    }

    @Test("Backspace after a mention highlights it, then shortens it; deleting inside removes all of it")
    func backspaceHighlightsThenShortensAMention() throws {
        var document = ComposerDocument("Ann Lee")
        let mention = Mention(.member("@ann"), text: "Ann Lee", short: "Ann")
        let added = document.addMention(mention, over: TextRange(location: 0, length: 7))
        let span = try #require(added)
        let deletion = MentionDeletion(document: document, options: CompletionOptions())
        #expect(deletion.step(at: 7, backward: true, byWord: false, highlighted: nil) == .highlight(span.id))
        let step = deletion.step(at: 7, backward: true, byWord: false, highlighted: span.id)
        guard case .replace(let shortened)? = step else {
            Issue.record("not shortened")
            return
        }
        #expect(shortened.text == "Ann" && shortened.staysHighlighted && shortened.change.selection == .caret(3))
        #expect(deletion.step(at: 7, backward: false, byWord: false, highlighted: nil) == nil)
        #expect(deletion.replacement(deleting: TextRange(location: 5, length: 1)) == nil, "it becomes text")
    }
}
