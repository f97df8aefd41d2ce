import CGtk
import ChatCore
import ChatStore
import ChatTestSupport
import ChatViewModels
import Composer
import ComposerSessions
import Foundation
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import GtkKit
@testable import TimelineGtk

/// A conversation driven by real key and pointer events.
final class TimelineInputTests: GtkTestCase {
    func testArrowKeysMoveBetweenRows() throws {
        try onMain {
            let bench = try ConversationBench(300)
            bench.timeline.grabFocus()
            XCTAssertEqual(bench.list.focusedRow, bench.model.rows.index(of: bench.id(299)))
            try bench.press("Up", "Up")
            XCTAssertEqual(bench.list.focusedRow, bench.model.rows.index(of: bench.id(297)))
            try bench.press("Prior", "Prior")
            let read = bench.visible
            XCTAssertFalse(read.contains(299))
            XCTAssertTrue(bench.view.isLatestVisible)
            try bench.press("ctrl+End")
            XCTAssertTrue(bench.wait { bench.list.isAtEnd })
            try bench.press("Home")
            XCTAssertFalse(bench.list.isAtEnd)
            bench.timeline.grabFocus()
            try bench.press("Escape")
            XCTAssertTrue(bench.view.composerHasFocus)
            try bench.close()
        }
    }

    /// Tab leads from a row to its quote, which jumps by Return; the arrow keys go from row to row from there too.
    func testQuoteIsFocusedByTabAndJumpsByReturn() throws {
        try onMain {
            let bench = try ConversationBench(30)
            let quote: @MainActor () -> Widget? = {
                guard let row = bench.row(29) else { return nil }
                return ConversationBench.descendants(of: row.widget).first { $0.hasStyle("message-quote") }
            }
            bench.timeline.grabFocus()
            try bench.press("Tab")
            XCTAssertTrue(bench.wait { quote()?.hasFocus == true })
            try bench.press("Up")
            XCTAssertEqual(bench.list.focusedRow, bench.model.rows.index(of: bench.id(28)))
            try bench.press("Down", "Tab")
            XCTAssertTrue(bench.wait { quote()?.hasFocus == true })
            try bench.press("Return")
            XCTAssertTrue(bench.wait { bench.row(14)?.widget.hasFocus == true }, "the focus goes along")
            XCTAssertTrue(bench.visible.contains(14))
            try bench.press("Up")
            XCTAssertEqual(bench.list.focusedRow, bench.model.rows.index(of: bench.id(13)))
            try bench.close()
        }
    }

    /// SLK-56: Ctrl+Home and Ctrl+End reach the room's ends from anywhere.
    func testControlHomeAndEndReachTheRoomsEnds() throws {
        try onMain {
            let bench = try ConversationBench(1000)
            XCTAssertFalse(bench.view.isLatestVisible)
            bench.timeline.grabFocus()
            try bench.press("ctrl+Home")
            XCTAssertTrue(bench.wait { bench.visible.first == 0 && bench.list.distanceFromStart == 0 })
            bench.waitUntilIdle()
            XCTAssertEqual(bench.list.bounds(of: bench.model.rows[0].id)?.top, 0, "from its first day on")
            XCTAssertTrue(bench.view.isLatestVisible && bench.model.state.isDetached)
            try bench.press("ctrl+End")
            XCTAssertTrue(bench.wait { bench.list.isAtEnd && !bench.model.state.isDetached })
            bench.waitUntilIdle()
            XCTAssertEqual(bench.bottom(999), Double(bench.list.widget.height), accuracy: 0.5)
            XCTAssertTrue(bench.wait { !bench.view.isLatestVisible })
            try bench.close()
        }
    }

    func testPickingADayScrollsThereAndReturnsTheFocus() throws {
        try onMain {
            // 9,600 s apart: nine messages a day.
            let bench = try ConversationBench(1000, apart: 9600)
            bench.view.focusComposer()
            // Select the day two days before the visible one by keys.
            bench.view.openCalendar()
            bench.waitUntilIdle()
            XCTAssertFalse(bench.view.composerHasFocus)
            try bench.press("Left", "Up", "Page_Down", "Page_Up", "Down", "Left", "Return")
            XCTAssertTrue(bench.wait { (970...990).contains(bench.visible.first ?? 0) })
            XCTAssertTrue(bench.wait { bench.view.composerHasFocus })
            try bench.close()
        }
    }

