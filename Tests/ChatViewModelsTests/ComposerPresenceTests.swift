import ChatCore
import ChatTestSupport
import ChatViewModels
import Composer
import Testing

/// Typing notifications, own and received, and key bindings.
@MainActor @Suite(.timeLimit(.minutes(10))) struct ComposerPresenceTests {
    private func typingCalls(_ harness: ComposerHarness) -> [FakeChatService.Call] {
        harness.service.calls.filter(\.isTyping)
    }

    @Test func typingAndItsEndAreReportedToOthers() async {
        let harness = await ComposerHarness.started()
        harness.type("hel")
        await eventually { [self] in typingCalls(harness) == [.typing(true)] }
        harness.clock.advance(by: .milliseconds(4999))
        await waitUntilIdle()
        #expect(typingCalls(harness) == [.typing(true)])
        harness.clock.advance(by: .milliseconds(1))
        await eventually { [self] in typingCalls(harness) == [.typing(true), .typing(false)] }
    }

    @Test func sendingEndsTyping() async {
        let harness = await ComposerHarness.started()
        harness.type("hi")
        await waitUntilIdle()
        harness.press("Return")
        await eventually { [self] in typingCalls(harness).count == 2 }
        await waitUntilIdle()
        #expect(typingCalls(harness) == [.typing(true), .typing(false)])
    }

    /// A slow service gets the latest typing state, in order, not every change.
    @Test func typingStatesAreReportedInOrder() async {
        let harness = await ComposerHarness.started()
        let gate = harness.suspend { $0.isTyping }
        harness.type("a")
        await eventually { gate.waiting == 1 }
        for _ in 0..<3 {
            harness.composer.handle(.deleteBackward(byWord: false))
            harness.type("b")
        }
        harness.composer.handle(.deleteBackward(byWord: false))
        gate.open()
        await waitUntilIdle()
        #expect(typingCalls(harness) == [.typing(true), .typing(false)])
    }

    @Test func typingUsersAreShownUntilTheyStop() async {
        let harness = await ComposerHarness.started()
        harness.composer.send(.typingUsers(["Ann", "Bo"]))
        #expect(harness.state.typing == "Ann & Bo are typing…")
        harness.composer.send(.typingUsers(["Bo", "Cy"]))
        #expect(harness.state.typingNames == ["Bo", "Cy"])
        harness.composer.send(.typingUsers([]))
        #expect(harness.state.typing == nil && harness.state.typingNames.isEmpty)
    }

    /// Backends report the start only once, so a long typist stays shown; a timeout covers a lost stop.
    @Test func typingUsersTimeOut() async {
        let harness = await ComposerHarness.started()
        harness.composer.send(.typingUsers(["Ann"]))
        harness.clock.advance(by: .seconds(29))
        await waitUntilIdle()
        #expect(harness.state.typingNames == ["Ann"])
        harness.composer.send(.typingUsers(["Ann", "Bo"]))
        harness.clock.advance(by: .seconds(29))
        await waitUntilIdle()
        #expect(harness.state.typingNames == ["Ann", "Bo"])
        harness.clock.advance(by: .seconds(1))
        await eventually { harness.state.typingNames.isEmpty }
    }

    /// Whether each key sends under each setting, rather than inserting a line break.
    nonisolated static let sendKeys: [(SendKey, String, sends: Bool)] = [
        (.return, "Return", true), (.return, "Ctrl+Return", true), (.return, "Shift+Return", false),
        (.ctrlReturn, "Return", false), (.ctrlReturn, "Ctrl+Return", true), (.ctrlReturn, "Shift+Return", false),
    ]

    @Test(arguments: sendKeys) func sendKeyIsConfigurable(key: SendKey, chord: String, sends: Bool) async {
        let harness = await ComposerHarness.started()
        // Change the setting back and forth: the last value applies.
        for setting in [SendKey.ctrlReturn, .return, key] {
            harness.composer.send(.preferencesChanged(WritingPreferences(sendKey: setting)))
        }
        #expect(harness.composer.preferences.sendKey == key)
        harness.type("hi")
        #expect(harness.press(chord))
        #expect(harness.text == (sends ? "" : "hi\n"))
        await harness.composer.flushDraft()
        #expect(harness.sent == (sends ? ["hi"] : []))
    }

    /// A view created later reads the text; from then on the effects keep its copy in sync.
    @Test func effectsKeepAMirroredTextInSync() async {
        let harness = await ComposerHarness.started(draft: ComposerHarness.draft("one"))
        var mirror = harness.composer.document
        let seen = harness.effects.values.count
        harness.type(" two")
        harness.composer.handle(.deleteBackward(byWord: true))
        harness.press("Ctrl+Z")
        for case .edited(let edits) in harness.effects.values[seen...] {
            for edit in edits { _ = mirror.mirror(edit) }
        }
        #expect(mirror.text == harness.text && harness.text == "one two")
    }

    @Test func everyRejectionIsReported() async {
        let harness = await ComposerHarness.started()
        harness.composer.handle(.send)
        harness.composer.handle(.cancelEdit)
        #expect(harness.outputs.values == [.rejected(.empty), .rejected(.notEditing)])
    }
}
