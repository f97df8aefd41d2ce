import Composer
import Testing

struct ConfigurationTests {
    @Test func theDefaultsAreParlances() {
        #expect(ComposerConfiguration.preset(.parlance) == ComposerConfiguration())
    }

    @Test func everyPresetIsDifferent() {
        let presets = ComposerConfiguration.Preset.allCases.map(ComposerConfiguration.preset)
        #expect(Set(presets).count == presets.count)
    }

    /// MCV-9, SLK-14: nothing and less limit nothing.
    @Test(arguments: [nil, 0, -5])
    func noLimit(limit: Int?) {
        var configuration = ComposerConfiguration()
        configuration.characterLimit = limit
        configuration.limitPolicy = .hard
        var script = ComposerScript(configuration)
        script.type("abc")
        #expect(script.text == "abc" && script.state.counter == nil)
    }

    /// MCV-6: white space alone becomes empty on leaving, where the preset has that habit.
    @Test(arguments: [(ComposerConfiguration.Preset.messageComposerView, ""), (.parlance, "  ")])
    func blankTextOnBlur(preset: ComposerConfiguration.Preset, text: String) {
        var script = ComposerScript(.preset(preset))
        script.send(.focus(true))
        script.send(.insert("  ", origin: .paste))
        script.send(.focus(false))
        #expect(script.text == text)
    }

    /// SLK-53: a hidden bar keeps its text, takes no input, no focus and no edit.
    @Test func hidden() {
        var script = ComposerScript()
        script.type("a")
        script.send(.focus(true))
        script.send(.hide(true))
        #expect(!script.state.isFocused && script.state.isHidden)
        for event in [
            ComposerEvent.insert("b", origin: .typed), .beginEdit(id: "m", ComposerContent(text: "x")), .send,
        ] {
            script.send(event)
            #expect(script.effects.contains(.refused(.hidden)))
        }
        script.send(.focus(true))
        #expect(script.text == "a" && !script.state.isFocused)
        script.send(.hide(false))
        #expect(script.state.canSend)
    }

    /// SLK-7: white space hides the placeholder, and so does a preedit.
    @Test func placeholder() {
        var script = ComposerScript()
        #expect(script.state.showsPlaceholder)
        script.type(" ")
        #expect(!script.state.showsPlaceholder)
    }

    /// No number and no text brings the composer down.
    @Test func badInput() {
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
