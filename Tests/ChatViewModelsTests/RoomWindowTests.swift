import ChatCore
import ChatTestSupport
import Composer
import Testing

@testable import ChatViewModels

/// Rooms in windows of their own.
@MainActor @Suite(.timeLimit(.minutes(10))) final class RoomWindowTests: CoordinatorHarness {
    /// Opens a room's window and waits until its messages and its draft are loaded.
    private func openWindow(of room: RoomID) async throws -> Conversation {
        coordinator.openWindow(of: room)
        await eventually { [coordinator] in coordinator.roomWindows.contains { $0.roomID == room } }
        let conversation = try #require(coordinator.roomWindows.first { $0.roomID == room })
        await eventually { conversation.timeline.state.isLoaded && conversation.composer.state.isReady }
        return conversation
    }

    @Test("The main window closes a room that is opened in its own window, and shows it again afterwards")
    func roomMovesToItsWindowAndBack() async throws {
        let main = await start()
        type("draft", in: main)
        let window = try await openWindow(of: a)
        #expect(coordinator.conversation == nil && coordinator.openItem == .window(a))
        #expect(coordinator.rooms.state.selection == a)
        #expect(window.composer === main.composer && window.composer.document.text == "draft")
        await window.flush()
        coordinator.closeWindow(of: a)
        #expect(coordinator.roomWindows.isEmpty)
        #expect(coordinator.conversation?.roomID == a && coordinator.conversation !== main)
        #expect(coordinator.conversation?.composer.document.text == "draft")
    }

    @Test("Rooms in several windows are open beside that of the main window")
    func severalWindows() async throws {
        let main = await start()
        let window = try await openWindow(of: b)
        #expect(coordinator.conversation === main && coordinator.openItem == .room(a))
        coordinator.rooms.send(.select(b))
        #expect(coordinator.openItem == .window(b))
        _ = await open(a)
        coordinator.closeWindow(of: b)
        #expect(coordinator.openItem == .room(a), "a room that is not selected stays closed")
        #expect(window.timeline.state.isLoaded)
    }

    @Test("A room has one window: opening it again presents that window")
    func secondRequestPresents() async throws {
        _ = await start()
        let window = try await openWindow(of: b)
        #expect(window.requests.state.pending.isEmpty)
        coordinator.openWindow(of: b)
        #expect(coordinator.roomWindows.count == 1)
        #expect(window.requests.state.pending.map(\.request) == [.present])
    }

    @Test("A room whose window is closing is shown by the main window, at the requested message")
    func closingWindowIsNotAskedForItsRoom() async throws {
        _ = await start()
        let window = try await openWindow(of: b)
        coordinator.noteClosingWindow(of: b)
        coordinator.show(MessageID("m1"), in: b)
        #expect(window.requests.state.pending.isEmpty && coordinator.openItem == .window(b))
        coordinator.closeWindow(of: b)
        #expect(coordinator.openItem == .room(b))
        let effects = Recorder<TimelineViewModel.Effect>()
        try #require(coordinator.conversation).timeline.subscribe { effects.record($0) }
        await eventually { effects.values.contains(.reveal(.message(MessageID("m1")))) }
    }

    @Test("A window requested while the last one is closing opens afterwards, and failures meanwhile are shown")
    func closingWindowOpensAgain() async throws {
        _ = await start()
        let window = try await openWindow(of: b)
        coordinator.noteClosingWindow(of: b)
        coordinator.openWindow(of: b)
        window.requests.show(.failed(.diskFull))
        #expect(coordinator.roomWindows.first === window)
        coordinator.closeWindow(of: b)
        let next = try #require(coordinator.roomWindows.first)
        #expect(next !== window && next.roomID == b && coordinator.openItem == .room(a))
        #expect(coordinator.requests.state.pending.map(\.request) == [.show(.failed(.diskFull))])
        coordinator.openWindow(of: b)
        #expect(next.requests.state.pending.map(\.request) == [.present], "it is not closing")
    }

    @Test("A message of a room with its own window is shown there, and the main window keeps its room")
    func messagesAreShownInTheWindow() async throws {
        _ = await start()
        let window = try await openWindow(of: b)
        let effects = Recorder<TimelineViewModel.Effect>()
        window.timeline.subscribe { effects.record($0) }
        coordinator.show(MessageID("m1"), in: b)
        await eventually { effects.values.contains(.reveal(.message(MessageID("m1")))) }
        #expect(window.requests.state.pending.map(\.request) == [.present])
        #expect(coordinator.openItem == .room(a))
        coordinator.reply(to: MessageID("m2"), in: b)
        await eventually { window.composer.state.composer.reply?.messageID == "m2" }
    }

    @Test("A room's failures and confirmations are shown in its own window")
    func requestsGoToTheWindow() async throws {
        _ = await start()
        let window = try await openWindow(of: b)
        press("Return", in: window)
        service.before = { if case .delete = $0 { throw ChatError.notPermitted } }
        window.timeline.send(.message(MessageID("m1"), .delete))
        await eventually { window.requests.state.pending.count == 2 }
        coordinator.requestLeaving(b, in: window.requests)
        #expect(
            window.requests.state.pending.map(\.request) == [
                .show(.rejected(.empty)), .show(.failed(.notPermitted)), .confirmLeaving(b, name: "Room b"),
            ])
        #expect(coordinator.requests.state.pending.isEmpty)
    }

    @Test("That a room could not be left is shown in its own window")
    func failureToLeaveGoesToTheWindow() async throws {
        _ = await start()
        let window = try await openWindow(of: b)
        service.before = { if case .leave = $0 { throw ChatError.unreachable } }
        coordinator.rooms.send(.leave(b))
        await eventually { !window.requests.state.pending.isEmpty }
        #expect(window.requests.state.pending.map(\.request) == [.show(.failed(.unreachable))])
        #expect(coordinator.requests.state.pending.isEmpty)
    }

    @Test("Leaving a room closes its window")
    func leavingClosesTheWindow() async throws {
        _ = await start()
        _ = try await openWindow(of: b)
        coordinator.rooms.send(.leave(b))
        service.publish(.closed, in: b)
        await show(["a"])
        await eventually { [coordinator] in coordinator.roomWindows.isEmpty }
        #expect(coordinator.openItem == .room(a))
    }

    @Test("Room windows stay open when the main window closes, and the next main window opens the selection")
    func windowsOutliveTheMainWindow() async throws {
        _ = await start()
        let window = try await openWindow(of: b)
        await coordinator.flushDrafts()
        coordinator.detachWindow()
        #expect(coordinator.openItem == nil && coordinator.roomWindows.first === window)
        type("alone", in: window)
        coordinator.rooms.send(.select(b))
        #expect(coordinator.openItem == nil)
        coordinator.attachWindow()
        #expect(coordinator.openItem == .window(b))
    }

    @Test("Midnight reaches a window after the main window has closed")
    func midnightUpdatesTheDaysOfAWindow() async throws {
        wallClock.record(localTime(2026, 3, 10, 23, 50))
        _ = await start()
        let window = try await openWindow(of: b)
        coordinator.detachWindow()
        func day() -> RelativeDay? {
            window.timeline.items.lazy.compactMap { if case .day(_, _, let day) = $0 { day } else { nil } }.first
        }
        await clock.waitForSleepers()
        #expect(day() == .today)
        wallClock.record(localTime(2026, 3, 11, 0, 0, 1))
        clock.advance(by: .seconds(601))
        await eventually { [coordinator] in coordinator.rooms.state.rows[0].day == .yesterday }
        #expect(day() == .yesterday)
    }

    @Test("Stored windows open once the rooms are listed, except those of missing rooms")
    func windowsAreRestored() async {
        coordinator.restoreWindows(of: [b, RoomID("gone")])
        coordinator.start(opening: b)
        #expect(coordinator.roomWindows.isEmpty)
        await show(["a", "b"])
        await eventually { [coordinator] in !coordinator.roomWindows.isEmpty }
        #expect(coordinator.roomWindows.map(\.roomID) == [b])
        #expect(coordinator.openItem == .window(b), "it was open in the main window, too")
    }
}
