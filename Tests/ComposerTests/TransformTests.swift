import Composer
import Testing

/// HKW-8 to HKW-15, SLK-34, SLK-35.
struct TransformTests {
    /// Text, selection, range, result, selection after; the transform uppercases and doubles every "s".
    static let rows: [(String, TextRange, TextRange, String, TextRange)] = [
        ("abc", .caret(1), TextRange(location: 0, length: 3), "ABC", .caret(1)),
        ("abc", .caret(3), TextRange(location: 0, length: 2), "ABc", .caret(3)),
        ("aßc", .caret(3), TextRange(location: 1, length: 1), "aSSc", .caret(4)),
        (
            "aßc", TextRange(location: 0, length: 3), TextRange(location: 1, length: 1), "aSSc",
            TextRange(location: 0, length: 4)
        ),
        ("abc", .caret(0), TextRange(location: 1, length: .max), "aBC", .caret(0)),
        ("abc", .caret(0), TextRange(location: 4, length: 1), "abc", .caret(0)),
        ("abc", .caret(0), TextRange(location: -1, length: 1), "abc", .caret(0)),
    ]

    @Test(arguments: rows)
    func transformAppliesToTheRange(
        text: String, selection: TextRange, range: TextRange, result: String, after: TextRange
    ) {
        var script = ComposerScript()
        script.load(text, select: selection)
        var engine = script.engine
        _ = engine.transform(range, at: .zero) { $0.uppercased() }
        #expect(engine.document.text == result)
        #expect(engine.selection == after)
        guard result != text else { return }
        _ = engine.handle(.undo, at: .zero)
        #expect(engine.document.text == text && engine.selection == selection)
    }

    @Test func transformToNilDeletesTheSelection() {
        var script = ComposerScript()
        script.load("abc", select: TextRange(location: 1, length: 1))
        var engine = script.engine
        _ = engine.transform(at: .zero) { _ in nil }
        #expect(engine.document.text == "ac" && engine.selection == .caret(1))
        _ = engine.transform(at: .zero) { $0 + "x" }
        #expect(engine.document.text == "axc")
    }

    @Test func appendInsertsAtTheEnd() {
        var script = ComposerScript()
        script.load("abc", select: .caret(0))
        var engine = script.engine
        _ = engine.append("d", at: .zero)
        #expect(engine.document.text == "abcd" && engine.selection == .caret(4))
        #expect(engine.append("", at: .zero).isEmpty)
    }

    private func styled(_ script: ComposerScript) -> [TextRange] {
        script.engine.document.spans.filter { $0.style == .bold }.map(\.range)
    }

    /// HKW-13, HKW-15: a style for subsequent typing; ⚠ turning it off had no effect.
    @Test func typingStylesApplyToSubsequentText() {
        var script = ComposerScript()
        script.type("a")
        script.send(.setStyle(.bold, true))
        script.type("bc")
        #expect(styled(script) == [TextRange(location: 1, length: 2)])
        #expect(script.state.typingStyles == [.bold])
        script.send(.setStyle(.bold, false))
        script.type("d")
        #expect(styled(script) == [TextRange(location: 1, length: 2)])
        script.send(.select(.caret(2)))
        script.type("x")
        #expect(styled(script) == [TextRange(location: 1, length: 3)], "text takes the style it is typed in")
    }

    /// HKW-14, SLK-35.
    @Test func stylesAreSetAndRemovedOnTheSelection() {
        var script = ComposerScript()
        script.load("abcdef", select: TextRange(location: 1, length: 4))
        script.send(.setStyle(.bold, true))
        script.send(.select(TextRange(location: 2, length: 1)))
        script.send(.setStyle(.bold, false))
        #expect(styled(script) == [TextRange(location: 1, length: 1), TextRange(location: 3, length: 2)])
        script.send(.undo)
        #expect(styled(script) == [TextRange(location: 1, length: 4)])
        script.send(.select(TextRange(location: 0, length: 6)))
        script.send(.clearStyles)
        #expect(styled(script) == [])
    }

