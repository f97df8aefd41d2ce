import Composer
import Testing

/// SLK-44 to SLK-47.
struct KeyBindingTests {
    /// Send key, chord, text after pressing it after "ab", whether the message was sent.
    static let returns: [(SendKey, String, String, Bool)] = [
        (.return, "Return", "", true), (.return, "KP_Enter", "", true), (.return, "Shift+Return", "ab\n", false),
        (.return, "Ctrl+Return", "", true), (.ctrlReturn, "Return", "ab\n", false),
        (.ctrlReturn, "Shift+Return", "ab\n", false), (.ctrlReturn, "Ctrl+Return", "", true),
    ]

    @Test(arguments: returns)
    func sendKeyDeterminesSendOrLineBreak(sendKey: SendKey, chord: String, text: String, isSent: Bool) {
        var configuration = ComposerConfiguration()
        configuration.sendKey = sendKey
        var script = ComposerScript(configuration)
        script.type("ab")
        script.press(chord)
        #expect(script.text == text)
        #expect(script.sent.isEmpty != isSent)
        #expect(script.effects.contains(.keyHandled))
    }

    @Test("The keys that send and break the line are listed as the send key is set")
    func chordsOfAnAction() {
        var configuration = ComposerConfiguration()
        let (plain, shift, control) = (KeyChord("Return"), KeyChord("Return", .shift), KeyChord("Return", .control))
        let standard = KeyTable.standard(for: configuration)
        #expect(standard.chords(for: .send) == [plain, control] && standard.chords(for: .insertNewline) == [shift])
        configuration.sendKey = .ctrlReturn
        let other = KeyTable.standard(for: configuration)
        #expect(other.chords(for: .send) == [control] && other.chords(for: .insertNewline) == [plain, shift])
        #expect(standard.chords(for: .cut).isEmpty, "only with a selection")
    }

    @Test func returnInAnEmptyComposerIsHandledAndSendsNothing() {
        var script = ComposerScript()
        script.press("Return")
        #expect(script.text == "" && script.sent.isEmpty && script.effects.contains(.keyHandled))
    }

    /// Chord, text after pressing it with "word" selected in "a word".
    static let chords: [(String, String)] = [
        ("Ctrl+B", "a **word**"), ("Ctrl+I", "a _word_"), ("Ctrl+Shift+X", "a ~~word~~"), ("Ctrl+E", "a `word`"),
        ("Ctrl+X", "a "), ("Ctrl+C", "a word"), ("Ctrl+Z", ""), ("Ctrl+Shift+BackSpace", ""), ("Ctrl+Q", "a word"),
    ]

    @Test(arguments: chords)
    func shortcutsActOnTheSelection(chord: String, text: String) {
        var script = ComposerScript()
        script.load("a word", select: TextRange(location: 2, length: 4))
        script.press(chord)
        #expect(script.text == text)
        #expect(script.effects.contains(.keyHandled) == (chord != "Ctrl+Q"))
    }

    @Test(arguments: ["Ctrl+Shift+Z", "Ctrl+Y"])
    func shortcutsRedo(chord: String) {
        var script = ComposerScript()
        script.type("a")
        script.press("Ctrl+Z")
        script.press(chord)
        #expect(script.text == "a")
    }

    static let spellings: [(String, KeyChord?)] = [
        ("Return", KeyChord("Return")), ("enter", KeyChord("Return")),
        ("Ctrl+Shift+z", KeyChord("Z", [.control, .shift])),
        ("Super+Alt+F5", KeyChord("F5", [.meta, .alt])), ("Ctrl++", KeyChord("+", .control)), ("+", KeyChord("+")),
        ("Hyper+A", nil), ("Nonsense", nil), ("", nil), ("Ctrl+", nil), ("++", nil),
    ]

    @Test(arguments: spellings)
    func chordsAreParsed(text: String, chord: KeyChord?) {
        #expect(KeyChord(parsing: text) == chord)
        if let chord { #expect(KeyChord(parsing: chord.description) == chord) }
    }

    /// SLK-47: the host can add, replace, and list shortcuts.
    @Test func hostCanExtendTheKeyTable() {
        var table = KeyTable.standard(for: ComposerConfiguration())
        let before = table.bindings.count
        table.add(KeyBinding(KeyChord("J", .control), .host("link"), title: "Insert link"))
        table.add(KeyBinding(KeyChord("J", .control), .host("knock"), title: "Knock"))
        #expect(table.bindings.count == before + 1)
        #expect(table.action(for: KeyChord("J", .control), in: []) == .host("knock"))
        #expect(table.listed.contains { $0.title == "Knock" })
        table.add(KeyBinding(KeyChord("J", .control), .escape, context: .editing))
        #expect(table.action(for: KeyChord("J", .control), in: [.editing, .selection]) == .escape)
        #expect(table.action(for: KeyChord("J", .control), in: .composing) == .host("knock"))
        table.remove(KeyChord("J", .control))
        #expect(table.action(for: KeyChord("J", .control), in: .composing) == nil)
    }

    @Test func hostActionsAreForwarded() {
        var engine = ComposerEngine()
        engine.keys.add(KeyBinding(KeyChord("J", .control), .host("knock")))
        let effects = engine.handle(.key(KeyChord("J", .control)), at: .zero)
        #expect(effects.contains(.hostAction("knock")) && effects.contains(.keyHandled))
    }

    /// Changing a setting while writing preserves the text, the history, and the host's shortcuts.
    @Test func changingSettingsKeepsTextHistoryAndShortcuts() {
        var engine = ComposerEngine()
        engine.keys.add(KeyBinding(KeyChord("J", .control), .host("knock")))
        _ = engine.handle(.insert("abc", origin: .typed), at: .zero)
        var other = ComposerConfiguration()
        other.sendKey = .ctrlReturn
        other.characterLimit = 2
        let effects = engine.reconfigure(other)
        #expect(effects.contains(.observed(.limitExceeded)))
        _ = engine.handle(.key(KeyChord("Return")), at: .zero)
        #expect(engine.document.text == "abc\n" && engine.state.canUndo)
        #expect(engine.handle(.key(KeyChord("J", .control)), at: .zero).contains(.hostAction("knock")))
        #expect(engine.keys.bindings.count == KeyTable.standard(for: other).bindings.count + 1)
    }
}
