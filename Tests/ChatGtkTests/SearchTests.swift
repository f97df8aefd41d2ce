import CGtk
import ChatCore
import ChatStore
import ChatTestSupport
import ChatViewModels
import Composer
import ComposerSessions
import GtkTestSupport
import LocalBackend
import Synchronization
import XCTest

@testable import ChatGtk
@testable import GtkKit
@testable import TimelineGtk

/// Room search and global search, driven by real keys in the main window.
final class SearchTests: GtkTestCase {
    @MainActor
    private static let application: Application = {
        let application = Application(id: "io.github.parlance_chat.Parlance.SearchTests")
        g_application_set_flags(application.cast(), shim_application_non_unique)
        g_application_register(application.cast(), nil, nil)
        for (action, keys) in [
            ("win.find", ["<Control>f"]), ("win.search", ["<Control><Shift>f"]), ("win.find-older", ["<Control>g"]),
            ("win.find-newer", ["<Control><Shift>g"]),
        ] {
            application.setKeys(keys, for: action)
        }
        return application
    }()

    @MainActor
    private static func open(_ fixture: ChatFixture, width: Int32? = nil) throws -> MainWindow {
        let window = MainWindow(application: application, coordinator: fixture.coordinator, settings: nil)
        if let width { gtk_window_set_default_size(window.window.cast(), width, 600) }
        window.present()
        _ = MainLoop.pump { window.window.isMapped && window.window.width > 0 }
        try RealInput.activate(window.window)
        return window
    }

    @MainActor
    private static func say(_ texts: [String], in conversation: Conversation, _ fixture: ChatFixture) throws {
        let (backend, room) = (fixture.backend, conversation.roomID)
        try finish {
            for text in texts {
                try await backend.send(WrittenMessage(text), as: TransactionID(text), to: room)
            }
        }
    }

    @MainActor
    private static func highlightedRows(_ view: TimelineView) -> [String] {
        view.list.realizedRows.compactMap { _, row in
            (row as? MessageRow)?.highlightedText.flatMap { $0.isEmpty ? nil : $0 }
        }
    }

    func testRoomSearchNavigatesByKeyboard() throws {
        try onMain {
            let fixture = try ChatFixture()
            let conversation = try fixture.openRoom(named: "Plans")
            // More messages than are loaded at once: the oldest match is in the detached past.
            try Self.say(
                (1...200).map { $0 % 50 == 1 ? "the Needle number \($0)" : "hay \($0)" }, in: conversation, fixture)
            let (store, room) = (fixture.store, conversation.roomID)
            let oldest = try finish { try await store.messages(in: room, after: .min, limit: 1).messages[0].id }
            let window = try Self.open(fixture)
            guard let view = window.content.conversationView else { return XCTFail("no conversation") }
            try RealInput.press("ctrl+f")
            XCTAssertTrue(MainLoop.pump { view.searchBar.field.hasFocus }, "the field has the focus")
            try RealInput.type("needle")
            let search = conversation.search
            XCTAssertTrue(MainLoop.pump { search.state.text == "needle" && !search.state.isSearching }, "all is typed")
            XCTAssertTrue(MainLoop.pump { view.searchBar.countText == "1 of 4" }, view.searchBar.countText)
            XCTAssertTrue(
                MainLoop.pump { Self.highlightedRows(view.timeline) == ["Needle"] },
                "\(Self.highlightedRows(view.timeline))")
            try RealInput.press("Return", "Return", "ctrl+g")
            XCTAssertTrue(MainLoop.pump { view.searchBar.countText == "4 of 4" }, view.searchBar.countText)
            XCTAssertTrue(
                MainLoop.pump {
                    Self.highlightedRows(view.timeline) == ["Needle"] && conversation.timeline.rows.count > 0
                        && view.timeline.list.row(for: TimelineItem.ID.message(oldest)) != nil
                }, "it went to the oldest: \(Self.highlightedRows(view.timeline))")
            try RealInput.press("shift+Return")
            XCTAssertTrue(MainLoop.pump { view.searchBar.countText == "3 of 4" })
            try RealInput.press("ctrl+shift+g")
            XCTAssertTrue(MainLoop.pump { view.searchBar.countText == "2 of 4" })
            try RealInput.press("Escape")
            XCTAssertTrue(MainLoop.pump { view.composerHasFocus }, "the focus is where it was")
            XCTAssertTrue(MainLoop.pump { Self.highlightedRows(view.timeline).isEmpty }, "nothing is lit any more")
            try RealInput.press("ctrl+f")
            try RealInput.type("from:nobody")
            XCTAssertTrue(MainLoop.pump { view.searchBar.problemText.contains("nobody") }, view.searchBar.problemText)
            try RealInput.press("Escape", "ctrl+f", "Escape", "ctrl+f")
            try RealInput.type("hay")
            XCTAssertTrue(
                MainLoop.pump { search.state.text == "hay" }, "however soon it is opened again: \(search.state.text)")
            try window.finishClosing()
            try fixture.close()
        }
    }

