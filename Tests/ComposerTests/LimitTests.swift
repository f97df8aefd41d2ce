import Composer
import Testing

struct LimitTests {
    private func configuration(_ limit: Int, _ policy: LimitPolicy, _ unit: CountUnit = .graphemes)
        -> ComposerConfiguration
    {
        var configuration = ComposerConfiguration()
        configuration.characterLimit = limit
        configuration.limitPolicy = policy
        configuration.countUnit = unit
        return configuration
    }

    /// SLK-14: style, text, label, exceeded. ⚠ The label and the limit trimmed the text differently.
    static let labels: [(CounterStyle, String, String, Bool)] = [
        (.countdownReversed, "", "5", false), (.countdownReversed, "abcdefg", "-2", true), (.plain, "abc", "3", false),
        (.split, "abc", "3/5", false), (.split, "abcde  \n", "5/5", false), (.split, "abcdef", "6/5", true),
        (.countdown, "abc", "-2", false), (.countdown, "abcdef", "1", true), (.plain, "👩‍💻e\u{301}", "2", false),
    ]

    @Test(arguments: labels)
    func counterShowsTheRemainingCharacters(style: CounterStyle, text: String, label: String, exceeded: Bool) {
        var configuration = configuration(5, .soft)
        configuration.counterStyle = style
        var script = ComposerScript(configuration)
        script.load(text)
        #expect(script.state.counter?.text == label)
        #expect(script.state.counter?.exceeded == exceeded)
        #expect(script.state.canSend == (!exceeded && !text.isEmpty))
    }

    /// SLK-14: white space at either end never counts under the soft policy, sent or not; a hard limit counts it.
    static let ends: [(LimitPolicy, Bool, String, Bool)] = [
        (.soft, true, " abc\n ", false), (.soft, false, " abc\n ", false), (.soft, false, "a b c", true),
        (.hard, false, " abc", true), (.hard, true, "abc ", true),
    ]

    @Test(arguments: ends)
    func surroundingWhiteSpaceCountsOnlyIfSent(policy: LimitPolicy, trims: Bool, text: String, exceeded: Bool) {
        var configuration = configuration(3, policy, .utf16)
        configuration.trimsSentText = trims
        var script = ComposerScript(configuration)
        script.load(text)
        #expect(script.state.counter?.exceeded == exceeded && script.state.canSend == !exceeded)
    }

    @Test func softLimitOnlyPreventsSending() {
        var script = ComposerScript(configuration(3, .soft))
        script.send(.insert("abcdef", origin: .paste))
        #expect(script.text == "abcdef")
        #expect(script.effects.contains(.observed(.limitExceeded)))
        script.send(.send)
        #expect(script.sent.isEmpty && script.effects.contains(.rejected(.overLimit)))
        script.send(.deleteBackward(byWord: true))
        #expect(script.effects.contains(.observed(.limitMet)))
    }

    /// MCV-9: as much as fits is inserted, and the rest is reported.
    @Test func hardLimitInsertsWhatFits() {
        var script = ComposerScript(configuration(5, .hard))
        script.type("abc")
        script.send(.insert("d👍🏽fg", origin: .paste))
        #expect(script.text == "abcd👍🏽")
        #expect(script.effects.contains(.rejected(.limit(rejected: 2))))
        script.type("x")
        #expect(script.text == "abcd👍🏽")
        script.send(.select(TextRange(location: 0, length: 2)))
        script.send(.insert("wxyz", origin: .paste))
        #expect(script.text == "wxcd👍🏽")
    }

    @Test func hardLimitInUTF16NeverSplitsACluster() {
        var script = ComposerScript(configuration(5, .hard, .utf16))
        script.send(.insert("👍👍👍", origin: .paste))
        #expect(script.text == "👍👍")
        #expect(script.effects.contains(.rejected(.limit(rejected: 2))))
    }

    /// ⚠ MCV-9: after code set a text over the limit, even deleting was impossible.
    @Test func textOverAHardLimitCanBeShortened() {
        var script = ComposerScript(configuration(3, .hard))
        script.load("abcdefgh")
        script.send(.deleteBackward(byWord: false))
        #expect(script.text == "abcdefg")
        script.send(.edit(TextRange(location: 0, length: 5), replacement: "xy", origin: .typed))
        #expect(script.text == "xyfg")
        script.type("z")
        #expect(script.text == "xyfg")
    }

    /// MCV-9: preedit text does not count.
    @Test func preeditDoesNotCount() {
        var script = ComposerScript(configuration(2, .hard))
        script.type("ab")
        script.send(.preedit("にほん"))
        #expect(script.state.counter?.text == "0")
        script.send(.commit("日本"))
        #expect(script.text == "ab" && script.state.preedit == "")
        #expect(script.effects.contains(.rejected(.limit(rejected: 2))))
    }

    /// Every edit at the ends updates the count of the trimmed text.
    @Test func trimmedWhiteSpaceDoesNotCount() {
        var script = ComposerScript(configuration(100, .soft))
        script.load("\n \r\n👩‍💻e\u{301}x \n ")
        #expect(script.state.counter?.text == "97")
        script.type("y")
        #expect(script.state.counter?.text == "93")
        script.load(" \n ")
        #expect(script.state.counter?.text == "100")
    }

    /// Bytes, as servers count them, updated incrementally instead of reading the whole text.
    @Test(arguments: [LimitPolicy.soft, .hard])
    func bytesAreCounted(policy: LimitPolicy) {
        var configuration = ComposerConfiguration()
        configuration.characterLimit = 8
        configuration.countUnit = .utf8
        configuration.limitPolicy = policy
        var script = ComposerScript(configuration)
        script.type("ab👍é")
        #expect(script.state.counter?.text == "0" && script.state.canSend)
        script.type("é")
        #expect(script.state.counter?.exceeded == (policy == .soft))
        #expect(script.text == (policy == .soft ? "ab👍éé" : "ab👍é"))
        script.send(.select(.caret(0)))
        script.type("  ")
        #expect(script.state.counter?.text == (policy == .soft ? "-2" : "0"), "blanks at the ends are not sent")
    }

    /// A size that only the host can measure; text typed since the measurement counts by its raw size.
    @Test func measuredSizesCount() {
        var script = ComposerScript()
        script.type("abc")
        #expect(script.state.counter == nil)
        script.send(.measured(MeasuredSize(excess: -2, bytes: 3)))
        #expect(script.state.counter?.text == "2" && script.state.canSend)
        script.type("é!")
        #expect(script.state.counter?.exceeded == true && !script.state.canSend)
        script.press("Return")
        #expect(script.text == "abcé!" && script.effects.contains(.rejected(.overLimit)))
        script.send(.deleteBackward(byWord: false))
        #expect(script.state.counter?.text == "0" && script.state.canSend)
        script.send(.measured(nil))
        #expect(script.state.counter == nil)
    }
}
