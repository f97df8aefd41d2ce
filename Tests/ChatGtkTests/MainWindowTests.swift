import CGtk
import ChatCore
import ChatTestSupport
import ChatViewModels
import Composer
import ComposerSessions
import GtkKit
import GtkTestSupport
import LocalBackend
import TimelineGtk
import XCTest

@testable import ChatGtk
@testable import ComposerGtk
@testable import GtkKit

/// The main window over a real store.
final class MainWindowTests: GtkTestCase {
    /// An application that is never run: a `GtkApplicationWindow` needs one.
    @MainActor
    private static let application: Application = {
        let application = Application(id: "io.github.parlance_chat.Parlance.Tests")
        g_application_set_flags(application.cast(), shim_application_non_unique)
        g_application_register(application.cast(), nil, nil)
        return application
    }()

    @MainActor
    private static func open(_ fixture: ChatFixture) -> MainWindow {
        let window = MainWindow(application: application, coordinator: fixture.coordinator, settings: nil)
        window.present()
        _ = MainLoop.pump { window.window.isMapped && window.window.width > 0 }
        return window
    }

    /// Returns all widgets below this one, depth first.
    @MainActor
    private static func descendants(of widget: Widget) -> [Widget] {
        widget.children.flatMap { [$0] + descendants(of: $0) }
    }

    @MainActor
    private static func texts(in window: MainWindow) -> [String] {
        descendants(of: window.window).compactMap {
            $0.wrapped(as: Label.self, gtk_label_get_type())?.text ?? BodyText.of($0)?.text
        }
    }

    /// AdwLeaflet sets the style classes of its own parts in each allocation, and GTK then restyles all siblings after
    /// them.
    func testPanesPrecedeThePartsThatLeafletRestyles() throws {
        try onMain {
            let fixture = try ChatFixture()
            let window = Self.open(fixture)
            if let panes = Self.descendants(of: window.window).first(where: { $0.cssName == "leaflet" }) {
                let names = panes.children.map(\.cssName)
                let parts = ["dimming", "shadow", "border", "outline"]
                XCTAssertEqual(names.suffix(parts.count).sorted(), parts.sorted())
            }
            try window.finishClosing()
            try fixture.close()
        }
    }

    func testSentMessageAppearsInTimelineAndRoomList() throws {
        try onMain {
            let fixture = try ChatFixture()
            let conversation = try fixture.openRoom(named: "Plans")
            let window = Self.open(fixture)
            conversation.composer.handle(.insert("Hello <b>you</b> & all", origin: .typed))
            conversation.composer.handle(.send)
            XCTAssertTrue(
                MainLoop.pump { Self.texts(in: window).count { $0.contains("Hello <b>you</b> & all") } == 2 },
                "as plain text, in the timeline and in the list")
            try window.finishClosing()
            try fixture.close()
        }
    }

    func testTypingAnywhereFocusesTheComposer() throws {
        try onMain {
            let fixture = try ChatFixture()
            let conversation = try fixture.openRoom(named: "Plans")
            let window = Self.open(fixture)
            try RealInput.activate(window.window)
            window.sidebar.roomList.grabFocus()
            XCTAssertEqual(window.content.conversationView?.composerHasFocus, false)
            try RealInput.type("on we go")
            XCTAssertTrue(MainLoop.pump { conversation.composer.state.composer.length == 8 })
            try window.finishClosing()
            try fixture.close()
        }
    }

    func testToastsDoNotCoverTheComposer() throws {
        try onMain {
            let fixture = try ChatFixture()
            _ = try fixture.openRoom(named: "Plans")
            let window = Self.open(fixture)
            window.toasts.show(.failed(.notPermitted))
            let isToast = { @MainActor (widget: Widget) in
                String(cString: gtk_widget_get_css_name(widget.cast())) == "toast" && widget.height > 0
            }
            XCTAssertTrue(MainLoop.pump { Self.descendants(of: window.window).contains(where: isToast) })
            let toast = try XCTUnwrap(Self.descendants(of: window.window).first(where: isToast))
            let view = try XCTUnwrap(window.content.conversationView)
            let top = try XCTUnwrap(view.composerTop)
            XCTAssertTrue(
                MainLoop.pump {
                    guard let bounds = toast.bounds(in: view.widget) else { return false }
                    return bounds.y > 0 && bounds.y + bounds.height <= top
                        && abs(bounds.x + bounds.width / 2 - Double(view.widget.width) / 2) < 2
                })
            try window.finishClosing()
            try fixture.close()
        }
    }

