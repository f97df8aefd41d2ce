import Composer
import Testing

/// HKW-8 to HKW-15, SLK-34, SLK-35.
struct TransformTests {
    /// Text, selection, range, result, selection after, with the transform "upper case and doubled s".
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
    func transform(text: String, selection: TextRange, range: TextRange, result: String, after: TextRange) {
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

    @Test func nilDeletesAndTheSelectionIsTheDefault() {
        var script = ComposerScript()
        script.load("abc", select: TextRange(location: 1, length: 1))
        var engine = script.engine
        _ = engine.transform(at: .zero) { _ in nil }
        #expect(engine.document.text == "ac" && engine.selection == .caret(1))
        _ = engine.transform(at: .zero) { $0 + "x" }
        #expect(engine.document.text == "axc")
    }

    @Test func appendingGoesToTheEnd() {
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

    /// HKW-13, HKW-15: a style for what is typed next; ⚠ switching it off did nothing.
    @Test func stickyStyles() {
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
    @Test func stylesAreSetAndTakenBySelection() {
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

    /// HKW-10, HKW-64: what is typed after a mention never becomes part of it.
    @Test func mentionsDoNotBleed() {
        var script = ComposerScript()
        let mention = ComposerContent.PlacedMention(
            mention: Mention(entityID: "u", text: "Ann"), range: TextRange(location: 0, length: 3))
        script.send(.load(ComposerContent(text: "Ann", mentions: [mention])))
        script.type("e")
        #expect(script.engine.document.mentions.map(\.range) == [TextRange(location: 0, length: 3)])
        script.send(.deleteBackward(byWord: false))
        script.send(.insert("\u{301}", origin: .typed))
        #expect(script.engine.document.mentions.isEmpty, "the mark changes the name's last letter")
    }

    /// HKW-67: a mention must cover exactly its text.
    @Test(arguments: [(0, 3, 1), (0, 2, 0), (1, 3, 0), (0, 9, 0), (-1, 3, 0), (3, 0, 0)])
    func onlyFittingMentionsAreLoaded(location: Int, length: Int, count: Int) {
        let placed = ComposerContent.PlacedMention(
            mention: Mention(entityID: "u", text: "Ann"), range: TextRange(location: location, length: length))
        #expect(ComposerContent(text: "Ann Lee", mentions: [placed, placed]).document.mentions.count == count)
    }
}
