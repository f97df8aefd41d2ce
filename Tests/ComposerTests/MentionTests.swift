import Composer
import Testing

/// HKW-55 to HKW-61, HKW-67, MIB-30, MIB-31.
struct MentionTests {
    /// "hi @Ann Lee!" with a mention over the name and the caret after it.
    private static func script(_ change: (inout CompletionOptions) -> Void = { _ in }) -> ComposerScript {
        var script = ComposerScript(.completing(.parlance, change))
        let mention = Mention(.custom("u"), text: "@Ann Lee", short: "@A.")
        script.send(
            .load(
                WrittenText("hi @Ann Lee!", mentioning: [mention]), selection: .caret(11)))
        return script
    }

    /// Behavior, trimming, text after each Backspace from the end of the mention.
    static let backspaces: [(MentionBackspace, MentionTrim, [String])] = [
        (.highlightTrimDelete, .short, ["hi @Ann Lee!", "hi @A.!", "hi !", "hi!"]),
        (.highlightTrimDelete, .firstWord, ["hi @Ann Lee!", "hi @Ann!", "hi !"]),
        (.highlightTrimDelete, .none, ["hi @Ann Lee!", "hi !", "hi!"]),
        (.trimOrDelete, .short, ["hi @A.!", "hi !", "hi!"]), (.trimOrDelete, .none, ["hi !", "hi!"]),
        (.byParts, .short, ["hi @Ann!", "hi !", "hi!"]), (.whole, .short, ["hi !", "hi!"]),
    ]

    @Test(arguments: backspaces)
    func backspaceShortensOrDeletesAMention(behaviour: MentionBackspace, trim: MentionTrim, texts: [String]) {
        var script = Self.script {
            $0.mentionBackspace = behaviour
            $0.mentionTrim = trim
        }
        let before = script.text
        for text in texts {
            script.send(.deleteBackward(byWord: false))
            #expect(script.text == text)
            let mention = script.engine.document.mentions.first
            #expect((mention != nil) == text.contains("@"))
            #expect(mention?.mention?.entityID ?? "u" == "u")
        }
        for _ in texts { script.send(.undo) }
        #expect([before, ""].contains(script.text))
        #expect(script.engine.document.mentions.count == (script.text.isEmpty ? 0 : 1))
    }

    /// Highlighted if the caret is inside, not at the edges; also after one Backspace at the end (HKW-56).
    static let highlights: [([ComposerEvent], Bool)] = [
        ([], false), ([.select(.caret(3))], false), ([.select(.caret(4))], true), ([.select(.caret(10))], true),
        ([.select(TextRange(location: 4, length: 2))], false), ([.deleteBackward(byWord: false)], true),
        ([.deleteBackward(byWord: false), .select(.caret(0))], false),
        ([.deleteBackward(byWord: false), .insert("x", origin: .typed)], false),
        ([.deleteBackward(byWord: false), .select(.caret(5))], true),
        ([.deleteBackward(byWord: false), .insert("x", origin: .paste)], false),
        ([.deleteBackward(byWord: false), .deleteBackward(byWord: false)], true),
        (
            [
                .deleteBackward(byWord: false),
                .addMention(Mention(.custom("v"), text: "Ann"), over: TextRange(location: 4, length: 3)),
            ], false
        ),
    ]