    /// SLK-56: the button shows the unread count and scrolls to the very end.
    func testJumpButtonShowsUnreadCountAndScrollsToTheEnd() throws {
        try onMain {
            // What is in view counts as read after a second, which the steps up to the click may take.
            let clock = ManualClock()
            let fixture = try ConversationBench.makeRoom(400, unread: 0, time: Timekeeper(clock))
            try finish { [store = fixture.store] in
                for number in 400..<442 {
                    _ = try await store.append(
                        NewMessage(
                            id: MessageID("m\(number)"), sender: ConversationBench.other,
                            text: ConversationBench.text(number), sentAt: Date(timeIntervalSince1970: 1_768_000_000)),
                        to: ConversationBench.room)
                }
            }
            let bench = try ConversationBench(in: fixture)
            XCTAssertTrue(bench.wait { bench.view.isLatestVisible })
            let rooms = bench.fixture.coordinator.rooms
            var row: RoomListViewModel.Row? { rooms.state.rows.first { $0.id == ConversationBench.room } }
            XCTAssertTrue(bench.wait { row?.unreadCount == 42 }, "\(row?.unreadCount as Any)")
            bench.view.show(try XCTUnwrap(row), isFolded: false)
            let parts = ConversationBench.descendants(of: bench.view.widget)
            let button = try XCTUnwrap(parts.first { $0.hasStyle("parlance-latest") })
            let count = ConversationBench.descendants(of: button).first { $0.hasStyle("numeric") }
            XCTAssertEqual(count.map { Label(borrowing: $0.pointer).text }, "42")
            try bench.activate()
            try RealInput.point(at: button)
            try RealInput.click()
            XCTAssertTrue(bench.wait { bench.list.isAtEnd && !bench.model.state.isDetached })
            bench.waitUntilIdle()
            XCTAssertEqual(bench.visible.last, 441)
            XCTAssertEqual(bench.bottom(441), Double(bench.list.widget.height))
            XCTAssertTrue(
                bench.wait {
                    clock.advance(by: .seconds(1))
                    return row?.unreadCount == 0
                }, "seen is read")
            XCTAssertTrue(bench.wait { !bench.view.isLatestVisible })
            XCTAssertTrue(bench.view.composerHasFocus)
            try bench.close()
        }
    }

    func testTypingInTheTimelineFocusesTheComposer() throws {
        try onMain {
            let bench = try ConversationBench(30)
            bench.timeline.grabFocus()
            try bench.input("type", "--delay", "20", "Hi there")
            XCTAssertTrue(bench.wait { bench.conversation.composer.document.text == "Hi there" })
            XCTAssertTrue(bench.view.composerHasFocus)
            try bench.close()
        }
    }

    func testRRepliesToTheFocusedMessage() throws {
        try onMain {
            let bench = try ConversationBench(30)
            bench.timeline.grabFocus()
            try bench.press("Up", "r")
            XCTAssertTrue(bench.wait { bench.conversation.composer.state.composer.reply?.messageID == "m28" })
            XCTAssertTrue(bench.wait { bench.view.composerHasFocus })
            try bench.input("type", "--delay", "20", "Yes")
            try bench.press("Return")
            XCTAssertTrue(bench.wait { bench.model.lastEditable?.text == "Yes" })
            guard case .text(MessageID("m28"), _, _, _)? = bench.model.lastEditable?.quote else {
                return XCTFail("quotes \(bench.model.lastEditable?.quote as Any)")
            }
            try bench.close()
        }
    }

    func testTextIsSelectedAcrossMessagesByKeyboardAndCopied() throws {
        try onMain {
            let bench = try ConversationBench(30)
            bench.timeline.grabFocus()
            try bench.press("shift+Up", "shift+Up")
            XCTAssertEqual(bench.model.selectedFragment?.text.split(separator: "\n").count, 2)
            try bench.press("ctrl+c")
            let expected = "Alex: \(ConversationBench.text(28))\nRobin: \(ConversationBench.text(29))"
            XCTAssertEqual(try bench.clipboardText(), expected)
            let formats = gdk_clipboard_get_formats(gtk_widget_get_clipboard(bench.list.widget.cast()))
            XCTAssertNotEqual(gdk_content_formats_contain_mime_type(formats, "text/html"), 0)
            XCTAssertEqual(bench.row(29)?.isSelected, true)
            try bench.press("Escape")
            XCTAssertNil(bench.model.selectedText)
            XCTAssertEqual(bench.row(29)?.isSelected, false)
            XCTAssertFalse(bench.view.composerHasFocus, "one layer a press")
            try bench.close()
        }
    }

