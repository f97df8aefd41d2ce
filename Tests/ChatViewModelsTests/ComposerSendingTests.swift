import ChatCore
import ChatTestSupport
import ChatViewModels
import Composer
import Foundation
import Testing

/// Messages are sent once and in order, never lost, and leave no draft behind.
@MainActor @Suite(.timeLimit(.minutes(10))) struct ComposerSendingTests {
    @Test func sentTextLeavesTheComposer() async {
        let harness = await ComposerHarness.started()
        harness.type("  hello ")
        #expect(harness.press("Return"))
        #expect(harness.text.isEmpty && harness.state.isSending)
        await eventually { harness.outputs.values == [.sent] }
        #expect(harness.sent == ["hello"])
        #expect(!harness.state.isSending && harness.state.failedCount == 0)
    }

    /// Without a completion source there is no list, so Return sends after a prefix.
    @Test(arguments: ["hello @an", "#gar", "/me", "well :smi"])
    func returnSendsAfterACompletionPrefixWithoutASource(_ text: String) async {
        let harness = await ComposerHarness.started()
        harness.composer.handle(.focus(true))
        harness.type(text)
        #expect(harness.state.completion == nil)
        #expect(harness.press("Return"))
        await eventually { harness.outputs.values == [.sent] }
        #expect(harness.sent == [text])
    }

    @Test func sendingTwiceSendsOnce() async {
        let harness = await ComposerHarness.started()
        let gate = harness.suspend { $0.isSend }
        harness.type("hello")
        harness.composer.handle(.send)
        harness.composer.handle(.send)
        harness.press("Return")
        await eventually { gate.waiting == 1 }
        harness.press("Ctrl+Return")
        gate.open()
        await harness.composer.flushDraft()
        #expect(harness.sent == ["hello"])
        #expect(harness.outputs.values.filter { $0 == .rejected(.empty) }.count == 3)
    }

    @Test func eachMessageHasItsOwnTransaction() async {
        let harness = await ComposerHarness.started()
        for text in ["one", "two"] {
            harness.type(text)
            harness.press("Return")
        }
        await harness.composer.flushDraft()
        let sends = harness.service.calls.filter(\.isSend)
        #expect(sends == [.send("one", TransactionID("t1")), .send("two", TransactionID("t2"))])
    }

    /// Each message waits until its predecessor is stored.
    @Test func messagesAreSentInOrder() async {
        let harness = await ComposerHarness.started()
        let gate = harness.suspend { if case .send("one", _) = $0 { true } else { false } }
        for text in ["one", "two", "three"] {
            harness.type(text)
            harness.press("Return")
        }
        await eventually { gate.waiting == 1 }
        await waitUntilIdle()
        #expect(harness.sent == ["one"])
        gate.open()
        await harness.composer.flushDraft()
        #expect(harness.sent == ["one", "two", "three"])
        #expect(harness.outputs.values == [.sent, .sent, .sent])
    }

    // MARK: The draft of a sent message

    /// The draft remains until the message is stored: a crash in between loses nothing.
    @Test func draftStaysUntilTheMessageIsStored() async {
        let harness = await ComposerHarness.started()
        harness.type("hello")
        await harness.waitForDraftSave()
        let gate = harness.suspend { $0.isSend }
        harness.press("Return")
        await eventually { gate.waiting == 1 }
        harness.clock.advance(by: .seconds(3))
        await waitUntilIdle()
        #expect(harness.stored?.preview == "hello" && harness.saves == ["hello"])
        gate.open()
        await harness.composer.flushDraft()
        #expect(harness.stored == nil)
    }

    /// A save in progress completes before the message is sent; a pending one is dropped.
    @Test func draftIsNotRestoredAfterItsMessageIsSent() async {
        let harness = await ComposerHarness.started()
        let gate = harness.suspend { $0.isSaveDraft }
        harness.type("hel")
        harness.clock.advance(by: .milliseconds(300))
        await eventually { gate.waiting == 1 }
        harness.type("lo")
        harness.clock.advance(by: .milliseconds(300))
        harness.press("Return")
        await waitUntilIdle()
        #expect(harness.sent.isEmpty)
        gate.open()
        await harness.composer.flushDraft()
        #expect(harness.sent == ["hello"] && harness.stored == nil)
        #expect(harness.saves.first == "hel" && harness.saves.dropFirst().allSatisfy { $0 == nil })
        harness.clock.advance(by: .seconds(3))
        await waitUntilIdle()
        #expect(harness.stored == nil)
    }

    @Test func textTypedWhileSendingIsTheNextDraft() async {
        let harness = await ComposerHarness.started()
        let gate = harness.suspend { $0.isSend }
        harness.type("first")
        harness.press("Return")
        harness.type("second")
        harness.clock.advance(by: .milliseconds(300))
        await eventually { gate.waiting == 1 }
        gate.open()
        await eventually { harness.stored?.preview == "second" }
        #expect(harness.text == "second" && harness.sent == ["first"])
    }

    @Test func flushingWaitsForTheMessageBeingSent() async {
        let harness = await ComposerHarness.started()
        let gate = harness.suspend { $0.isSend }
        harness.type("hello")
        harness.press("Return")
        let done = Recorder<Bool>()
        Task {
            await harness.composer.flushDraft()
            done.record(true)
        }
        await eventually { gate.waiting == 1 }
        await waitUntilIdle()
        #expect(done.values.isEmpty)
        gate.open()
        await eventually { done.values == [true] }
        #expect(harness.outputs.values == [.sent] && harness.stored == nil)
    }

    // MARK: Failures

    @Test func failedSendRestoresTextAndCaret() async {
        let harness = await ComposerHarness.started()
        harness.type("hello")
        harness.composer.handle(.select(.caret(2)))
        await harness.waitForDraftSave()
        harness.fail(with: .diskFull) { $0.isSend }
        harness.press("Return")
        #expect(harness.text.isEmpty)
        await eventually { harness.outputs.values == [.failed(.diskFull)] }
        #expect(harness.text == "hello" && harness.state.selection == .caret(2))
        await harness.composer.flushDraft()
        #expect(harness.stored?.preview == "hello" && !harness.saves.contains(nil))
        harness.succeed()
        harness.press("Return")
        await harness.composer.flushDraft()
        #expect(harness.sent == ["hello", "hello"] && harness.stored == nil)
        #expect(harness.service.calls.filter(\.isSend).last == .send("hello", TransactionID("t2")))
    }

    /// A failed message does not replace newer text; it returns once the composer is empty.
    @Test func failedMessageReturnsOnceTheComposerIsEmpty() async {
        let harness = await ComposerHarness.started()
        let gate = Gate()
        harness.service.before = {
            guard case .send("first", _) = $0 else { return }
            await gate.pass()
            throw ChatError.diskFull
        }
        harness.type("first")
        harness.press("Return")
        await eventually { gate.waiting == 1 }
        harness.type("second")
        gate.open()
        await eventually { harness.outputs.values == [.failed(.diskFull)] }
        #expect(harness.text == "second" && harness.state.failedCount == 1)
        harness.press("Return")
        await eventually { harness.outputs.values.last == .sent }
        #expect(harness.text == "first" && harness.state.failedCount == 0)
        await harness.composer.flushDraft()
        #expect(harness.stored?.preview == "first")
    }

    @Test func failedMessageIsSavedInTheDraftWhenLeavingTheRoom() async {
        let harness = await ComposerHarness.started()
        harness.fail(with: .diskFull) { $0.isSend }
        harness.type("first")
        harness.press("Return")
        harness.type("second")
        await eventually { harness.outputs.values == [.failed(.diskFull)] }
        harness.composer.handle(.clear)
        await harness.composer.flushDraft()
        #expect(harness.text == "first" && harness.stored?.preview == "first")
    }

    // MARK: Editing

    @Test func editIsStoredAndTheDraftRestored() async {
        let harness = await ComposerHarness.started()
        harness.type("unsent")
        harness.composer.send(.startEdit(MessageID("m1"), WrittenText("old\ntext")))
        #expect(harness.effects.values.last == .focusRequested(true))
        #expect(harness.composer.state.editQuote == "old")
        harness.type("er")
        harness.press("Return")
        #expect(harness.text == "unsent" && harness.composer.state.editQuote == nil)
        await harness.composer.flushDraft()
        #expect(harness.service.calls.filter(\.isEdit) == [.edit(MessageID("m1"), "old\ntexter")])
        #expect(harness.sent.isEmpty && harness.stored?.preview == "unsent")
        #expect(harness.outputs.values == [.editing(MessageID("m1")), .editing(nil)])
    }

    /// The draft holds an edit until the edit is stored.
    @Test func draftHoldsAnEditUntilItIsStored() async throws {
        let harness = await ComposerHarness.started()
        harness.composer.send(.startEdit(MessageID("m1"), WrittenText("old")))
        harness.type("er")
        await harness.waitForDraftSave()
        let gate = harness.suspend { $0.isEdit }
        harness.press("Return")
        await eventually { gate.waiting == 1 }
        #expect(try ComposerDraft.decode(try #require(harness.stored).data).mode == .edit("m1"))
        gate.open()
        await harness.composer.flushDraft()
        #expect(harness.stored == nil)
    }

    @Test func failedEditIsReopened() async {
        let harness = await ComposerHarness.started()
        harness.type("unsent")
        harness.composer.send(.startEdit(MessageID("m1"), WrittenText("old")))
        harness.type("er ")
        harness.fail(with: .diskFull) { $0.isEdit }
        harness.press("Return")
        await eventually { harness.outputs.values.contains(.failed(.diskFull)) }
        #expect(harness.state.editing == "m1" && harness.text == "older ")
        harness.press("Escape")
        #expect(harness.state.editing == nil && harness.text == "unsent")
    }

    @Test func failedEditDoesNotReplaceAnotherEdit() async {
        let harness = await ComposerHarness.started()
        let gate = Gate()
        harness.service.before = {
            guard $0.isEdit else { return }
            await gate.pass()
            throw ChatError.diskFull
        }
        harness.composer.send(.startEdit(MessageID("m1"), WrittenText("one")))
        harness.type("!")
        harness.press("Return")
        await eventually { gate.waiting == 1 }
        harness.composer.send(.startEdit(MessageID("m2"), WrittenText("two")))
        harness.type("?")
        gate.open()
        await eventually { harness.outputs.values.contains(.failed(.diskFull)) }
        #expect(harness.state.editing == "m2" && harness.text == "two?")
        harness.press("Escape")
        #expect(harness.state.editing == "m1" && harness.text == "one!")
        harness.composer.send(.messageDeleted(MessageID("m1")))
        #expect(harness.state.editing == nil && harness.text.isEmpty)
    }

    @Test func deletingTheEditedMessageEndsTheEdit() async {
        let harness = await ComposerHarness.started()
        harness.type("unsent")
        harness.composer.send(.startEdit(MessageID("m1"), WrittenText("old")))
        harness.composer.send(.messageDeleted(MessageID("m2")))
        #expect(harness.state.editing == "m1")
        harness.composer.send(.messageDeleted(MessageID("m1")))
        #expect(harness.state.editing == nil && harness.text == "unsent")
    }

    @Test func upInAnEmptyComposerEditsTheLastMessage() async {
        let harness = await ComposerHarness.started()
        #expect(harness.press("Up"))
        #expect(harness.outputs.values == [.editLast])
        harness.type("a")
        #expect(!harness.press("Up"))
        #expect(harness.outputs.values == [.editLast])
    }

    /// An output's handler may send an event at once and sees the new state.
    @Test func stateIsUpdatedBeforeOutputsAreReported() async {
        let harness = await ComposerHarness.started()
        let composer = harness.composer
        harness.outputHandlers.record { output in
            if output == .editing(MessageID("m1")) { composer.send(.messageDeleted(MessageID("m1"))) }
        }
        composer.send(.startEdit(MessageID("m1"), WrittenText("old")))
        #expect(harness.state.editing == nil && composer.state.editQuote == nil && harness.text.isEmpty)
        #expect(harness.state == ComposerHarness().state.with(revision: harness.state.revision))
    }
}