    func testRoomsAreCreatedRenamedAndLeft() throws {
        try onMain {
            let fixture = try ChatFixture()
            let room = try fixture.openRoom(named: "First").roomID
            let window = Self.open(fixture)
            fixture.coordinator.rooms.send(.rename(room, to: "Second"))
            XCTAssertTrue(
                MainLoop.pump {
                    let texts = Self.texts(in: window)
                    return texts.contains("Second") && !texts.contains("First")
                }, "in the header as in the list")
            fixture.coordinator.rooms.send(.leave(room))
            XCTAssertTrue(MainLoop.pump { !Self.texts(in: window).contains("Second") })
            try window.finishClosing()
            try fixture.close()
        }
    }

    func testRemovedGuideDisappearsFromTheMembers() throws {
        try onMain {
            let fixture = try ChatFixture()
            fixture.coordinator.start(opening: nil)
            XCTAssertTrue(MainLoop.pump { fixture.coordinator.rooms.state.rows.contains { $0.kind == .guide } })
            guard let room = fixture.coordinator.rooms.state.rows.first(where: { $0.kind == .guide }),
                let details = fixture.coordinator.dialogs.details(of: room.id)
            else { return XCTFail("no guide's room") }
            details.start()
            XCTAssertTrue(MainLoop.pump { details.state.entries.count == 2 })
            guard let guide = details.state.entries.map(\.member).first(where: { $0.kind == .guide }) else {
                return XCTFail("no guide")
            }
            details.send(.remove(guide.id))
            XCTAssertTrue(MainLoop.pump { details.state.entries.map(\.member.kind) == [.own] })
            try fixture.close()
        }
    }

    func testMessagesAreReadAndBadgesHiddenOnlyInTheActiveWindow() throws {
        try onMain {
            let clock = ManualClock()
            let fixture = try ChatFixture(time: Timekeeper(clock))
            let rooms = fixture.coordinator.rooms
            fixture.coordinator.start(opening: nil)
            XCTAssertTrue(MainLoop.pump { fixture.coordinator.conversation?.timeline.state.isLoaded == true })
            let window = Self.open(fixture)
            let badges = {
                Self.descendants(of: window.sidebar.rooms)
                    .compactMap { $0.wrapped(as: Label.self, gtk_label_get_type()) }
                    .filter { $0.hasStyle("unread-badge") && $0.isMapped }.map(\.text)
            }
            try RealInput.activate(window.window)
            XCTAssertTrue(MainLoop.pump { badges().isEmpty }, "\(badges()): the user sees the room")
            let other = TestWindow(Label("Something else"))
            try RealInput.activate(other.window)
            XCTAssertTrue(MainLoop.pump { badges() == ["3"] }, "\(badges()): the window is open, and nobody looks")
            clock.advance(by: .seconds(60))
            try finish { await waitUntilIdle() }
            XCTAssertEqual(rooms.state.unreadTotal, 3)
            try RealInput.activate(window.window)
            XCTAssertTrue(MainLoop.pump { badges().isEmpty })
            XCTAssertEqual(rooms.state.unreadTotal, 3, "not for a moment yet")
            let isRead = {
                clock.advance(by: .seconds(1))
                return rooms.state.unreadTotal == 0
            }
            XCTAssertTrue(MainLoop.pump(until: isRead))
            other.close()
            try window.finishClosing()
            try fixture.close()
        }
    }

    func testRoomIsMarkedAsUnreadFromTheMenuOfTheFocusedRow() throws {
        try onMain {
            let fixture = try ChatFixture()
            _ = try fixture.openRoom(named: "Plans")
            let window = Self.open(fixture)
            let rooms = fixture.coordinator.rooms
            let items = {
                Self.descendants(of: window.window)
                    .compactMap { $0.wrapped(as: Label.self, gtk_label_get_type()) }
                    .filter { $0.isMapped && $0.text.hasPrefix("Mark as") }.map(\.text)
            }
            try RealInput.activate(window.window)
            window.sidebar.roomList.grabFocus()
            XCTAssertTrue(MainLoop.pump { rooms.state.selectedRow?.isMarkedUnread == false })
            for (key, label, isMarked) in [("shift+F10", "Mark as Unread", true), ("Menu", "Mark as Read", false)] {
                try RealInput.press(key)
                XCTAssertTrue(MainLoop.pump { items() == [label] }, "\(items())")
                // The first item has the focus.
                try RealInput.press("Return")
                XCTAssertTrue(MainLoop.pump { rooms.state.selectedRow?.isMarkedUnread == isMarked }, label)
                XCTAssertTrue(MainLoop.pump { items().isEmpty })
            }
            try window.finishClosing()
            try fixture.close()
        }
    }