    /// HKW-16: which styles are set, and which continue when typing; of two styles of one kind, the last wins.
    @Test func lastStyleOfAKindWins() {
        var script = ComposerScript()
        script.load("abcdef", select: TextRange(location: 0, length: 6))
        script.send(.setStyle(.foreground("#FF0000"), true))
        script.send(.setStyle(.bold, true))
        script.send(.select(TextRange(location: 2, length: 2)))
        script.send(.setStyle(.foreground("#0000FF"), true))
        let spans = script.engine.document.spans
        func ranges(_ style: TextStyle) -> [Int] { spans.filter { $0.style == style }.map(\.range.location) }
        #expect(ranges(.foreground("#FF0000")) == [0, 4] && ranges(.foreground("#0000FF")) == [2])
        #expect(ranges(.bold) == [0])
        script.send(.select(.caret(6)))
        script.send(.setStyle(.foreground("#00FF00"), true))
        #expect(script.state.typingStyles == [.bold, .foreground("#00FF00")])
        script.send(.undo)
        #expect(Set<TextStyle>(lastOfEachKind: [.scale(2), .bold, .scale(3)]) == [.bold, .scale(3)])
        #expect(Set<TextStyle>(lastOfEachKind: [.named("a"), .named("b")]).count == 2)
    }

    /// HKW-3: a change of style alone is reported too, but only if something changed.
    @Test func styleChangesAreReported() {
        var script = ComposerScript()
        script.load("ab", select: TextRange(location: 0, length: 2))
        for (event, isReported) in [
            (ComposerEvent.setStyle(.bold, true), true), (.setStyle(.bold, true), false), (.clearStyles, true),
            (.clearStyles, false),
        ] {
            script.send(event)
            #expect(script.effects.contains(.observed(.stylesChanged)) == isReported)
        }
    }

    /// HKW-12: the text after code deletes a range of "a👍🏽bc"; invalid ranges are clamped.
    @Test(arguments: [
        (1, 4, "abc"), (1, 5, "ac"), (2, 1, "a👍🏽bc"), (0, 99, ""), (7, 3, "a👍🏽bc"), (-3, 2, "a👍🏽bc"),
        (3, 3, "ac"), (Int.max, Int.max, "a👍🏽bc"), (0, 0, "a👍🏽bc"),
    ])
    func invalidRangesAreClamped(location: Int, length: Int, result: String) {
        var script = ComposerScript()
        script.load("a👍🏽bc")
        script.send(.edit(TextRange(location: location, length: length), replacement: "", origin: .code))
        #expect(script.text == result)
    }

    /// HKW-9: a transform without a range applies to the selection, which stays selected.
    @Test func transformDefaultsToTheSelection() {
        var script = ComposerScript()
        script.load("one two", select: TextRange(location: 4, length: 3))
        script.change { _ = $0.transform(at: .zero) { $0.uppercased() + "!" } }
        #expect(script.text == "one TWO!" && script.state.selection == TextRange(location: 4, length: 4))
        script.send(.select(.caret(0)))
        script.change { _ = $0.transform(at: .zero) { _ in "> " } }
        #expect(script.text == "> one TWO!")
    }

    /// HKW-10, HKW-64: text typed after a mention never becomes part of it.
    @Test func textAfterAMentionStaysOutsideIt() {
        var script = ComposerScript()
        script.send(.load(WrittenText("Ann", mentioning: [Mention(.custom("u"), text: "Ann")])))
        script.type("e")
        #expect(script.engine.document.mentions.map(\.range) == [TextRange(location: 0, length: 3)])
        script.send(.deleteBackward(byWord: false))
        script.send(.insert("\u{301}", origin: .typed))
        #expect(script.engine.document.mentions.isEmpty, "the mark changes the name's last letter")
    }

    /// HKW-67: a mention needs a non-empty range within the text, and mentions do not overlap.
    @Test(arguments: [(0, 3, true), (0, 9, false), (-1, 3, false), (3, 0, false)])
    func onlyValidMentionsAreAccepted(location: Int, length: Int, fits: Bool) {
        let mark = WrittenText.Mark(.mention(.member("u")), over: TextRange(location: location, length: length))
        #expect((WrittenText("Ann Lee", marks: [mark]) != nil) == fits)
        #expect(WrittenText("Ann Lee", marks: [mark, mark]) == nil)
    }
}