extension ComposerState {
    fileprivate func with(revision: Int) -> ComposerState {
        var state = self
        state.revision = revision
        return state
    }
}

@MainActor @Suite("Canceling sends") struct SendCancellationTests {
    @Test("MIB-10: a stopped message returns to the composer without an error") func stoppedMessageIsRestored() async {
        let harness = await ComposerHarness.started()
        harness.service.before = { call in
            guard call.isSend else { return }
            // Runs until canceled.
            while true { try await Task.sleep(for: .seconds(3600)) }
        }
        harness.type("on its way")
        harness.press("Return")
        await eventually { harness.state.isSending }
        #expect(harness.text.isEmpty)
        harness.composer.cancelSending()
        await eventually { !harness.state.isSending && harness.state.length > 0 }
        #expect(harness.text == "on its way")
        #expect(!harness.outputs.values.contains { if case .failed = $0 { true } else { false } })
    }

    @Test("SLK-43: shaking the pointer clears the composer only if that is turned on, and can be undone")
    func shakingClearsIfEnabled() async {
        let harness = await ComposerHarness.started()
        harness.type("words")
        harness.composer.send(.shaken)
        #expect(harness.text == "words", "off by default")
        harness.composer.send(.preferencesChanged(WritingPreferences(clearsByShaking: true)))
        harness.composer.send(.shaken)
        #expect(harness.text.isEmpty && harness.outputs.values.contains(.cleared))
        harness.composer.undoClearing()
        #expect(harness.text == "words")
    }