    /// SLK-1: Parlance's own conversation uses the same composer host.
    func testConversationUsesAComposerHost() throws {
        try onMain {
            let fixture = try ChatFixture()
            _ = try fixture.openRoom(named: "Plans")
            let window = Self.open(fixture)
            let isHost = { Self.descendants(of: window.window).contains { ComposerHost.of($0)?.bar != nil } }
            XCTAssertTrue(MainLoop.pump(until: isHost), "SLK-1")
            let host = try XCTUnwrap(Self.descendants(of: window.window).compactMap { ComposerHost.of($0) }.first)
            XCTAssertEqual(
                host.bar?.model?.configuration.attachments.count, ChatLimits.attachments, "the room's composer")
            try window.finishClosing()
            try fixture.close()
        }
    }

    /// In a single-pane window the selected room has the initial focus: Space must not press the first button.
    func testNarrowWindowInitiallyFocusesTheSelectedRoom() throws {
        try onMain {
            let fixture = try ChatFixture()
            _ = try fixture.openRoom(named: "Plans")
            let window = MainWindow(application: Self.application, coordinator: fixture.coordinator, settings: nil)
            gtk_window_set_default_size(window.window.cast(), 360, 600)
            window.present()
            let focus = { gtk_window_get_focus(window.window.cast()).map { Widget(borrowing: $0) } }
            let isOnRow = {
                (focus().map { gtk_widget_is_ancestor($0.cast(), window.sidebar.rooms.cast()) != 0 } ?? false)
                    && window.panes.isFolded
            }
            XCTAssertTrue(MainLoop.pump(until: isOnRow), "\(focus()?.pointer as Any)")
            try RealInput.activate(window.window)
            try RealInput.press("Return")
            XCTAssertTrue(
                MainLoop.pump {
                    window.panes.visiblePane == .content && window.content.conversationView?.composerHasFocus == true
                },
                "Return opens the room, and one can write")
            window.showSidebar()
            XCTAssertTrue(MainLoop.pump(until: isOnRow), "and so it is on the way back")
            try window.finishClosing()
            try fixture.close()
        }
    }

    /// A room that is being joined or created opens a moment later: what is typed must not go to the one before it.
    func testNarrowWindowShowsARoomOnceItIsOpen() throws {
        try onMain {
            let fixture = try ChatFixture()
            let garden = try fixture.openRoom(named: "Garden").roomID
            let third = try fixture.openRoom(named: "Third").roomID
            let plans = try fixture.openRoom(named: "Plans").roomID
            let rooms = fixture.coordinator.rooms
            let window = MainWindow(application: Self.application, coordinator: fixture.coordinator, settings: nil)
            gtk_window_set_default_size(window.window.cast(), 360, 600)
            window.present()
            XCTAssertTrue(MainLoop.pump { window.panes.isFolded && window.content.conversationView != nil })
            window.showSidebar()
            let shown = { window.content.conversationView?.conversation.roomID }
            @MainActor func show(_ room: RoomID) {
                window.showContent(of: AccountRoom(AccountsCoordinator.localID, room))
            }
            show(garden)
            XCTAssertTrue(window.panes.visiblePane == .sidebar, "another room is open yet")
            rooms.send(.select(garden))
            XCTAssertTrue(MainLoop.pump { window.panes.visiblePane == .content })
            XCTAssertEqual(shown(), garden)
            window.showSidebar()
            show(garden)
            XCTAssertTrue(MainLoop.pump { window.panes.visiblePane == .content }, "it is open already")
            window.showSidebar()
            show(plans)
            for room in [third, plans] {
                rooms.send(.select(room))
                XCTAssertTrue(MainLoop.pump { shown() == room })
                XCTAssertTrue(window.panes.visiblePane == .sidebar, "the user has moved on")
            }
            window.createRoom(named: "New", in: fixture.coordinator)
            XCTAssertTrue(window.panes.visiblePane == .sidebar)
            XCTAssertTrue(MainLoop.pump { window.panes.visiblePane == .content })
            XCTAssertEqual(rooms.state.selectedRow?.name, "New")
            XCTAssertEqual(shown(), rooms.state.selection)
            try window.finishClosing()
            try fixture.close()
        }
    }

