import Composer
import Testing

/// The headless part of rules that mostly concern widgets: what a host's window relies on.
struct HostRulesTests {
    private func engine(typing text: String = "", _ configuration: ComposerConfiguration = ComposerConfiguration())
        -> ComposerEngine
    {
        var engine = ComposerEngine(configuration: configuration)
        for character in text { _ = engine.handle(.insert(String(character), origin: .typed), at: .zero) }
        return engine
    }

    private func observations(_ effects: [ComposerEffect]) -> [ComposerObservation] {
        effects.compactMap { if case .observed(let observation) = $0 { observation } else { nil } }
    }

    /// SLK-7, MIB-17: visible while the text is empty; a space or a preedit hides it.
    @Test func spaceOrPreeditHidesThePlaceholder() {
        #expect(engine().state.showsPlaceholder)
        #expect(!engine(typing: " ").state.showsPlaceholder)
        var composing = engine()
        _ = composing.handle(.preedit("に"), at: .zero)
        #expect(!composing.state.showsPlaceholder)
    }

    /// SLK-10, MCV-7: the button appears with any text and is enabled unless the text is only white space.
    @Test(arguments: [("", 0, false), ("  \n", 3, false), (" a", 2, true)])
    func sendButtonRequiresNonBlankText(_ text: String, length: Int, canSend: Bool) {
        var engine = ComposerEngine()
        _ = engine.handle(.load(WrittenText(text)), at: .zero)
        #expect(engine.state.length == length)
        #expect(engine.state.canSend == canSend)
    }

    /// SLK-32: a typed line break is a separate edit and ends the preceding word (SLK-33); a pasted one is plain text.
    @Test func typedLineBreakIsItsOwnUndoStep() {
        var engine = engine(typing: "ab")
        let effects = engine.handle(.key(KeyChord("Return", .shift)), at: .zero)
        #expect(effects.contains(.keyHandled))
        #expect(engine.document.text == "ab\n")
        _ = engine.handle(.paste([.text("c\nd")]), at: .zero)
        #expect(engine.document.text == "ab\nc\nd")
        _ = engine.handle(.undo, at: .zero)
        #expect(engine.document.text == "ab\n")
        _ = engine.handle(.undo, at: .zero)
        #expect(engine.document.text == "")
    }

    /// SLK-38: the state determines which items a context menu enables.
    @Test func stateEnablesContextMenuItems() {
        var engine = engine(typing: "word")
        #expect(engine.state.canUndo && !engine.state.canRedo && engine.state.formatting.isEmpty)
        _ = engine.handle(.select(TextRange(location: 0, length: 4)), at: .zero)
        #expect(!engine.state.formatting.isEmpty)
        _ = engine.handle(.undo, at: .zero)
        #expect(engine.state.canRedo)
    }

    /// SLK-42: the state has the names and the text for any typing indicator.
    @Test func stateHasTypingNamesAndText() {
        var engine = engine()
        _ = engine.handle(.userTyping(name: "Ann", true), at: .zero)
        #expect(engine.state.typingNames == ["Ann"])
        #expect(engine.state.typing?.contains("Ann") == true)
    }

    /// SLK-43: clearing needs no confirmation, and a single undo restores everything.
    @Test func clearingIsUndoneInOneStep() {
        var engine = engine(typing: "all of this")
        _ = engine.handle(.key(KeyChord("BackSpace", [.control, .shift])), at: .zero)
        #expect(engine.document.isEmpty)
        _ = engine.handle(.undo, at: .zero)
        #expect(engine.document.text == "all of this")
    }

    /// HKW-1: adding an observer does not replace others; all receive the same events.
    @Test func observersReceiveTheSameEvents() {
        final class Log: ComposerObserver, @unchecked Sendable {
            let name: String
            var observations: [ComposerObservation] = []
            init(_ name: String) { self.name = name }
            func observed(_ observation: ComposerObservation, state: ComposerState) { observations.append(observation) }
        }
        var engine = engine()
        let (first, second) = (Log("first"), Log("second"))
        engine.add(observer: first)
        engine.add(observer: second)
        _ = engine.handle(.insert("a", origin: .typed), at: .zero)
        #expect(first.observations.contains(.textChanged))
        #expect(first.observations == second.observations)
    }

    /// HKW-3: pastes, and the start and end of editing, are reported.
    @Test func pastesAndFocusChangesAreReported() {
        var engine = engine(typing: "a")
        #expect(observations(engine.handle(.paste([.text("b")]), at: .zero)).contains(.pasted))
        #expect(observations(engine.handle(.focus(true), at: .zero)).contains(.focused))
        #expect(observations(engine.handle(.focus(false), at: .zero)).contains(.unfocused))
    }

    /// HKW-7: text set by code sends no typing notification and is a single undo step.
    @Test func textSetByCodeSendsNoTypingNotification() {
        var engine = engine()
        let effects = engine.handle(.load(WrittenText("by code")), at: .zero)
        #expect(!effects.contains(.typing(true)))
        _ = engine.handle(.undo, at: .zero)
        #expect(engine.document.isEmpty)
    }