    @Test("SLK-43: clearing offers an undo, which never overwrites newer text") func clearingCanBeUndone() async {
        let harness = await ComposerHarness.started()
        harness.press("Ctrl+Shift+BackSpace")
        #expect(!harness.outputs.values.contains(.cleared), "there was nothing to clear")
        harness.type("words")
        harness.press("Ctrl+Shift+BackSpace")
        #expect(harness.text.isEmpty && harness.outputs.values.contains(.cleared))
        harness.composer.undoClearing()
        #expect(harness.text == "words")
        harness.press("Ctrl+Shift+BackSpace")
        harness.type("new")
        harness.composer.undoClearing()
        #expect(harness.text == "new")
    }

    /// SLK-14: a limit that only the service knows is checked before sending; a text over the limit stays in the
    /// composer.
    @Test func textOverTheServicesLimitIsNotSent() async {
        let harness = await ComposerHarness.started()
        harness.composer.handle(.insert(String(repeating: "x", count: 900), origin: .paste))
        #expect(harness.state.counter == nil)
        harness.composer.handle(.insert(String(repeating: "x", count: 1090), origin: .paste))
        await eventually { harness.state.counter?.text == "10" && harness.state.canSend }
        harness.composer.handle(.insert(String(repeating: "é", count: 6), origin: .paste))
        #expect(harness.state.counter?.text == "-2" && !harness.state.canSend, "at once, by what was written")
        harness.press("Return")
        #expect(harness.outputs.values == [.rejected(.overLimit)] && harness.text.count == 1996)
        harness.press("BackSpace")
        harness.composer.handle(.deleteBackward(byWord: false))
        #expect(harness.state.counter?.text == "0" && harness.state.canSend)
        harness.composer.handle(.clear)
        #expect(harness.state.counter == nil)
        // An edit contains its text twice: as `body` and in `m.new_content`.
        harness.composer.send(.startEdit(MessageID("m1"), WrittenText(String(repeating: "x", count: 1002))))
        await eventually { harness.state.counter?.text == "-4" && !harness.state.canSave }
    }
}