    /// F6, where rows of events can have the focus, and a room without messages has no list to focus.
    func testRegionsAreFocusedInOrder() throws {
        try onMain {
            let fixture = try ChatFixture()
            let conversation = try fixture.openRoom(named: "Plans")
            let room = conversation.roomID
            let window = Self.open(fixture)
            try RealInput.activate(window.window)
            let view = try XCTUnwrap(window.content.conversationView)
            let inRooms = {
                window.window.focus.map { window.sidebar.rooms.isAncestor(of: $0) } == true
            }
            if conversation.timeline.state.isEmpty {
                window.sidebar.roomList.grabFocus()
                window.perform(.nextRegion)
                XCTAssertTrue(MainLoop.pump { view.composerHasFocus }, "there is nothing to focus in the timeline")
                window.perform(.nextRegion)
                XCTAssertTrue(MainLoop.pump { inRooms() })
            }
            try finish { [backend = fixture.backend] in
                for topic in ["First", "Second", "Third"] { try await backend.setTopic(topic, of: room) }
            }
            XCTAssertTrue(
                MainLoop.pump {
                    conversation.timeline.rows.contains { $0.events?.canExpand == true }
                        && view.regions == [.timeline, .composer] && !view.timeline.list.visibleRows.isEmpty
                })
            window.sidebar.roomList.grabFocus()
            window.perform(.nextRegion)
            XCTAssertTrue(MainLoop.pump { view.focusedRegion == .timeline })
            window.perform(.nextRegion)
            XCTAssertTrue(MainLoop.pump { view.composerHasFocus }, "it does not stay on the row of events")
            window.perform(.previousRegion)
            XCTAssertTrue(MainLoop.pump { view.focusedRegion == .timeline })
            window.perform(.previousRegion)
            XCTAssertTrue(MainLoop.pump { inRooms() })
            window.perform(.search)
            XCTAssertTrue(MainLoop.pump { window.sidebar.searchPane.field.hasFocus })
            window.perform(.previousRegion)
            XCTAssertTrue(MainLoop.pump { view.composerHasFocus })
            window.perform(.nextRegion)
            XCTAssertTrue(MainLoop.pump { window.sidebar.searchPane.field.hasFocus }, "the room list is hidden")
            try window.finishClosing()
            try fixture.close()
        }
    }

    func testLeavingARoomIsAskedOnce() throws {
        try onMain {
            let fixture = try ChatFixture()
            let room = try fixture.openRoom(named: "Plans").roomID
            let window = Self.open(fixture)
            for answer in ["Escape", "alt+l"] {
                for _ in 0..<3 { fixture.coordinator.requestLeaving(room) }
                XCTAssertTrue(MainLoop.pump { OpenDialogs.alert != nil }, answer)
                _ = MainLoop.pump(forAtMost: 0.3) { OpenDialogs.all.count > 1 }
                XCTAssertEqual(OpenDialogs.all.count, 1)
                try RealInput.activate(try XCTUnwrap(OpenDialogs.alert))
                try RealInput.press(answer)
                XCTAssertTrue(MainLoop.pump { OpenDialogs.all.isEmpty }, answer)
            }
            XCTAssertTrue(MainLoop.pump { !fixture.coordinator.rooms.state.rows.contains { $0.id == room } })
            try window.finishClosing()
            try fixture.close()
        }
    }

    func testFocusGoesToTheRoomListWhenTheOpenRoomIsGone() throws {
        try onMain {
            let fixture = try ChatFixture()
            _ = try fixture.openRoom(named: "Other")
            let room = try fixture.openRoom(named: "Plans").roomID
            let window = Self.open(fixture)
            // Its button would be the next that can have the focus, and would never go.
            window.toasts.show(.message("Saved"))
            XCTAssertTrue(MainLoop.pump { Self.texts(in: window).contains("Saved") })
            window.content.conversationView?.focusComposer()
            let backend = fixture.backend
            try finish { try await backend.leaveRoom(room) }
            XCTAssertTrue(MainLoop.pump { window.content.conversationView?.conversation.roomID != room })
            XCTAssertNil(window.content.conversationView)
            XCTAssertTrue(
                MainLoop.pump { window.window.focus?.visibleTexts.contains("Other") == true },
                "\(window.window.focus?.visibleTexts ?? [])")
            try window.finishClosing()
            try fixture.close()
        }
    }

    func testClosingSavesDraftsAndFinalizesTheWindow() throws {
        try onMain {
            let fixture = try ChatFixture()
            let conversation = try fixture.openRoom()
            // The first conversation view creates the clock format, which observes the desktop's settings until the
            // program ends.
            _ = ClockFormat.desktop.isTwelveHour
            let closures = ClosureCount.live
            var finalized = false
            var closed = false
            let room = conversation.roomID
            try Self.writeDraftAndClose(
                fixture, conversation, onFinalize: { finalized = true }, onClosed: { closed = true })
            XCTAssertTrue(MainLoop.pump { closed && finalized }, "the window is finalised")
            XCTAssertTrue(
                MainLoop.pump { ClosureCount.live <= closures }, "\(ClosureCount.live) > \(closures) closures")
            let backend = fixture.backend
            let draft = try finish { try await backend.draft(in: room) }
            XCTAssertEqual(draft?.preview, "unsent")
            try fixture.close()
        }
    }

    @MainActor
    private static func writeDraftAndClose(
        _ fixture: ChatFixture, _ conversation: Conversation, onFinalize: @escaping () -> Void,
        onClosed: @escaping () -> Void
    ) throws {
        let window = open(fixture)
        window.window.onFinalize(onFinalize)
        window.onClosed = onClosed
        conversation.composer.handle(.insert("unsent", origin: .typed))
        window.close()
    }
}
