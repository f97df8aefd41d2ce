import CGtk
import ChatCore
import ChatTestSupport
import ChatViewModels
import Composer
import GtkTestSupport
import LocalBackend
import XCTest

@testable import ChatGtk
@testable import ComposerGtk
@testable import GtkKit
@testable import TimelineGtk

/// One view shows one room after another, and nothing of the one is left in the other.
final class RoomSwitchTests: GtkTestCase {
    func testRoomsShareTheViewAndItsRows() throws {
        try onMain {
            let bench = try RoomSwitchBench()
            let view = try bench.open(bench.long)
            let made = view.timeline.list.statistics.made
            XCTAssertGreaterThan(made, 5)
            weak let left: Conversation? = view.conversation
            weak let timeline: TimelineViewModel? = view.conversation.timeline
            XCTAssertTrue(try bench.open(bench.plans) === view)
            XCTAssertTrue(MainLoop.pump { left == nil && timeline == nil }, "the room that was left is freed")
            XCTAssertEqual(bench.title, "Plans")
            XCTAssertTrue(try bench.open(bench.long) === view)
            XCTAssertLessThanOrEqual(view.timeline.list.statistics.made, made + 2, "its rows are used again")
            try bench.close()
        }
    }

    func testNothingAccumulates() throws {
        try onMain {
            let bench = try RoomSwitchBench()
            var closures = 0
            for round in 0..<20 {
                try bench.open(bench.long)
                try bench.open(bench.plans)
                bench.waitUntilStill()
                if round == 3 { closures = ClosureCount.live }
            }
            // A row more or less may be bound for the moment, with three; sixteen are one for each further round.
            XCTAssertLessThan(ClosureCount.live, closures + 8)
            try bench.close()
        }
    }

    func testEachRoomHasItsOwnText() throws {
        try onMain {
            let bench = try RoomSwitchBench()
            let view = try bench.open(bench.long)
            let first = view.conversation.composer
            first.handle(.insert("one ", origin: .paste))
            first.handle(.insert("*two*", origin: .paste))
            first.handle(.select(TextRange(location: 4, length: 3)))
            XCTAssertEqual(bench.displayedText, "one *two*")
            try bench.open(bench.plans)
            XCTAssertEqual(bench.displayedText, "")
            let second = view.conversation.composer
            XCTAssertTrue(MainLoop.pump { view.composer.hasFocus && second.state.composer.isFocused })
            XCTAssertFalse(first.state.composer.isFocused, "the text that was left has lost the focus")
            try RealInput.activate(bench.main.window)
            try RealInput.type("bee")
            XCTAssertTrue(MainLoop.pump { second.document.text == "bee" && bench.displayedText == "bee" })
            first.handle(.insert(" late", origin: .code))
            XCTAssertEqual(bench.displayedText, "bee", "what the other text still does is not for this view")
            second.handle(.undo)
            XCTAssertEqual(second.document.text, "")
            second.handle(.undo)
            XCTAssertEqual(first.document.text, "one  lateo*")
            try bench.open(bench.long)
            XCTAssertTrue(view.conversation.composer === first)
            XCTAssertEqual(bench.displayedText, "one  lateo*")
            first.handle(.undo)
            first.handle(.undo)
            XCTAssertEqual(bench.displayedText, "one ")
            try bench.open(bench.plans)
            XCTAssertEqual(bench.displayedText, "")
            second.handle(.redo)
            XCTAssertEqual(bench.displayedText, "bee")
            try bench.close()
        }
    }

    func testBarsOfTheRoomThatIsLeftAreGoneAtOnce() throws {
        try onMain {
            let bench = try RoomSwitchBench()
            let view = try bench.open(bench.long)
            let widgets = view.composer.bar.widgets
            let composer = view.conversation.composer
            let last = try XCTUnwrap(view.conversation.timeline.rows.reversed().lazy.compactMap(\.message).first)
            view.conversation.timeline.send(.message(last.id, .reply))
            view.conversation.timeline.send(.selection(.toggle(last.id)))
            composer.send(.typingUsers(["Alex"]))
            XCTAssertTrue(
                MainLoop.pump {
                    widgets.reply.isRevealed && widgets.reply.height > 0 && view.selectionBar.widget.isRevealed
                        && view.selectionBar.widget.height > 0 && bench.texts.contains { $0.contains("Alex is typing") }
                })
            try bench.select(bench.plans)
            XCTAssertFalse(widgets.reply.isRevealed || view.selectionBar.widget.isRevealed)
            XCTAssertFalse(
                gtk_revealer_get_child_revealed(widgets.reply.cast()) != 0, "without an animation over the other room")
            XCTAssertFalse(bench.texts.contains { $0.contains("is typing") })
            try bench.open(bench.long)
            XCTAssertTrue(MainLoop.pump { widgets.reply.isRevealed }, "the reply is part of the draft")
            XCTAssertFalse(view.selectionBar.widget.isRevealed)
            try bench.close()
        }
    }