    /// Its row is out of view by then, and shows another message or none.
    func testFocusReturnsFromTheSearchToAMessageInView() throws {
        try onMain {
            let fixture = try ChatFixture()
            let conversation = try fixture.openRoom(named: "Plans")
            try Self.say(["the needle"] + (1...200).map { "hay \($0)" }, in: conversation, fixture)
            let window = try Self.open(fixture)
            guard let view = window.content.conversationView else { return XCTFail("no conversation") }
            let list = view.timeline.list
            XCTAssertTrue(MainLoop.pump { list.visibleRows.upperBound == conversation.timeline.rows.count })
            view.focusTimeline()
            let before = try XCTUnwrap(list.focusedRow.map { conversation.timeline.rows[$0].id })
            try RealInput.press("ctrl+f")
            XCTAssertTrue(MainLoop.pump { view.searchBar.field.hasFocus })
            try RealInput.type("needle")
            XCTAssertTrue(MainLoop.pump { Self.highlightedRows(view.timeline) == ["needle"] })
            // What the focus goes to must not be scrolled away afterwards.
            XCTAssertTrue(
                MainLoop.pump { list.row(for: before) == nil && list.visibleRows.lowerBound == 0 && !list.isMoving })
            try RealInput.press("Escape")
            XCTAssertTrue(
                MainLoop.pump { list.focusedRow.map { list.visibleRows.contains($0) } == true },
                "\(list.focusedRow as Any) of \(list.visibleRows)")
            XCTAssertEqual(window.window.focus?.isMapped, true)
            window.close()
            _ = MainLoop.pump { !window.window.isMapped }
            try fixture.close()
        }
    }

    /// Selecting text in the timeline by pointer leaves the focus in the composer, whose Ctrl+C copies that text.
    func testSearchFieldCopiesItsOwnSelection() throws {
        try onMain {
            let fixture = try ChatFixture()
            let conversation = try fixture.openRoom(named: "Plans")
            try Self.say(["a needle", "some hay"], in: conversation, fixture)
            XCTAssertTrue(MainLoop.pump { conversation.timeline.rows.count { $0.message != nil } == 2 })
            let window = try Self.open(fixture)
            guard let view = window.content.conversationView else { return XCTFail("no conversation") }
            conversation.timeline.send(.selection(.selectAll))
            XCTAssertTrue(conversation.timeline.hasSelection)
            try RealInput.press("ctrl+f")
            XCTAssertTrue(MainLoop.pump { view.searchBar.field.hasFocus })
            try RealInput.type("hay")
            XCTAssertTrue(MainLoop.pump { conversation.search.state.text == "hay" })
            try RealInput.press("ctrl+a", "ctrl+c")
            let clipboard = window.window.clipboard
            var copied: String?
            var isReading = false
            let isCopied = {
                if !isReading, copied != "hay" {
                    isReading = true
                    AsyncCall.start {
                        gdk_clipboard_read_text_async(clipboard.cast(), nil, $0, $1)
                    } _: { _, result in
                        let read = gdk_clipboard_read_text_finish(clipboard.cast(), result, nil)
                        defer { g_free(read) }
                        copied = read.map { String(cString: $0) }
                        isReading = false
                    }
                }
                return copied == "hay"
            }
            XCTAssertTrue(MainLoop.pump(until: isCopied), copied ?? "nothing")
            XCTAssertTrue(MainLoop.pump { !isReading })
            try window.finishClosing()
            try fixture.close()
        }
    }