    @Test(arguments: highlights)
    func adjacentDeletionHighlightsAMention(events: [ComposerEvent], isHighlighted: Bool) {
        var script = Self.script()
        for event in events { script.send(event) }
        #expect((script.state.highlightedMention != nil) == isHighlighted)
        if isHighlighted { #expect(script.state.highlightedMention == script.engine.document.mentions.first?.id) }
    }

    /// HKW-55: the plug-in's state table, from after the mention (about to select) or inside it (selected).
    static let transitions: [(Int, ComposerEvent, String, mentions: Int, highlighted: Bool)] = [
        (12, .deleteBackward(byWord: false), "hi @Ann Lee", 1, false),
        (11, .deleteBackward(byWord: false), "hi @Ann Lee!", 1, true),
        (11, .insert("x", origin: .typed), "hi @Ann Leex!", 1, false),
        (11, .insert("x", origin: .paste), "hi @Ann Leex!", 1, false),
        (6, .deleteBackward(byWord: false), "hi @A.!", 1, true),
        (6, .insert("x", origin: .typed), "hi @Anxn Lee!", 0, false),
        (6, .insert("xy", origin: .paste), "hi @Anxyn Lee!", 0, false),
        (6, .select(.caret(5)), "hi @Ann Lee!", 1, true),
        (6, .select(.caret(11)), "hi @Ann Lee!", 1, false), (6, .select(.caret(0)), "hi @Ann Lee!", 1, false),
        (6, .select(TextRange(location: 5, length: 2)), "hi @Ann Lee!", 1, false),
        (3, .deleteForward(byWord: false), "hi @Ann Lee!", 1, false),
        (11, .deleteBackward(byWord: true), "hi !", 0, false),
        (6, .deleteBackward(byWord: true), "hi !", 0, false), (3, .deleteForward(byWord: true), "hi !", 0, false),
        (3, .deleteBackward(byWord: false), "hi@Ann Lee!", 1, false),
    ]

    @Test(arguments: transitions)
    func editsKeepHighlightOrRemoveMentions(
        caret: Int, event: ComposerEvent, text: String, mentions: Int, highlighted: Bool
    ) {
        var script = Self.script()
        script.send(.select(.caret(caret)))
        script.send(event)
        #expect(script.text == text && script.engine.document.mentions.count == mentions)
        let armsForward = if case .deleteForward(false) = event { true } else { false }
        #expect((script.state.highlightedMention != nil) == (highlighted || armsForward))
    }

    /// HKW-59: deleted range, behavior, resulting text. A mention that is crossed is removed or leaves its short form.
    static let deletions: [(Int, Int, MentionBackspace, String)] = [
        (0, 6, .highlightTrimDelete, "!"), (8, 4, .highlightTrimDelete, "hi "), (3, 8, .highlightTrimDelete, "hi !"),
        (4, 3, .highlightTrimDelete, "hi @ Lee!"), (0, 6, .trimOrDelete, "@A.!"), (8, 4, .trimOrDelete, "hi @A."),
        (4, 3, .trimOrDelete, "hi @A.!"), (3, 8, .trimOrDelete, "hi !"), (2, 10, .trimOrDelete, "hi"),
        (0, 3, .trimOrDelete, "@Ann Lee!"),
    ]

    @Test(arguments: deletions)
    func partialDeletionsAreExtendedToWholeMentions(
        location: Int, length: Int, behaviour: MentionBackspace, text: String
    ) {
        let range = TextRange(location: location, length: length)
        for bySelection in [true, false] {
            var script = Self.script { $0.mentionBackspace = behaviour }
            let before = script.engine.document
            if bySelection {
                script.send(.select(range))
                script.send(.deleteBackward(byWord: false))
            } else {
                script.send(.edit(range, replacement: "", origin: .typed))
            }
            #expect(script.text == text)
            script.send(.undo)
            #expect(script.engine.document == before, "one undo step")
        }
    }

    /// Two adjacent mentions stay separate, even if they mention the same entity (HKW-36).
    @Test func adjacentMentionsStaySeparate() {
        var script = ComposerScript("@|", .completing { $0.afterAccept = .nothing })
        for _ in 0..<2 { script.send(.acceptEntity(CompletionEntity(id: "u", name: "Ann"))) }
        #expect(script.text == "@AnnAnn" && script.engine.document.mentions.count == 2)
        for _ in 0..<2 { script.send(.deleteBackward(byWord: false)) }
        #expect(script.text == "@Ann" && script.engine.document.mentions.count == 1)
        #expect(script.state.highlightedMention == nil)
    }

    /// A mention added by code over "Ann Lee" of "@Ann Lee!", and whether it is accepted (HKW-67).
    @Test(arguments: [
        (3, 8, "@Ann Lee", true), (4, 7, "Ann Lee", true), (4, 3, "Ann", true), (4, 3, "Bob", false),
        (0, 0, "", false), (90, 3, "Ann", false), (4, 90, "Ann", false),
    ])
    func mentionAddedByCodeMustMatchItsText(location: Int, length: Int, text: String, fits: Bool) {
        var script = Self.script()
        let before = script.engine.document
        let mention = Mention(.custom("v"), text: text)
        script.send(.addMention(mention, over: TextRange(location: location, length: length)))
        #expect(script.engine.document.mentions.map(\.mention?.entityID) == [fits ? "v" : "u"])
        #expect(script.effects.contains(.rejected(.mention(mention))) == !fits)
        guard fits else { return }
        script.send(.undo)
        #expect(script.engine.document == before)
    }

    /// A mention survives cut, paste, undo, and a draft.
    @Test func mentionsSurviveCutPasteUndoAndDrafts() throws {
        var script = Self.script()
        let before = script.engine.document.mentions.compactMap(\.mention)
        script.send(.select(TextRange(location: 1, length: 11)))
        script.send(.cut)
        script.send(.select(.caret(0)))
        script.send(.pasteInternalClipboard)
        #expect(script.engine.document.mentions.compactMap(\.mention) == before && script.completion == nil)
        var other = ComposerEngine()
        _ = other.restore(encoded: try script.engine.makeDraft().encoded())
        #expect(other.document.mentions.compactMap(\.mention) == before)
    }
}
