import ChatCore
import ChatTestSupport
import Composer
import ComposerSessions
import Foundation
import Testing

@testable import ChatViewModels

/// The composers of several rooms: their drafts, and their effects on the rooms' timelines.
@MainActor @Suite(.timeLimit(.minutes(10))) final class RoomComposersTests: CoordinatorHarness {
    @Test func composersAreRetainedWithTheirUndoHistory() async {
        let first = await start()
        type("unsent", in: first)
        let second = await open(b)
        #expect(second.composer !== first.composer && second.composer.document.text.isEmpty)
        await eventually { [service] in service.drafts[RoomID("a")]?.preview == "unsent" }
        let again = await open(a)
        #expect(again !== first && again.composer === first.composer)
        #expect(again.composer.document.text == "unsent")
        again.composer.handle(.undo)
        #expect(again.composer.document.text.isEmpty)
    }

    @Test func composerOfALeftRoomIsReleased() async {
        weak var left: ComposerViewModel?
        do {
            let first = await start()
            type("unsent", in: first)
            left = first.composer
        }
        await open(b)
        await coordinator.flushDrafts()
        await show(["b"])
        await waitUntilIdle()
        #expect(left == nil)
        // A reopened room gets a new composer.
        service.drafts[a] = nil
        await show(["b", "a"])
        let again = await open(a)
        #expect(again.composer.document.text.isEmpty)
        #expect(coordinator.toasts.isEmpty)
    }

    @Test(
        "A message that was sent and cannot be stored, because its room is left, is handed on once",
        arguments: [false, true])
    func unsentMessageOfALeftRoom(failsBeforeTheRoomIsGone: Bool) async {
        let unsent = Recorder<String>()
        coordinator.onUnsent = { [a] text, room in unsent.record(room == a ? text : "") }
        let first = await start()
        let gate = Gate()
        service.before = { call in
            guard call.isSend else { return }
            await gate.pass()
            throw ChatError.notFound
        }
        type("sent", in: first)
        press("Return", in: first)
        await eventually { gate.waiting == 1 }
        if failsBeforeTheRoomIsGone {
            gate.open()
            await eventually { first.composer.state.composer.length == 4 }
        }
        await show(["b"])
        gate.open()
        await eventually { unsent.values == ["sent"] }
        await waitUntilIdle()
        #expect(unsent.values == ["sent"])
    }

    @Test("A message that failed and that the user has changed since is a draft, and goes with its room")
    func draftOfALeftRoomIsNotHandedOn() async {
        let unsent = Recorder<String>()
        coordinator.onUnsent = { text, _ in unsent.record(text) }
        let first = await start()
        service.before = { if $0.isSend { throw ChatError.notFound } }
        type("sent", in: first)
        press("Return", in: first)
        await eventually { first.composer.state.composer.length == 4 }
        type("?", in: first)
        await show(["b"])
        await waitUntilIdle()
        #expect(unsent.values.isEmpty)
    }

    @Test("A command that fails because its room is left is no lost message", arguments: [false, true])
    func failedCommandIsNotHandedOn(failsBeforeTheRoomIsGone: Bool) async {
        let (unsent, gate) = (Recorder<String>(), Gate())
        let harness = await ComposerHarness.started(onCommand: { _ in
            await gate.pass()
            throw ChatError.notFound
        })
        harness.type("/topic tea")
        harness.press("Return")
        await eventually { gate.waiting == 1 }
        if failsBeforeTheRoomIsGone {
            gate.open()
            await eventually { harness.outputs.values.contains(.failed(.notFound)) && harness.state.length == 10 }
        }
        harness.composer.stopReporting { unsent.record($0) }
        gate.open()
        await eventually { harness.state.length == 10 }
        await waitUntilIdle()
        #expect(unsent.values.isEmpty)
    }

    @Test("The files that undo brings back are in use until the room is left")
    func filesOfUndoStepsAreInUse() async {
        let first = await start()
        let (inUse, file) = (coordinator.environment.mediaInUse, "media:" + UUID().uuidString)
        first.composer.handle(
            .attach(Composer.Attachment(type: "text/plain", name: "a", bytes: 1, source: file)))
        press("Return", in: first)
        await eventually { [service] in service.calls.contains(where: \.isSend) }
        await coordinator.flushDrafts()
        #expect(first.composer.state.composer.attachments.isEmpty)
        #expect(await inUse.uris().contains(file))
        await show(["b"])
        #expect(await !inUse.uris().contains(file))
    }

    @Test func flushingSavesTheDraftsOfAllRooms() async {
        type("one", in: await start())
        type("two", in: await open(b))
        await coordinator.flushDrafts()
        #expect(service.drafts[a]?.preview == "one" && service.drafts[b]?.preview == "two")
    }

    @Test func editingIsShownInTheTimelineAndSurvivesRoomChanges() async {
        let first = await start()
        press("Up", in: first)
        #expect(first.composer.document.text == "Text of m2")
        #expect(edited(in: first) == ["m2"])
        first.timeline.send(.message(MessageID("m1"), .edit))
        #expect(edited(in: first) == ["m1"])
        let second = await open(b)
        #expect(edited(in: second).isEmpty)
        let again = await open(a)
        #expect(edited(in: again) == ["m1"])
        press("Escape", in: again)
        #expect(edited(in: again).isEmpty)
    }

    @Test func restoredEditIsShownInTheTimeline() async {
        service.drafts[a] = ComposerHarness.draft("better", editing: "m1", stash: "unsent")
        let conversation = await start()
        #expect(edited(in: conversation) == ["m1"])
        press("Return", in: conversation)
        await eventually { [service] in service.calls.contains(.edit(MessageID("m1"), "better")) }
        #expect(edited(in: conversation).isEmpty && conversation.composer.document.text == "unsent")
    }

    /// Drafts do not store the warning.
    @Test func restoredEditHasItsWarning() async throws {
        var message = own("m1", in: "a")
        message.formattedText = #"a <img src="mxc://a/b" alt="cat"> b"#
        let warning = try #require(EditableMessage(message, body: MessageBody()).warning(.untranslated))
        service.known = { [message] in $0 == message.id ? message : nil }
        service.drafts[a] = ComposerHarness.draft("better", editing: "m1", stash: "unsent")
        let conversation = await start()
        await eventually { conversation.composer.state.editWarning == warning }
        press("Escape", in: conversation)
        #expect(conversation.composer.state.editWarning == nil)
    }

    @Test func deletingTheEditedMessageEndsTheEdit() async {
        let conversation = await start()
        type("unsent", in: conversation)
        conversation.timeline.send(.message(MessageID("m1"), .edit))
        service.publish(.changed([own("m2", in: "a", isDeleted: true)]), in: a)
        service.publish(.changed([own("m1", in: "a", isDeleted: true)]), in: a)
        await eventually { conversation.composer.state.composer.editing == nil }
        #expect(conversation.composer.document.text == "unsent")
        #expect(edited(in: conversation).isEmpty)
    }

    @Test func restoredEditOfADeletedMessageEnds() async {
        service.drafts[a] = ComposerHarness.draft("better", editing: "m1", stash: "unsent")
        service.openings[a] = .opened(
            TimelinePage(messages: [own("m1", in: "a", isDeleted: true)], hasOlder: false), members: [Fixtures.own],
            fullyReadMarker: nil)
        let conversation = await start()
        await eventually { conversation.composer.state.composer.length == 6 }
        #expect(conversation.composer.state.composer.editing == nil)
    }

    @Test func sendingScrollsOnlyTheOpenRoomToTheEnd() async {
        let first = await start()
        let effects = Recorder<TimelineViewModel.Effect>()
        first.timeline.subscribe { effects.record($0) }
        let displayed = { effects.values.count { $0 == .revealNewest } }
        let before = displayed()
        type("one", in: first)
        press("Return", in: first)
        await eventually { displayed() == before + 1 }
        let gate = Gate()
        service.before = { if $0.isSend { await gate.pass() } }
        type("two", in: first)
        press("Return", in: first)
        await open(b)
        await eventually { gate.waiting == 1 }
        gate.open()
        await coordinator.flushDrafts()
        #expect(displayed() == before + 1 && service.calls.filter(\.isSend).count == 2)
    }

    @Test func typingUsersAreShownOnlyInTheirRoom() async {
        let first = await start()
        service.publish(.typing([Fixtures.other.id]), in: a)
        await eventually { first.composer.state.composer.typing == "Alex is typing…" }
        let second = await open(b)
        #expect(second.composer.state.composer.typing == nil)
        #expect(first.composer.state.composer.typing == nil)
        service.publish(.typing([Fixtures.other.id]), in: a)
        await waitUntilIdle()
        #expect(first.composer.state.composer.typing == nil)
    }

    @Test(
        "Others who type for long are shown until the service says that they stopped, if it does so",
        arguments: [false, true])
    func longTyping(isEndReported: Bool) async {
        if isEndReported { service.capabilities.insert(.typingEnds) }
        let first = await start()
        service.publish(.typing([Fixtures.other.id]), in: a)
        await eventually { first.composer.state.composer.typing == "Alex is typing…" }
        clock.advance(by: .seconds(60))
        if isEndReported {
            await waitUntilIdle()
            #expect(first.composer.state.composer.typing == "Alex is typing…")
            service.publish(.typing([]), in: a)
        }
        await eventually { first.composer.state.composer.typing == nil }
    }

    @Test func sendKeyAppliesToAllRooms() async {
        let first = await start()
        let preferences = coordinator.environment.preferences
        preferences.writing.sendKey = .ctrlReturn
        let second = await open(b)
        #expect(second.composer.preferences.sendKey == .ctrlReturn)
        await eventually { first.composer.preferences.sendKey == .ctrlReturn }
        preferences.writing.sendKey = .return
        await eventually {
            first.composer.preferences.sendKey == .return && second.composer.preferences.sendKey == .return
        }
    }
}