    func testGlobalSearchOpensAMessageInAnotherRoom() throws {
        try onMain {
            let fixture = try ChatFixture()
            let first = try fixture.openRoom(named: "First")
            try Self.say(["a walrus at sea"] + (1...100).map { "talk \($0)" }, in: first, fixture)
            let second = try fixture.openRoom(named: "Second")
            try Self.say(["another Walrus <b>here</b>"], in: second, fixture)
            let window = try Self.open(fixture)
            let pane = window.sidebar.searchPane
            try RealInput.press("ctrl+shift+f")
            XCTAssertTrue(MainLoop.pump { pane.field.hasFocus && pane.hintText.contains("from:") })
            try RealInput.type("walr")
            let search = fixture.coordinator.search
            XCTAssertTrue(MainLoop.pump { search.state.text == "walr" && !search.state.isSearching }, "all is typed")
            XCTAssertTrue(MainLoop.pump { search.state.results.map(\.roomName) == ["Second", "First"] })
            XCTAssertTrue(
                MainLoop.pump {
                    ConversationBench.descendants(of: pane.list).contains {
                        $0.wrapped(as: Label.self, gtk_label_get_type())?.text == "You: another Walrus <b>here</b>"
                    }
                }, "one's own message says so")
            try RealInput.press("Down", "Down")
            XCTAssertTrue(MainLoop.pump { pane.list.selectedIndex == 1 }, "\(pane.list.selectedIndex as Any)")
            try RealInput.press("Return")
            XCTAssertTrue(
                MainLoop.pump {
                    fixture.coordinator.conversation?.roomID == first.roomID
                        && fixture.coordinator.conversation?.timeline.state.isDetached == true
                }, "the other room is open at the message")
            XCTAssertTrue(search.state.isOpen, "the results stay")
            try RealInput.press("Escape")
            XCTAssertTrue(MainLoop.pump { window.content.conversationView?.composerHasFocus == true })
            XCTAssertTrue(MainLoop.pump { !pane.widget.isVisible })
            try RealInput.press("ctrl+shift+f")
            try RealInput.type("walr has:photograph")
            XCTAssertTrue(MainLoop.pump { pane.hintText.contains("photograph") }, pane.hintText)
            try RealInput.press("ctrl+a")
            try RealInput.type("unheard")
            XCTAssertTrue(MainLoop.pump { pane.showsNoResults })
            XCTAssertTrue(MainLoop.pump { pane.rowCount == 0 }, "the rows of earlier results are freed")
            try window.finishClosing()
            try fixture.close()
        }
    }

    /// Each scroll event would request them again otherwise, as long as the server or the disk fails.
    func testFailedFurtherResultsAreRequestedAgainByTheButton() throws {
        try onMain {
            try Resource.load()
            let service = FailingPages()
            let viewModel = SearchViewModel(service: service, time: Timekeeper(ManualClock()), rooms: { [] })
            let pane = SearchPane(viewModel: viewModel)
            pane.widget.isVisible = true
            let window = TestWindow(pane.widget, width: 360, height: 640)
            pane.open()
            viewModel.send(.field(.type("message")))
            let adjustment = try XCTUnwrap(
                pane.list.parent?.wrapped(as: ScrolledWindow.self, gtk_scrolled_window_get_type())
            ).verticalAdjustment
            let scroll = { (distance: Double) in
                adjustment.value = adjustment.upper - adjustment.pageSize - distance
            }
            XCTAssertTrue(MainLoop.pump { adjustment.upper > adjustment.pageSize + 100 })
            scroll(0)
            XCTAssertTrue(MainLoop.pump { pane.retry.isMapped && !viewModel.state.isSearching })
            for distance in [50.0, 0, 50, 0] {
                scroll(distance)
                XCTAssertFalse(viewModel.state.isSearching)
            }
            XCTAssertEqual(service.furtherCount, 1)
            XCTAssertEqual(viewModel.state.results.count, 50)
            service.endFailures()
            XCTAssertTrue(pane.retry.grabFocus())
            gtk_widget_activate(pane.retry.cast())
            XCTAssertTrue(MainLoop.pump { viewModel.state.results.count == 60 && !pane.retry.isMapped })
            XCTAssertEqual(service.furtherCount, 2)
            XCTAssertTrue(pane.field.hasFocus)
            window.close()
        }
    }