    /// SLK-48: selecting with the mouse leaves the focus in the composer; Ctrl+C there copies the selection.
    func testTextIsSelectedAcrossMessagesByPointer() throws {
        try onMain {
            let bench = try ConversationBench(30)
            bench.view.focusComposer()
            let (from, to) = (try bench.point(25, x: 30), try bench.point(27, x: 40))
            try bench.input(
                ["mousemove"] + from + ["mousedown", "1", "mousemove_relative", "4", "4", "mousemove"] + to
                    + ["mousemove_relative", "1", "1", "mouseup", "1"])
            let selection = try XCTUnwrap(bench.model.selectedText)
            XCTAssertEqual(selection.anchor.message, MessageID("m25"))
            XCTAssertEqual(selection.focus.message, MessageID("m27"))
            XCTAssertTrue(selection.anchor.offset > 0 && selection.focus.offset > 0)
            XCTAssertTrue(bench.view.composerHasFocus)
            try bench.press("ctrl+c")
            let copied = try bench.clipboardText()
            XCTAssertTrue(copied?.contains("Robin: \(ConversationBench.text(26))") ?? false, "\(copied ?? "")")
            try bench.input(["mousemove"] + from + ["click", "1"])
            XCTAssertTrue(bench.wait { bench.model.selectedText == nil })
            try bench.close()
        }
    }

    func testDoubleClickSelectsAWordInOthersMessages() throws {
        try onMain {
            let bench = try ConversationBench(30)
            try bench.input(["mousemove"] + bench.point(28, x: 12))
            try bench.input("click", "--repeat", "2", "--delay", "60", "1")
            XCTAssertTrue(
                bench.wait { bench.model.selectedFragment?.text == "Message" },
                "selects \(bench.model.selectedText as Any)")
            try bench.close()
        }
    }

    /// Immediate successive edits: the first one's edit bar shifts the rows above it.
    func testDoubleClickEditsOwnMessages() throws {
        try onMain {
            let bench = try ConversationBench(30)
            for number in [29, 26, 29, 23, 26] {
                bench.list.scroll(to: bench.id(number), at: .nearest)
                bench.waitUntilIdle()
                try bench.input(["mousemove"] + bench.point(number, x: 12))
                try bench.input("click", "--repeat", "2", "--delay", "60", "1")
                XCTAssertTrue(
                    bench.wait { bench.conversation.composer.state.composer.editing == "m\(number)" },
                    "m\(number): \(bench.conversation.composer.state.composer.mode), "
                        + "selects \(bench.model.selectedText as Any)")
            }
            try bench.close()
        }
    }

    /// SLK-48, SLK-49 apply to touch events only.
    func testOnlyTouchEventsCountAsTouch() {
        onMain {
            for type in [
                GDK_BUTTON_PRESS, GDK_BUTTON_RELEASE, GDK_MOTION_NOTIFY, GDK_SCROLL, GDK_PROXIMITY_IN,
                GDK_TOUCHPAD_SWIPE, GDK_TOUCHPAD_PINCH, GDK_TOUCHPAD_HOLD,
            ] {
                XCTAssertFalse(InputEvent.isTouch(type), "\(type)")
            }
            for type in [GDK_TOUCH_BEGIN, GDK_TOUCH_UPDATE, GDK_TOUCH_END, GDK_TOUCH_CANCEL] {
                XCTAssertTrue(InputEvent.isTouch(type), "\(type)")
            }
        }
    }

