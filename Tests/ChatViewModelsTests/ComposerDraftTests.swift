import ChatCore
import ChatTestSupport
import Composer
import Foundation
import Testing

@testable import ChatViewModels

/// Drafts are restored, and saved promptly, in order and without loss.
@MainActor @Suite(.timeLimit(.minutes(10))) struct ComposerDraftTests {
    // MARK: Restoring

    @Test func draftIsRestoredWithItsCaret() async {
        let harness = await ComposerHarness.started(draft: ComposerHarness.draft("half a thought", caret: 4))
        #expect(harness.text == "half a thought")
        #expect(harness.state.selection == .caret(4))
        #expect(harness.composer.state.isReady && !harness.state.canUndo)
        #expect(harness.effects.values.contains(.selectionChanged(.caret(4))))
        await waitUntilIdle()
        #expect(harness.saves.isEmpty && harness.outputs.values.isEmpty)
    }

    @Test func editIsRestoredWithTheDraftItInterrupted() async {
        let harness = await ComposerHarness.started(
            draft: ComposerHarness.draft("new\nwords", editing: "m1", stash: "unsent"))
        #expect(harness.text == "new\nwords")
        #expect(harness.composer.state.editQuote == "new")
        #expect(harness.outputs.values == [.editing(MessageID("m1"))])
        harness.composer.handle(.cancelEdit)
        #expect(harness.text == "unsent")
        #expect(harness.outputs.values == [.editing(MessageID("m1")), .editing(nil)])
        #expect(harness.composer.state.editQuote == nil)
    }

    nonisolated static let damaged: [(String, DraftError)] = [
        ("nonsense", .unreadable), ("{\"version\":99}", .unknownVersion(99)),
        (
            String(decoding: ComposerHarness.damagedDraft, as: UTF8.self), .damaged
        ),
    ]

    /// A damaged draft is reported, and stays stored until the user types.
    @Test(arguments: damaged) func damagedDraftIsReported(data: String, error: DraftError) async {
        let saved = SavedDraft(data: Data(data.utf8), preview: "nonsense")
        let harness = await ComposerHarness.started(draft: saved)
        #expect(harness.text.isEmpty && harness.composer.state.isReady)
        #expect(harness.outputs.values == [.rejected(.draft(error))])
        await harness.composer.flushDraft()
        #expect(harness.stored == saved)
        harness.type("new")
        await harness.waitForDraftSave()
        #expect(harness.stored?.preview == "new")
    }

    @Test func unreadableDraftIsReportedAsAFailure() async {
        let harness = ComposerHarness(draft: ComposerHarness.draft("unsent"))
        harness.fail(with: .storage(reason: "disk")) { $0.isReadDraft }
        await harness.composer.start()
        #expect(harness.outputs.values == [.failed(.storage(reason: "disk"))])
        #expect(harness.composer.state.isReady)
        await harness.composer.flushDraft()
        #expect(harness.stored?.preview == "unsent")
        harness.type("new")
        harness.clock.advance(by: .milliseconds(300))
        #expect(await !harness.composer.flushDraft())
        #expect(harness.text == "new" && harness.saves.isEmpty && harness.stored?.preview == "unsent")
        // Consecutive failures are reported once.
        #expect(harness.outputs.values == [.failed(.storage(reason: "disk"))])
        harness.succeed()
        #expect(await harness.composer.flushDraft())
        #expect(harness.text == "unsent\nnew" && harness.stored?.preview == "unsent\nnew")
        harness.type("er")
        await harness.composer.flushDraft()
        #expect(harness.stored?.preview == "unsent\nnewer")
    }

    /// Leaving a room before its draft is loaded must not delete the draft.
    @Test func flushingBeforeTheDraftLoadsChangesNothing() async {
        let harness = ComposerHarness(draft: ComposerHarness.draft("unsent"))
        let gate = harness.suspend { $0.isReadDraft }
        let starting = Task { await harness.composer.start() }
        await eventually { gate.waiting == 1 }
        await harness.composer.flushDraft()
        #expect(harness.saves.isEmpty)
        gate.open()
        await starting.value
        #expect(harness.text == "unsent" && harness.stored?.preview == "unsent")
    }

    @Test func whatIsWrittenBeforeTheDraftLoadsIsUnstored() async {
        let harness = ComposerHarness(draft: ComposerHarness.draft("unsent"))
        let gate = harness.suspend { $0.isReadDraft }
        let starting = Task { await harness.composer.start() }
        await eventually { gate.waiting == 1 }
        #expect(!harness.composer.hasUnstoredDraft)
        harness.composer.handle(.insert(" more", origin: .typed))
        await harness.composer.flushDraft()
        #expect(harness.composer.hasUnstoredDraft)
        gate.open()
        await starting.value
        await harness.composer.flushDraft()
        #expect(!harness.composer.hasUnstoredDraft && harness.stored?.preview == "unsent more")
    }

    // MARK: Input before the draft is loaded

    private func early(draft: SavedDraft?, _ act: (ComposerHarness) -> Void) async -> ComposerHarness {
        let harness = ComposerHarness(draft: draft)
        let gate = harness.suspend { $0.isReadDraft }
        let starting = Task { await harness.composer.start() }
        await eventually { gate.waiting == 1 }
        act(harness)
        #expect(harness.text.isEmpty)
        gate.open()
        await starting.value
        return harness
    }

    @Test func textTypedBeforeTheDraftLoadsIsInsertedAtItsCaret() async {
        let harness = await early(draft: ComposerHarness.draft("abcd", caret: 2)) {
            for character in "xyz" {
                // Before the draft is loaded, the view has no text to place the caret in.
                $0.composer.handle(.edit(.caret(0), replacement: String(character), origin: .typed))
                $0.composer.handle(.select(.caret(0)))
            }
            $0.composer.handle(.deleteBackward(byWord: false))
            #expect($0.press("Shift+Return"))
            #expect($0.press("Return"))
            #expect(!$0.press("Left"))
        }
        #expect(harness.text == "abxy\ncd")
        #expect(harness.outputs.values.isEmpty)
        await harness.waitForDraftSave()
        #expect(harness.stored?.preview == "abxy\ncd")
        #expect(harness.sent.isEmpty)
    }

    @Test func textTypedBeforeLoadingIsSentIfThereIsNoDraft() async {
        let harness = await early(draft: nil) {
            $0.type("hi")
            $0.press("Return")
            $0.type("x")
        }
        await eventually { harness.sent == ["hi"] }
        #expect(harness.text == "x")
    }

    @Test func editStartedBeforeTheDraftLoadsKeepsTheDraft() async {
        let harness = await early(draft: ComposerHarness.draft("unsent")) {
            $0.composer.send(.startEdit(MessageID("m1"), WrittenText("stored")))
        }
        #expect(harness.text == "stored" && harness.state.editing == "m1")
        harness.composer.handle(.cancelEdit)
        #expect(harness.text == "unsent")
    }

    // MARK: Saving

    @Test func changesAreSavedAfterThreeHundredMilliseconds() async {
        let harness = await ComposerHarness.started()
        harness.type("a")
        harness.clock.advance(by: .milliseconds(299))
        await waitUntilIdle()
        #expect(harness.saves.isEmpty)
        harness.clock.advance(by: .milliseconds(1))
        await eventually { harness.saves == ["a"] }
        harness.clock.advance(by: .seconds(60))
        await waitUntilIdle()
        #expect(harness.saves == ["a"])
    }

    /// Continuous typing is saved at least once per interval.
    @Test(arguments: [30, 70, 150, 290]) func continuousTypingIsSavedAtIntervals(millisecondsAKey pace: Int) async {
        let harness = await ComposerHarness.started()
        var (typed, writes) = ("", 0)
        var unwritten: Duration?
        var now = Duration.zero
        for step in 0..<60 {
            let character = String(step % 10)
            harness.type(character)
            typed += character
            let due = (unwritten ?? now) + .milliseconds(300)
            unwritten = unwritten ?? now
            now += .milliseconds(pace)
            guard now >= due else {
                harness.clock.advance(by: .milliseconds(pace))
                continue
            }
            harness.clock.advance(by: .milliseconds(pace))
            let expected = typed
            await eventually { harness.stored?.preview == expected }
            (unwritten, writes) = (nil, writes + 1)
        }
        #expect(harness.saves.count == writes)
        #expect(writes <= 60 * pace / 300 + 1)
    }

    @Test func caretMovesAreSaved() async throws {
        let harness = await ComposerHarness.started()
        harness.type("text")
        await harness.waitForDraftSave()
        harness.composer.handle(.select(.caret(1)))
        await harness.waitForDraftSave()
        let stored = try ComposerDraft.decode(try #require(harness.stored).data)
        #expect(stored.content.selection == .caret(1))
    }

    @Test func emptyingTheTextRemovesTheDraft() async {
        let harness = await ComposerHarness.started(draft: ComposerHarness.draft("unsent"))
        harness.composer.handle(.clear)
        await harness.waitForDraftSave()
        #expect(harness.saves == [nil] && harness.stored == nil)
    }

    @Test func previewIsBounded() async {
        let harness = await ComposerHarness.started()
        harness.composer.handle(.load(WrittenText(String(repeating: "👩🏽‍🚀", count: 5000))))
        await harness.composer.flushDraft()
        #expect(harness.stored?.preview == String(repeating: "👩🏽‍🚀", count: 200))
    }

    /// Only one save runs at a time; of those pending, only the newest runs.
    @Test func onlyTheNewestPendingDraftIsSaved() async {
        let harness = await ComposerHarness.started()
        let gate = harness.suspend { $0.isSaveDraft }
        harness.type("a")
        harness.clock.advance(by: .milliseconds(300))
        await eventually { gate.waiting == 1 }
        for character in "bcd" {
            harness.type(String(character))
            harness.clock.advance(by: .milliseconds(300))
            await waitUntilIdle()
        }
        #expect(harness.saves == ["a"])
        gate.open()
        await eventually { harness.stored?.preview == "abcd" }
        #expect(harness.saves == ["a", "abcd"])
    }

    @Test func flushingSavesImmediatelyAndOnce() async {
        let harness = await ComposerHarness.started()
        await harness.composer.flushDraft()
        #expect(harness.saves.isEmpty)
        harness.type("unsent")
        await harness.composer.flushDraft()
        #expect(harness.stored?.preview == "unsent")
        await harness.composer.flushDraft()
        #expect(harness.saves == ["unsent"])
    }

    @Test func flushingARestoredDraftSavesOnlyChanges() async {
        let harness = await ComposerHarness.started(draft: ComposerHarness.draft("unsent"))
        await harness.composer.flushDraft()
        #expect(harness.saves.isEmpty)
        harness.composer.handle(.clear)
        await harness.composer.flushDraft()
        #expect(harness.saves == [nil] && harness.stored == nil)
    }

    @Test func losingTheFocusSavesImmediately() async {
        let harness = await ComposerHarness.started()
        harness.composer.handle(.focus(true))
        harness.type("unsent")
        harness.composer.handle(.focus(false))
        // The clock stands still: no delay may be waited for.
        await eventually { !harness.saves.isEmpty }
        #expect(harness.saves == ["unsent"])
    }

    /// A full disk is reported once, not for every save; the draft is saved once that is possible.
    @Test func saveFailuresAreReportedOnce() async {
        let harness = await ComposerHarness.started()
        harness.fail(with: .diskFull) { $0.isSaveDraft }
        for character in "abc" {
            harness.type(String(character))
            await harness.waitForDraftSave()
        }
        #expect(harness.outputs.values == [.failed(.diskFull)])
        harness.succeed()
        await harness.composer.flushDraft()
        #expect(harness.stored?.preview == "abc")
        harness.fail(with: .diskFull) { $0.isSaveDraft }
        harness.type("d")
        await harness.waitForDraftSave()
        #expect(harness.outputs.values == [.failed(.diskFull), .failed(.diskFull)])
    }

    @Test func savingTheDraftOfARemovedRoomIsNoFailure() async {
        let harness = await ComposerHarness.started()
        harness.fail(with: .notFound) { $0.isSaveDraft }
        harness.type("a")
        await harness.waitForDraftSave()
        #expect(harness.outputs.values.isEmpty)
        // The user has joined it again.
        harness.fail(with: .diskFull) { $0.isSaveDraft }
        harness.type("b")
        await harness.waitForDraftSave()
        #expect(harness.outputs.values == [.failed(.diskFull)])
    }
}

extension ComposerHarness {
    /// A draft whose caret is beyond the end of its text.
    nonisolated static var damagedDraft: Data {
        var engine = ComposerEngine()
        _ = engine.handle(.load(WrittenText("four")), at: .zero)
        var draft = engine.makeDraft()
        draft.content.written = WrittenText("no")
        return try! draft.encoded()
    }

    // MARK: Earlier versions and pending messages

    /// Version 1 drafts stored mention targets as bare identifiers.
    @Test(
        arguments: [
            ("@ann:x", "@Ann", MentionTarget.member("@ann:x")), ("ann", "@Ann", .member("ann")),
            ("@room", "@room", .everyone), ("#garden:x", "#Garden", .room("#garden:x")),
            ("!id:x", "Garden", .room("!id:x")), ("local", "#Notes", .room("local")),
        ])
    func mentionsInVersionOneDraftsGetATarget(id: String, text: String, target: MentionTarget) async {
        let data = """
            {"content":{"attachments":[],"selection":{"length":0,"location":0},
            "spans":[{"content":{"mention":{"_0":{"entityID":"\(id)","text":"\(text)"}}},"id":1,
            "range":{"length":\(text.count),"location":0}}],"text":"\(text) hi"},"mode":{"compose":{}},"version":1}
            """
        let harness = await ComposerHarness.started(draft: SavedDraft(data: Data(data.utf8), preview: text))
        #expect(harness.outputs.values.isEmpty)
        #expect(harness.composer.document.mentions.map(\.mention) == [Mention(target, text: text)])
    }

    /// Regression: a message that failed while newer text was in the composer was in no draft.
    @Test func failedMessageBehindNewerTextIsStoredInTheDraft() async throws {
        let harness = await ComposerHarness.started()
        let reply = ReplyTarget(messageID: "r", sender: "Bo", senderID: "@bo:x", preview: .text("?"))
        let file = Attachment(type: "image/png", name: "a", bytes: 3, source: "media:a")
        let ann = WrittenText("hi @Ann", mentioning: [Mention(.member("@ann:x"), text: "@Ann")])
        harness.composer.handle(.load(ann))
        harness.composer.handle(.attach(file))
        harness.composer.handle(.reply(reply))
        let gate = Gate()
        harness.service.before = {
            guard $0.isSend else { return }
            await gate.pass()
            throw ChatError.diskFull
        }
        harness.press("Return")
        await eventually { gate.waiting == 1 }
        harness.type("newer")
        gate.open()
        await eventually { harness.outputs.values.contains(.failed(.diskFull)) }
        #expect(harness.text == "newer" && harness.state.failedCount == 1)
        await eventually { harness.stored?.preview == "newer" }
        // Simulate `kill -9`: no draft was flushed.
        let other = await ComposerHarness.started(draft: harness.stored)
        #expect(other.text == "newer" && other.state.failedCount == 1)
        other.press("Return")
        await eventually { other.sent == ["newer"] && other.state.failedCount == 0 }
        #expect(other.composer.document.written == ann && other.state.attachments == [file])
        #expect(other.state.reply == reply)
    }

    /// Regression: sending the newer text removed the draft that also held earlier failed messages; until the next save
    /// they were stored nowhere.
    @Test func sendingNewerTextKeepsFailedMessagesInTheDraft() async throws {
        let reply = ReplyTarget(messageID: "r", sender: "Bo", senderID: "@bo:x", preview: .text("?"))
        let file = Attachment(type: "image/png", name: "a", bytes: 3, source: "media:a")
        let ann = WrittenText("hi @Ann", mentioning: [Mention(.member("@ann:x"), text: "@Ann")])
        let harness = await ComposerHarness.started()
        harness.composer.handle(.load(ann))
        harness.composer.handle(.attach(file))
        harness.composer.handle(.reply(reply))
        harness.fail(with: .diskFull) { $0 == .send(ann.source, TransactionID("t1")) }
        harness.press("Return")
        harness.type("newer")
        await eventually { harness.state.failedCount == 1 && harness.stored?.preview == "newer" }
        // Hold all saves from here on: the process is killed right after the message is stored.
        let gate = harness.suspend { $0.isSaveDraft }
        harness.press("Return")
        await eventually { gate.waiting == 1 }
        #expect(harness.sent == [ann.source, "newer"])
        let other = await ComposerHarness.started(draft: harness.stored)
        #expect(other.composer.document.written == ann && other.state.attachments == [file])
        #expect(other.state.reply == reply && other.state.failedCount == 0)
        gate.open()
        await harness.composer.flushDraft()
    }

    /// While only the first of two submitted messages is stored, the draft holds the second.
    @Test func queuedMessagesStayInTheDraftUntilStored() async throws {
        let harness = await ComposerHarness.started()
        let gate = harness.suspend { $0 == .send("second", TransactionID("t2")) }
        harness.type("first")
        harness.press("Return")
        harness.type("second")
        harness.press("Return")
        harness.type("third")
        await eventually { gate.waiting == 1 }
        let other = await ComposerHarness.started(draft: harness.stored)
        #expect([other.text] == ["third"] && other.state.failedCount == 1)
        other.press("Return")
        await eventually { other.state.failedCount == 0 && !other.state.isSending }
        #expect(other.text == "second")
        gate.open()
        await harness.composer.flushDraft()
        #expect(harness.sent == ["first", "second"] && harness.stored?.preview == "third")
    }

    @Test("A command that the server is slow to answer holds up nothing, and its text is kept until then")
    func slowCommandHoldsUpNothing() async throws {
        let gate = Gate()
        let harness = await ComposerHarness.started { _ in await gate.pass() }
        harness.type("/topic Tea")
        harness.press("Return")
        await eventually { gate.waiting == 1 }
        harness.type("first")
        harness.press("Return")
        harness.type("second")
        await harness.composer.flushDraft()
        #expect(harness.sent == ["first"] && harness.state.isSending)
        // As after a crash.
        let other = await ComposerHarness.started(draft: harness.stored)
        #expect(other.text == "second" && other.state.failedCount == 1)
        other.press("Return")
        await eventually { other.state.failedCount == 0 && !other.state.isSending }
        #expect(other.text == "/topic Tea")
        gate.open()
        await eventually { !harness.state.isSending }
        await harness.composer.flushDraft()
        #expect(harness.text == "second")
        let last = await ComposerHarness.started(draft: harness.stored)
        #expect(last.text == "second" && last.state.failedCount == 0)
    }

    @Test("Commands are executed in order, each after the one before")
    func commandsAreExecutedInOrder() async {
        let gate = Gate()
        let executed = Recorder<ChatCommand>()
        let harness = await ComposerHarness.started { command in
            if case .setTopic("Tea") = command { await gate.pass() }
            executed.record(command)
        }
        for topic in ["Tea", "Coffee"] {
            harness.type("/topic \(topic)")
            harness.press("Return")
        }
        await eventually { gate.waiting == 1 }
        await waitUntilIdle()
        #expect(executed.values.isEmpty)
        gate.open()
        await eventually { executed.values == [.setTopic("Tea"), .setTopic("Coffee")] }
    }

    @Test("A command that fails after other messages were sent returns to the composer")
    func slowCommandFails() async throws {
        let gate = Gate()
        let harness = await ComposerHarness.started { _ in
            await gate.pass()
            throw ChatError.unreachable
        }
        harness.type("/topic Tea")
        harness.press("Return")
        harness.type("first")
        harness.press("Return")
        await eventually { harness.sent == ["first"] && gate.waiting == 1 }
        gate.open()
        await eventually { !harness.state.isSending }
        #expect(harness.text == "/topic Tea")
        #expect(harness.outputs.values.contains(.failed(.unreachable)))
    }
}