    /// The list is rendered when a page is requested, and when it has arrived.
    func testResultsThatStayAreNotSetAgain() throws {
        try onMain {
            let fixture = try ChatFixture()
            let room = try fixture.openRoom(named: "Plans")
            try Self.say((1...60).map { "walrus \($0)" }, in: room, fixture)
            let window = try Self.open(fixture)
            window.sidebar.openSearch()
            let (pane, search) = (window.sidebar.searchPane, fixture.coordinator.search)
            search.send(.field(.type("walrus")))
            XCTAssertTrue(MainLoop.pump { search.state.results.count >= 50 && pane.rowCount >= 50 })
            search.send(.loadMore)
            XCTAssertTrue(MainLoop.pump { search.state.results.count == 60 && pane.rowCount == 60 })
            XCTAssertEqual(pane.renderCount, 60)
            try window.finishClosing()
            try fixture.close()
        }
    }

    /// In two panes and in one, the button is pressed while the search is open; the keys only open it.
    func testHeaderButtonOpensAndClosesTheSearch() throws {
        try onMain {
            for width: Int32? in [nil, 360] {
                let fixture = try ChatFixture()
                _ = try fixture.openRoom(named: "Plans")
                let window = try Self.open(fixture, width: width)
                XCTAssertTrue(MainLoop.pump { window.panes.isFolded == (width != nil) })
                window.showSidebar()
                let button = try XCTUnwrap(
                    window.window.descendants.first {
                        $0.isInstance(of: gtk_toggle_button_get_type()) && $0.tooltip == "Search All Rooms"
                    })
                let isPressed = { button.withPointer { gtk_toggle_button_get_active($0) != 0 } }
                let search = fixture.coordinator.search
                let pane = window.sidebar.searchPane
                XCTAssertFalse(isPressed())
                try RealInput.point(at: button)
                try RealInput.click()
                XCTAssertTrue(MainLoop.pump { isPressed() && pane.field.hasFocus })
                XCTAssertTrue(search.state.isOpen)
                try RealInput.point(at: button)
                try RealInput.click()
                XCTAssertTrue(MainLoop.pump { !isPressed() && !search.state.isOpen })
                XCTAssertTrue(MainLoop.pump { !pane.widget.isVisible && window.sidebar.rooms.isVisible })
                let isBack = {
                    width == nil
                        ? window.content.conversationView?.composerHasFocus == true
                        : window.window.focus.map { window.sidebar.rooms.isAncestor(of: $0) } == true
                }
                XCTAssertTrue(MainLoop.pump { isBack() }, "the focus is where Escape would leave it")
                try RealInput.press("ctrl+shift+f")
                XCTAssertTrue(MainLoop.pump { isPressed() && pane.field.hasFocus })
                try RealInput.press("ctrl+shift+f")
                try RealInput.type("hay")
                XCTAssertTrue(MainLoop.pump { search.state.text == "hay" }, "it is still open: \(search.state.text)")
                XCTAssertTrue(isPressed())
                try RealInput.press("Escape")
                XCTAssertTrue(MainLoop.pump { !isPressed() && !search.state.isOpen })
                try window.finishClosing()
                try fixture.close()
            }
        }
    }
}

/// Finds 60 messages, of which the second page cannot be read at first.
private final class FailingPages: SearchService {
    private let state = Mutex((fails: true, furtherCount: 0))

    /// How often the second page was requested.
    var furtherCount: Int { state.withLock { $0.furtherCount } }

    func endFailures() { state.withLock { $0.fails = false } }

    func search(_ query: SearchQuery) async throws -> SearchPage {
        guard query.after != nil else {
            let first = (Int64(11)...60).reversed().map { Fixtures.message($0) }
            return SearchPage(messages: first, next: SearchCursor(rawValue: 11))
        }
        let fails = state.withLock { state in
            state.furtherCount += 1
            return state.fails
        }
        if fails { throw ChatError.unreachable }
        return SearchPage(messages: (Int64(1)...10).reversed().map { Fixtures.message($0) }, next: nil)
    }

    func members(named name: String) async throws -> Set<MemberID> { [] }
}