    func testClicksAreCountedByTimeAndDistance() {
        onMain {
            var clicks = ClickCount(time: 400, distance: 5)
            XCTAssertEqual(clicks.press(x: 10, y: 10, at: .max - 50), 1)
            XCTAssertEqual(clicks.press(x: 13, y: 7, at: 60), 2, "the clock went round")
            XCTAssertEqual(clicks.press(x: 13, y: 90, at: 120), 1, "elsewhere")
            XCTAssertEqual(clicks.press(x: 13, y: 90, at: 180), 2, "soon after another double click")
            XCTAssertEqual(clicks.press(x: 13, y: 90, at: 240), 3)
            XCTAssertEqual(clicks.press(x: 13, y: 90, at: 641), 1, "late")
            clicks.reset()
            XCTAssertEqual(clicks.press(x: 13, y: 90, at: 700), 1, "after a drag")
            let (first, second) = (MessageID("m1"), MessageID("m2"))
            XCTAssertEqual(clicks.press(x: 13, y: 90, at: 750, on: first), 1)
            XCTAssertEqual(clicks.press(x: 13, y: 90, at: 800, on: first), 2)
            XCTAssertEqual(clicks.press(x: 13, y: 90, at: 850, on: second), 1, "the list has scrolled")
        }
    }

    func testMenuOpensByPointerAndKeyboard() throws {
        try onMain {
            let bench = try ConversationBench(30)
            bench.timeline.grabFocus()
            for open in [
                ["key", "Menu"], ["key", RealInput.keycode("shift+F10")],
                ["mousemove"] + (try bench.point(28)) + ["click", "3"],
            ] {
                try bench.input(open)
                XCTAssertTrue(bench.wait { bench.timeline.menu.isOpen }, "\(open)")
                try bench.press("Escape")
                XCTAssertTrue(bench.wait { !bench.timeline.menu.isOpen }, "\(open)")
            }
            try bench.close()
        }
    }

    func testMenuOffersTheLinkUnderThePointer() throws {
        try onMain {
            let fixture = try ConversationBench.makeRoom(30, unread: 0)
            try finish { [store = fixture.store] in
                _ = try await store.append(
                    NewMessage(
                        id: MessageID("m30"), sender: ConversationBench.other, text: "https://a.example/roses",
                        sentAt: Date(timeIntervalSince1970: 1_768_000_000)),
                    to: ConversationBench.room)
            }
            let bench = try ConversationBench(in: fixture)
            let menu = bench.timeline.menu
            var opened: [String] = []
            menu.onOpenLink = { link, _ in opened.append(link.target.address) }
            let over = try bench.point(30, x: 12)
            try bench.input(["mousemove"] + over + ["click", "3"])
            XCTAssertTrue(bench.wait { menu.isOpen })
            XCTAssertTrue(bench.view.widget.activateAction("message.copy-address"))
            XCTAssertTrue(bench.view.widget.activateAction("message.open-link"))
            XCTAssertEqual(try bench.clipboardText(), "https://a.example/roses")
            XCTAssertEqual(opened, ["https://a.example/roses"])
            try bench.press("Escape")
            XCTAssertTrue(bench.wait { !menu.isOpen })
            bench.timeline.grabFocus()
            let beside = try bench.point(28)
            for open in [["key", "Menu"], ["mousemove"] + beside + ["click", "3"]] {
                try bench.input(open)
                XCTAssertTrue(bench.wait { menu.isOpen }, "\(open)")
                for action in ["message.copy-address", "message.open-link"] {
                    XCTAssertFalse(bench.view.widget.isEnabled(action), "\(open): \(action)")
                }
                try bench.press("Escape")
                XCTAssertTrue(bench.wait { !menu.isOpen }, "\(open)")
            }
            try bench.close()
        }
    }

    func testWheelScrollsAndJumpReturnsToTheEnd() throws {
        try onMain {
            let bench = try ConversationBench(300)
            try bench.input(["mousemove"] + bench.point(299) + ["click", "--repeat", "12", "--delay", "10", "4"])
            XCTAssertFalse(bench.list.isAtEnd)
            let read = bench.visible.first ?? 0
            bench.conversation.composer.handle(.insert("a\nb\nc\nd", origin: .typed))
            bench.waitUntilIdle()
            XCTAssertLessThanOrEqual(abs((bench.visible.first ?? 0) - read), 4, "the composer grows over what is read")
            bench.view.jumpToLatest()
            bench.waitUntilIdle()
            XCTAssertEqual(bench.list.distanceFromEnd, 0)
            try bench.close()
        }
    }
}
