import Composer
import Foundation
import Testing

struct ConfigurationTests {
    @Test func defaultsAreTheParlancePreset() {
        #expect(ComposerConfiguration.preset(.parlance) == ComposerConfiguration())
    }

    @Test func presetsAreDistinct() {
        let presets = ComposerConfiguration.Preset.allCases.map(ComposerConfiguration.preset)
        #expect(Set(presets).count == presets.count)
    }

    /// HKW-2: ⚠ unknown options were lost. Every option of every preset survives encoding.
    @Test(arguments: ComposerConfiguration.Preset.allCases)
    func everyOptionSurvivesARoundTrip(preset: ComposerConfiguration.Preset) throws {
        for original in [ComposerConfiguration.preset(preset), Self.allDifferent] {
            let stored = try JSONEncoder().encode(original)
            let read = try JSONDecoder().decode(ComposerConfiguration.self, from: stored)
            #expect(read == original)
            for (before, after) in zip(Mirror(reflecting: original).children, Mirror(reflecting: read).children) {
                #expect("\(before)" == "\(after)")
            }
        }
    }

    /// No option has its default value, since a lost option would go unnoticed.
    @Test func sampleConfigurationDiffersFromTheDefaults() {
        func options(_ value: Any, _ path: String = "") -> [(String, String)] {
            let children = Mirror(reflecting: value).children.map { ($0.label ?? "", $0.value) }
            let parts: [Any.Type] = [
                CompletionOptions.self, ComposerInsets.self, AttachmentLimits.self, TypingPhrases.self,
            ]
            return children.flatMap { label, child in
                parts.contains { $0 == type(of: child) }
                    ? options(child, "\(path)\(label).") : [("\(path)\(label)", "\(child)")]
            }
        }
        let usual = options(ComposerConfiguration())
        #expect(usual.count > 40)
        for (standard, other) in zip(usual, options(Self.allDifferent)) {
            #expect(standard.0 == other.0)
            #expect(standard.1 != other.1, "\(standard.0) is the default")
        }
    }

    private static let allDifferent: ComposerConfiguration = {
        var other = ComposerConfiguration()
        other.completion = CompletionOptions(
            rules: [
                CompletionRule(
                    prefix: "!", minQuery: 3, position: .start, boundary: .anywhere, spaces: 1, template: "<{name}>",
                    keepPrefix: false, mentionTokens: true)
            ], boundary: .whitespace, queryExtent: .typed, querySpaces: .max, implicitLength: 3, afterAccept: .nothing,
            keepPrefix: false, mentionTokens: false, mentionBackspace: .byParts, mentionTrim: .none,
            controlCharacters: ["＠"], continueAfterEmpty: true, resultsThrottle: 0.25, rows: 3)
        other.maxLines = .pixels(99.5)
        other.insets = ComposerInsets(textTop: 1, textBottom: 2, rowTop: 3, rowBottom: 4, bottomOffset: 6)
        other.characterLimit = 400
        other.limitPolicy = .hard
        other.countUnit = .utf16
        other.counterStyle = .split
        other.markdown = MarkdownRule.slack
        other.doubleSpaceCloses = false
        other.doubleSpacePeriod = true
        other.continuesLists = false
        other.clearsOnSend = false
        other.keepsUndoOnSend = false
        other.trimsSentText = false
        other.sendKey = .ctrlReturn
        other.undoDepth = 3
        other.typingTimeout = .milliseconds(1500)
        other.draftDelay = .zero
        other.clearsBlankOnBlur = true
        other.attachments = AttachmentLimits(count: 2, bytes: 1 << 40, pastedTypes: ["image/*"])
        other.typingPhrases = TypingPhrases(one: "{0} schreibt …", two: "{0} und {1} schreiben …", several: "Mehrere")
        return other
    }()

    /// MCV-9, SLK-14: `nil`, zero, and negative values mean no limit.
    @Test(arguments: [nil, 0, -5])
    func missingLimitMeansNoLimit(limit: Int?) {
        var configuration = ComposerConfiguration()
        configuration.characterLimit = limit
        configuration.limitPolicy = .hard
        var script = ComposerScript(configuration)
        script.type("abc")
        #expect(script.text == "abc" && script.state.counter == nil)
    }

    /// MCV-6: on blur, a text of only white space is cleared if the preset does that.
    @Test(arguments: [(ComposerConfiguration.Preset.messageComposerView, ""), (.parlance, "  ")])
    func blankTextIsClearedOnBlurIfConfigured(preset: ComposerConfiguration.Preset, text: String) {
        var script = ComposerScript(.preset(preset))
        script.send(.focus(true))
        script.send(.insert("  ", origin: .paste))
        script.send(.focus(false))
        #expect(script.text == text)
    }

    /// SLK-53: a hidden bar keeps its text and accepts no input, focus, or edits.
    @Test func hiddenBarKeepsTextAndAcceptsNoInput() {
        var script = ComposerScript()
        script.type("a")
        script.send(.focus(true))
        script.send(.hide(true))
        #expect(!script.state.isFocused && script.state.isHidden)
        for event in [
            ComposerEvent.insert("b", origin: .typed), .startEdit(id: "m", WrittenText("x")), .send,
        ] {
            script.send(event)
            #expect(script.effects.contains(.rejected(.hidden)))
        }
        script.send(.focus(true))
        #expect(script.text == "a" && !script.state.isFocused)
        script.send(.hide(false))
        #expect(script.state.canSend)
    }

    /// SLK-7: white space or a preedit hides the placeholder.
    @Test func whiteSpaceHidesThePlaceholder() {
        var script = ComposerScript()
        #expect(script.state.showsPlaceholder)
        script.type(" ")
        #expect(!script.state.showsPlaceholder)
    }

    /// Invalid numbers and texts never crash the composer.
    @Test func invalidInputNeverCrashes() {
        var script = ComposerScript()
        script.load("a\u{0}b" + String(repeating: "\n", count: 500) + "\u{202E}\u{378}")
        #expect(script.text.hasPrefix("ab\n"))
        for location in [Int.min, -1, 0, 1, 10_000, .max] {
            for length in [Int.min, -1, 0, 3, .max] {
                let range = TextRange(location: location, length: length)
                script.send(.select(range))
                script.send(.edit(range, replacement: "x", origin: .typed))
            }
        }
        script.send(.layout(ComposerLayout(windowHeight: .nan, lineHeight: -.infinity, lines: .min)))
        script.send(.layout(ComposerLayout(windowHeight: .infinity, lineHeight: 1e-300, lines: .max, textScale: .nan)))
        #expect(script.state.height >= 0)
    }
}