    func testSearchStaysInItsRoom() throws {
        try onMain {
            let bench = try RoomSwitchBench()
            let view = try bench.open(bench.long)
            view.openSearch()
            view.conversation.search.send(.field(.type("words")))
            XCTAssertTrue(MainLoop.pump { bench.rows.contains { $0.highlightedText != nil } })
            XCTAssertTrue(MainLoop.pump { !view.searchBar.countText.isEmpty })
            let search = view.conversation.search
            try bench.open(bench.other)
            XCTAssertFalse(view.searchBar.widget.isVisible)
            XCTAssertEqual(view.searchBar.field.widget.text, "")
            XCTAssertEqual(view.searchBar.countText, "")
            XCTAssertTrue(MainLoop.pump { !bench.rows.isEmpty })
            XCTAssertFalse(bench.rows.contains { $0.highlightedText != nil })
            search.send(.field(.type("with")))
            view.openSearch()
            XCTAssertEqual(view.searchBar.field.widget.text, "")
            view.conversation.search.send(.field(.type("one")))
            XCTAssertTrue(MainLoop.pump { view.searchBar.field.widget.text == "one" })
            XCTAssertEqual(search.state.text, "with")
            try bench.close()
        }
    }

    func testEachRoomKeepsItsPlace() throws {
        try onMain {
            let bench = try RoomSwitchBench()
            let view = try bench.open(bench.long)
            let list = view.timeline.list
            bench.waitUntilStill()
            XCTAssertTrue(list.isAtEnd)
            list.scroll(by: -1500.5)
            bench.waitUntilStill()
            XCTAssertTrue(MainLoop.pump { view.isLatestVisible })
            let read = try XCTUnwrap(bench.lowestRead)
            try bench.open(bench.other)
            bench.waitUntilStill()
            XCTAssertTrue(list.isAtEnd, "the other room is at its end")
            XCTAssertFalse(view.isLatestVisible)
            XCTAssertNotEqual(bench.lowestRead?.key, read.key)
            try bench.open(bench.long)
            bench.waitUntilStill()
            let again = try XCTUnwrap(bench.lowestRead)
            XCTAssertEqual(again.key, read.key)
            XCTAssertEqual(again.bottom, read.bottom, accuracy: 1)
            XCTAssertTrue(MainLoop.pump { view.isLatestVisible })
            try bench.close()
        }
    }

    func testFocusAndMenusStayInTheirRoom() throws {
        try onMain {
            let bench = try RoomSwitchBench()
            let view = try bench.open(bench.long)
            try RealInput.activate(bench.main.window)
            view.focusTimeline()
            XCTAssertTrue(MainLoop.pump { view.timeline.list.focusedRow != nil })
            let row = try XCTUnwrap(bench.rows.last)
            view.timeline.openMenu(of: row)
            XCTAssertTrue(MainLoop.pump { view.timeline.menu.isOpen })
            try bench.open(bench.other)
            XCTAssertFalse(view.timeline.menu.isOpen)
            XCTAssertTrue(MainLoop.pump { view.composerHasFocus })
            XCTAssertNil(view.timeline.list.focusedRow)
            view.focusTimeline()
            XCTAssertTrue(
                MainLoop.pump { view.timeline.list.focusedRow == view.timeline.list.visibleRows.upperBound - 1 })
            try bench.open(bench.long)
            XCTAssertFalse(view.timeline.menu.isOpen)
            XCTAssertTrue(MainLoop.pump { view.composerHasFocus })
            try bench.close()
        }
    }

    func testWhatHappensInTheRoomThatWasLeftLeavesTheOtherAlone() throws {
        try onMain {
            let bench = try RoomSwitchBench()
            let view = try bench.open(bench.long)
            let left = view.conversation
            let newest = try XCTUnwrap(left.timeline.rows.reversed().lazy.compactMap(\.message).first)
            try bench.open(bench.other)
            bench.waitUntilStill()
            let (texts, position) = (bench.texts, view.timeline.list.position)
            let bindings = view.timeline.list.statistics.bindings
            let backend = bench.fixture.backend
            let long = bench.long
            try finish {
                _ = try await backend.send(WrittenMessage("meanwhile"), as: TransactionID("meanwhile"), to: long)
            }
            left.timeline.send(.pages(.jump(.oldest)))
            left.timeline.send(.selection(.selectAll))
            left.timeline.send(.message(newest.id, .forward))
            left.timeline.send(.message(newest.id, .requestDeletion))
            left.composer.send(.typingUsers(["Alex"]))
            bench.waitUntilStill()
            XCTAssertEqual(view.timeline.list.position, position)
            XCTAssertEqual(view.timeline.list.statistics.bindings, bindings)
            XCTAssertEqual(OpenDialogs.all.count, 0)
            XCTAssertEqual(bench.texts, texts)
            XCTAssertFalse(bench.rows.contains { $0.item?.text.contains("meanwhile") == true })
            XCTAssertFalse(view.selectionBar.widget.isRevealed)
            XCTAssertEqual(view.announced, "")
            try bench.open(bench.long)
            XCTAssertTrue(MainLoop.pump { bench.rows.contains { $0.item?.text.contains("meanwhile") == true } })
            try bench.close()
        }
    }
}

