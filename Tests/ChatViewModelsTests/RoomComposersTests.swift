import ChatCore
import ChatTestSupport
import Composer
import ComposerSessions
import Foundation
import Testing

@testable import ChatViewModels

/// The composers of several rooms: their drafts, and their effects on the rooms' timelines.
@MainActor @Suite(.timeLimit(.minutes(5))) final class RoomComposersTests: CoordinatorHarness {
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