    /// HKW-34: a word and its trailing space, committed together, are one change.
    @Test func predictedWordIsOneChange() {
        var engine = engine(typing: "so ")
        let effects = engine.handle(.insert("predicted word ", origin: .dictation), at: .zero)
        guard case .edited(let edits)? = effects.first else {
            Issue.record("no edit")
            return
        }
        #expect(edits.count == 1)
        _ = engine.handle(.undo, at: .zero)
        #expect(engine.document.text == "so ")
    }

    /// HKW-26: replacing a word, as a spelling correction does, is an ordinary edit, even while the completion list is
    /// open; so is inserting an emoji of two UTF-16 units. ⚠ Both were rejected.
    @Test(arguments: ["receive", "👍", "two words"])
    func replacementsAreOrdinaryEdits(_ replacement: String) {
        var configuration = ComposerConfiguration()
        configuration.completion.rules = [CompletionRule(prefix: "@")]
        var engine = engine(typing: "recieve @a", configuration)
        #expect(engine.state.completion != nil)
        let word = TextRange(location: 0, length: 7)
        _ = engine.handle(.edit(word, replacement: replacement, origin: .typed), at: .zero)
        #expect(engine.document.text == "\(replacement) @a")
        _ = engine.handle(.undo, at: .zero)
        #expect(engine.document.text == "recieve @a", "one step")
    }

    /// HKW-65: undo works with mentions in the text.
    @Test func undoKeepsMentions() {
        var engine = engine()
        let mention = Mention(.custom("1"), text: "Ann")
        _ = engine.handle(.load(WrittenText("Hi Ann", mentioning: [mention])), at: .zero)
        _ = engine.handle(.insert("!", origin: .typed), at: .zero)
        _ = engine.handle(.undo, at: .zero)
        #expect(engine.document.text == "Hi Ann")
        #expect(engine.document.mentions.map(\.range) == [TextRange(location: 3, length: 3)])
    }

    /// MIB-6: an explicit limit does not depend on the window's height.
    @Test(arguments: [200.0, 700, 2_000])
    func explicitLineLimitIgnoresTheWindowHeight(windowHeight: Double) {
        var configuration = ComposerConfiguration()
        configuration.maxLines = .lines(3)
        var engine = engine(typing: "x", configuration)
        _ = engine.handle(.layout(ComposerLayout(windowHeight: windowHeight, lineHeight: 20, lines: 9)), at: .zero)
        #expect(engine.state.maxLines == 3)
        #expect(engine.state.scrollsInside)
    }

    /// MIB-7, MCV-11: the height is reported only when it changes.
    @Test func heightIsReportedOnlyWhenItChanges() {
        var engine = engine(typing: "x")
        let layout = ComposerLayout(windowHeight: 700, lineHeight: 20, lines: 3)
        #expect(observations(engine.handle(.layout(layout), at: .zero)).contains(.heightChanged))
        #expect(!observations(engine.handle(.layout(layout), at: .zero)).contains(.heightChanged))
    }

    /// MIB-10: the state shows that a message is being sent until the host responds.
    @Test func stateShowsSendingUntilAccepted() {
        var engine = engine(typing: "x")
        let id = engine.handle(.send, at: .zero).compactMap {
            if case .send(let message) = $0 { message.id } else { nil }
        }
        #expect(id.count == 1)
        #expect(engine.state.isSending)
        _ = engine.handle(.sendAccepted(id[0]), at: .zero)
        #expect(!engine.state.isSending)
    }

    @Test("The engine holds a sent message until the host responds", arguments: [true, false])
    func pendingMessage(isAccepted: Bool) {
        var engine = engine(typing: " hello ")
        let sent = engine.handle(.send, at: .zero).compactMap {
            if case .send(let message) = $0 { message } else { nil }
        }
        #expect(sent.count == 1 && engine.pendingMessage(sent[0].id) == sent[0])
        _ = engine.handle(isAccepted ? .sendAccepted(sent[0].id) : .sendFailed(sent[0].id), at: .zero)
        #expect(engine.pendingMessage(sent[0].id) == nil)
    }

    /// MIB-15, MCV-8: the host receives both the trimmed and the raw text.
    @Test func messageHasTrimmedAndRawText() {
        var engine = engine(typing: " hello ")
        let sent = engine.handle(.send, at: .zero).compactMap {
            if case .send(let message) = $0 { [message.text.source, message.raw.source] } else { nil }
        }
        #expect(sent == [["hello", " hello "]])
        #expect(engine.document.isEmpty)
    }

    /// MCV-3: the height in pixels is the number of lines times the line height, plus the insets.
    @Test(arguments: 1...4)
    func heightGrowsByTheLineHeight(lines: Int) {
        let insets = ComposerInsets()
        let one = GrowthRules.barHeight(lines: 1, lineHeight: 20, insets: insets, underHeight: 0, editing: false)
        let many = GrowthRules.barHeight(lines: lines, lineHeight: 20, insets: insets, underHeight: 0, editing: false)
        #expect(many - one == (lines - 1) * 20)
    }

    /// MCV-13: focus is reported once, and again only after it was lost.
    @Test func focusIsReportedOnce() {
        var engine = engine()
        #expect(observations(engine.handle(.focus(true), at: .zero)) == [.focused])
        #expect(observations(engine.handle(.focus(true), at: .zero)).isEmpty)
        #expect(engine.state.isFocused)
    }
}