/// A main window over three rooms: one with many messages, one with a few, and one without any.
@MainActor
private final class RoomSwitchBench {
    let long = ConversationBench.room
    let plans: RoomID
    let other: RoomID
    let fixture: ChatFixture
    let main: MainWindow

    private static let application: Application = {
        let application = Application(id: "io.github.parlance_chat.Parlance.RoomSwitch")
        g_application_set_flags(application.cast(), shim_application_non_unique)
        g_application_register(application.cast(), nil, nil)
        return application
    }()

    init() throws {
        let fixture = try ConversationBench.makeRoom(80, unread: 0)
        self.fixture = fixture
        plans = try fixture.openRoom(named: "Plans").roomID
        let conversation = try fixture.openRoom(named: "Garden")
        other = conversation.roomID
        for text in ["one", "one more", "and one again"] {
            conversation.composer.handle(.insert(text, origin: .paste))
            conversation.composer.handle(.send)
        }
        guard MainLoop.pump(until: { conversation.timeline.rows.count { $0.message != nil } == 3 }) else {
            throw TimedOut()
        }
        main = MainWindow(application: Self.application, coordinator: fixture.coordinator, settings: nil)
        main.window.withPointer { gtk_window_set_default_size($0, 900, 640) }
        main.present()
        let window = main.window
        guard MainLoop.pump(until: { window.isMapped && window.width > 0 }) else { throw TimedOut() }
    }

    /// Opens a room, and returns the view as soon as it shows it, whatever is loaded.
    @discardableResult
    func select(_ room: RoomID) throws -> ConversationView {
        fixture.coordinator.rooms.send(.select(room))
        guard
            MainLoop.pump(until: { [main] in main.content.conversationView?.conversation.roomID == room }),
            let view = main.content.conversationView
        else { throw TimedOut() }
        return view
    }

    /// Opens a room, and waits until it is loaded.
    @discardableResult
    func open(_ room: RoomID) throws -> ConversationView {
        let view = try select(room)
        guard
            MainLoop.pump(until: {
                view.conversation.timeline.state.isLoaded && view.conversation.composer.state.isReady
                    && (view.timeline.list.isLaidOut || view.conversation.timeline.state.isEmpty)
                    && view.widget.isMapped
            })
        else { throw TimedOut() }
        return view
    }

    private var view: ConversationView? { main.content.conversationView }

    /// Runs frames until the list rests.
    func waitUntilStill() {
        guard let list = view?.timeline.list else { return }
        var (still, before) = (0, "")
        list.widget.addTick {
            let now = "\(list.visibleRows) \(list.distanceFromEnd) \(list.isBusy)"
            still = now == before && !list.isBusy ? still + 1 : 0
            before = now
            return still < 4
        }
        _ = MainLoop.pump { still >= 4 }
    }

    var rows: [MessageRow] { view?.timeline.list.realizedRows.compactMap { $0.row as? MessageRow } ?? [] }

    /// The lowest row whose bottom edge is in view.
    var lowestRead: (key: AnyHashable, bottom: Double)? {
        guard let list = view?.timeline.list else { return nil }
        return list.realizedRows.compactMap { row in
            list.bounds(of: row.key).map { (row.key, $0.top + $0.height) }
        }.last { $0.1 <= Double(list.widget.height) + 0.5 }
    }

    var title: String {
        view?.widget.descendants.lazy.compactMap { $0.wrapped(as: WindowTitle.self, adw_window_title_get_type()) }
            .map { $0.text("title") }.first ?? ""
    }

    /// The labels that are shown in the room.
    var texts: [String] { view?.widget.visibleTexts ?? [] }

    /// The text view's content.
    var displayedText: String {
        guard let textView = view?.composer.textView else { return "" }
        let buffer = gtk_text_view_get_buffer(textView.cast())
        var (start, end) = (GtkTextIter(), GtkTextIter())
        gtk_text_buffer_get_bounds(buffer, &start, &end)
        guard let text = gtk_text_buffer_get_text(buffer, &start, &end, 1) else { return "" }
        defer { g_free(text) }
        return String(cString: text)
    }

    func close() throws {
        try main.finishClosing()
        try fixture.close()
    }
}
