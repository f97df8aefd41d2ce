import CGtk
import ChatCore
import Composer
import Foundation
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import ChatViewModels
@testable import GtkKit
@testable import TimelineGtk

/// A conversation on real widgets, over a real store.
final class TimelineViewTests: GtkTestCase {
    func testOpensAtTheNewestMessageAndShowsSentOnes() throws {
        try onMain {
            let bench = try ConversationBench(200)
            XCTAssertTrue(bench.list.isAtEnd)
            XCTAssertEqual(bench.visible.last, 199)
            XCTAssertEqual(bench.bottom(199), Double(bench.list.widget.height), accuracy: 0.5)
            bench.conversation.composer.handle(.insert("one more", origin: .typed))
            bench.conversation.composer.handle(.send)
            XCTAssertTrue(bench.wait { bench.model.lastEditable?.text == "one more" })
            bench.waitUntilIdle()
            XCTAssertTrue(bench.list.isAtEnd)
            XCTAssertEqual(bench.list.distanceFromEnd, 0)
            try bench.close()
        }
    }

    /// Opens at the first unread message; the button scrolls exactly to the end.
    func testOpensAtTheFirstUnreadMessageAndJumpsToTheNewest() throws {
        try onMain {
            let bench = try ConversationBench(400, unread: 150)
            XCTAssertTrue(bench.model.state.isDetached)
            XCTAssertEqual(bench.visible.first, 250)
            let line = bench.list.bounds(of: TimelineItem.ID.unreadLine)
            XCTAssertEqual(line?.top ?? .nan, 0, accuracy: 1)
            XCTAssertTrue(bench.view.isLatestVisible)
            bench.view.scrollToEnd()
            XCTAssertTrue(bench.wait { !bench.model.state.isDetached })
            bench.waitUntilIdle()
            XCTAssertEqual(bench.visible.last, 399)
            XCTAssertEqual(bench.bottom(399), Double(bench.list.widget.height), accuracy: 0.5)
            XCTAssertFalse(bench.view.isLatestVisible)
            try bench.press("shift+Prior")
            XCTAssertFalse(bench.visible.contains(250), "the composer has the focus: the key is not the list's")
            bench.timeline.grabFocus()
            try bench.press("shift+Prior")
            XCTAssertTrue(bench.wait { bench.visible.contains(250) }, "shows \(bench.visible)")
            try bench.close()
        }
    }

    func testMessagesThatArriveUnseenScrollNoFurtherThanToTheUnreadLine() throws {
        try onMain {
            let bench = try ConversationBench(40)
            XCTAssertTrue(bench.wait { bench.list.isAtEnd })
            let other = TestWindow(Label("Something else"))
            try RealInput.activate(other.window)
            let line = { bench.list.bounds(of: TimelineItem.ID.unreadLine) }
            for number in 40..<70 {
                let message = Message(
                    id: MessageID("m\(number)"), roomID: ConversationBench.room, sender: ConversationBench.other,
                    text: ConversationBench.text(number),
                    sentAt: Date(timeIntervalSince1970: 1_768_000_000 + Double(number)), position: Int64(number) + 1)
                bench.model.apply(.changed([message]))
                if number < 42 || number > 60 { bench.waitUntilIdle() }
                if number == 40 { XCTAssertTrue(bench.list.isAtEnd && line() != nil, "it is in view") }
            }
            XCTAssertEqual(line()?.top ?? .nan, 0, accuracy: 1)
            XCTAssertFalse(bench.list.isAtEnd)
            XCTAssertEqual(bench.visible.first, 40)
            other.close()
            try bench.close()
        }
    }

    /// They push its row out of view and, further on, recycle it for others.
    func testFocusReturnsFromTheMenuAfterMessagesHaveArrived() throws {
        try onMain {
            for isRecycled in [false, true] {
                let bench = try ConversationBench(30)
                bench.timeline.grabFocus()
                try bench.press("Menu")
                XCTAssertTrue(bench.wait { bench.timeline.menu.isOpen })
                var last = 29
                while isRecycled ? bench.row(29) != nil : bench.visible.contains(29), last < 200 {
                    last += 1
                    Self.receive(last, bench)
                }
                XCTAssertEqual(bench.row(29) == nil, isRecycled)
                XCTAssertTrue(bench.timeline.menu.isOpen)
                try bench.press("Escape")
                XCTAssertTrue(bench.wait { !bench.timeline.menu.isOpen })
                let focused = isRecycled ? last : 29
                XCTAssertEqual(bench.list.focusedRow, bench.model.rows.index(of: bench.id(focused)))
                XCTAssertEqual(bench.list.widget.root?.focus?.isMapped, true)
                XCTAssertTrue(bench.list.isAtEnd, "nothing has scrolled")
                try bench.close()
            }
        }
    }

    /// SLK-55: loading and dropping pages at both ends never moves the scroll anchor, in any frame.
    func testPagingNeverMovesTheVisibleMessages() throws {
        try onMain {
            let bench = try ConversationBench(1100)
            var drift = 0.0
            var last: (number: Int, bottom: Double)?
            bench.list.widget.addTick {
                if let last, bench.row(last.number) != nil {
                    drift = max(drift, abs(bench.bottom(last.number) - last.bottom))
                }
                return bench.window.window.isMapped
            }
            while bench.model.state.hasOlder {
                last = nil
                bench.list.scrollPage(-8)
                _ = MainLoop.pump { bench.list.distanceFromStart >= 0 && bench.visible.first != nil }
                bench.list.widget.addTick {
                    if last == nil, let number = bench.read { last = (number, bench.bottom(number)) }
                    return false
                }
                bench.waitUntilIdle()
                XCTAssertLessThanOrEqual(bench.model.rows.count, 2 * 480 + 200)
            }
            XCTAssertLessThanOrEqual(drift, 1, "what is read has moved")
            last = nil
            bench.list.scrollToStart()
            bench.waitUntilIdle()
            XCTAssertEqual(bench.visible.first, 0)
            XCTAssertTrue(bench.model.state.isDetached, "the newest are let go of")
            XCTAssertTrue(bench.view.isLatestVisible)
            // Scroll down until the newest messages are loaded.
            for _ in 0..<60 where bench.model.state.isDetached {
                bench.list.scrollPage(12)
                bench.waitUntilIdle()
            }
            XCTAssertFalse(bench.model.state.isDetached)
            bench.list.scrollToEnd()
            bench.waitUntilIdle()
            XCTAssertEqual(bench.visible.last, 1099)
            try bench.close()
        }
    }

    func testJumpToARepliedToMessageScrollsAndHighlightsIt() throws {
        try onMain {
            let bench = try ConversationBench(1000)
            bench.model.send(.pages(.jump(.message(MessageID("m300")))))
            // Not once it is idle: the highlight lasts less than two seconds.
            XCTAssertTrue(
                bench.wait { bench.visible.contains(300) && bench.row(300)?.widget.hasStyle("found") ?? false })
            bench.waitUntilIdle()
            XCTAssertTrue(bench.model.state.isDetached)
            let middle = (bench.list.bounds(of: bench.id(300))?.top ?? .nan) / Double(bench.list.widget.height)
            XCTAssertTrue((0.3...0.7).contains(middle), "at \(middle)")
            XCTAssertTrue(bench.wait { bench.row(300)?.widget.hasStyle("found") == false }, "for a moment")
            try bench.close()
        }
    }

    func testScrollPositionIsRestoredPerRoomAndAcrossRestarts() throws {
        try onMain {
            let first = try ConversationBench(600)
            first.list.scrollPage(-4.3)
            first.waitUntilIdle()
            let (number, place) = (first.visible.last ?? -1, first.bottom(first.visible.last ?? -1))
            first.window.close()
            try finish { [coordinator = first.fixture.coordinator] in await coordinator.flushDrafts() }
            let again = try ConversationBench(in: ChatFixture(reopening: first.fixture))
            XCTAssertEqual(again.visible.last, number)
            XCTAssertEqual(again.bottom(number), place, accuracy: 1)
            XCTAssertTrue(again.view.isLatestVisible)
            try again.close()
        }
    }

    /// Each binding lays its text out once, and only rows near the viewport are bound.
    func testRowsAreRecycled() throws {
        try onMain {
            let bench = try ConversationBench(1000)
            let (layouts, bindings) = (BodyText.layoutsMade, bench.list.layout.realized.bindings)
            let breakings = BodyText.breakings
            for _ in 0..<20 {
                bench.list.scrollPage(-0.5)
                bench.waitUntilIdle()
            }
            let bound = bench.list.layout.realized.bindings - bindings
            XCTAssertGreaterThan(bound, 20)
            XCTAssertLessThanOrEqual(BodyText.layoutsMade - layouts, bound)
            XCTAssertLessThanOrEqual(BodyText.breakings - breakings, 3 * bound, "not at each width that GTK tries")
            XCTAssertLessThanOrEqual(bench.list.layout.realized.widgetCount, 120)
            try bench.close()
        }
    }

    func testTimelineFitsANarrowWindow() throws {
        try onMain {
            let bench = try ConversationBench(300, width: 360, height: 600)
            XCTAssertEqual(bench.window.window.width, 360)
            for number in bench.visible {
                guard let bounds = bench.row(number)?.widget.bounds(in: bench.window.window) else { continue }
                XCTAssertGreaterThanOrEqual(bounds.x, 0)
                XCTAssertLessThanOrEqual(bounds.x + bounds.width, 360)
            }
            try bench.close()
        }
    }

    /// SLK-48, SLK-49: a tap, or dragging over the composer, hides the on-screen keyboard.
    func testTouchDropsTheFocus() throws {
        try onMain {
            let bench = try ConversationBench(100)
            let pointer = try XCTUnwrap(bench.timeline.pointer)
            let top = try XCTUnwrap(bench.view.composerTop)
            for isTouch in [false, true] {
                bench.view.focusComposer()
                XCTAssertTrue(bench.view.composerHasFocus)
                pointer.released(isTouch: isTouch)
                XCTAssertEqual(bench.view.composerHasFocus, !isTouch, "a click or tap on the list")
            }
            for (start, end, drops) in [
                (100, top - 4, false), (100, top + 10, false), (100, top + 40, true), (top + 2, top + 40, false),
            ] {
                bench.view.focusComposer()
                bench.view.fingerMoved(from: start, to: end)
                XCTAssertEqual(bench.view.composerHasFocus, !drops, "from \(start) to \(end) of \(top)")
            }
            try bench.close()
        }
    }

    /// SLK-40, SLK-41: the typing indicator below the messages moves no row.
    func testTypingIndicatorMovesNoRows() throws {
        try onMain {
            let bench = try ConversationBench(100)
            bench.list.scrollPage(-1.5)
            bench.waitUntilIdle()
            let number = try XCTUnwrap(bench.read)
            let (place, height) = (bench.bottom(number), bench.list.widget.height)
            let indicator = try XCTUnwrap(
                ConversationBench.descendants(of: bench.view.widget).first { $0.hasStyle("parlance-typing") })
            let label = Label(borrowing: try XCTUnwrap(indicator.children.first).pointer)
            for (names, isTyping) in [(["Alex"], true), ([], false)] {
                bench.conversation.composer.send(.typingUsers(names))
                XCTAssertTrue(bench.wait { label.text.contains("Alex") == isTyping }, label.text)
                bench.waitUntilIdle()
                XCTAssertEqual(bench.bottom(number), place)
                XCTAssertEqual(bench.list.widget.height, height)
            }
            try bench.close()
        }
    }

    func testMessagesFromOthersAreAnnouncedOnce() throws {
        try onMain {
            let bench = try ConversationBench(30)
            try bench.press("shift")
            let alex = "Alex"
            bench.timeline.onArrived?([bench.model.rows.message(MessageID("m28"))].compactMap { $0 })
            XCTAssertEqual(bench.view.announced, "\(alex): \(ConversationBench.text(28))")
            bench.timeline.onArrived?([28, 27, 25, 24].compactMap { bench.model.rows.message(MessageID("m\($0)")) })
            XCTAssertEqual(bench.view.announced, "4 new messages")
            try bench.close()
        }
    }

    func testSwipeReplies() throws {
        try onMain {
            let bench = try ConversationBench(50)
            let pointer = try XCTUnwrap(bench.timeline.pointer)
            let y = bench.bottom(49) - 12
            pointer.beginSwipe(y: y)
            pointer.swipe(by: 40)
            XCTAssertTrue(bench.row(49)?.widget.hasStyle("swiping") ?? false)
            pointer.endSwipe(by: 40)
            XCTAssertNil(bench.conversation.composer.state.composer.reply)
            pointer.beginSwipe(y: y)
            pointer.endSwipe(by: -80)
            XCTAssertEqual(bench.conversation.composer.state.composer.reply?.messageID, "m49")
            XCTAssertFalse(bench.row(49)?.widget.hasStyle("swiping") ?? true)
            try bench.close()
        }
    }

    /// The server's event has another ID, and comes after its local echo is gone.
    func testFocusStaysOnAMessageThatIsBeingSent() throws {
        try onMain {
            let bench = try ConversationBench(30)
            @MainActor func own(_ id: String, at position: Int64, _ delivery: Message.Delivery) -> Message {
                Message(
                    id: MessageID(id), roomID: ConversationBench.room, sender: ConversationBench.own, text: "Hello",
                    sentAt: Date(timeIntervalSince1970: 1_768_000_000), position: position,
                    transactionID: TransactionID("t"), delivery: delivery)
            }
            let focused = { bench.list.focusedRow.flatMap { bench.model.rows[$0].message?.id.rawValue } }
            bench.model.apply(.changed([own("~t", at: 1 << 40, .sending)]))
            bench.waitUntilIdle()
            bench.timeline.grabFocus()
            XCTAssertEqual(focused(), "~t")
            bench.model.apply(.removed([MessageID("~t")]))
            XCTAssertTrue(bench.wait { focused() == "m29" }, "\(focused() ?? "none")")
            bench.model.apply(.changed([own("sent", at: 31, .sent)]))
            XCTAssertEqual(focused(), "sent")
            bench.waitUntilIdle()
            XCTAssertEqual(focused(), "sent")
            try bench.close()
        }
    }

    func testSwipeRepliesToTheMessageWhereItBegan() throws {
        try onMain {
            let bench = try ConversationBench(50)
            let pointer = try XCTUnwrap(bench.timeline.pointer)
            pointer.beginSwipe(y: bench.bottom(47) - 12)
            pointer.swipe(by: 40)
            let row = try XCTUnwrap(bench.row(47))
            XCTAssertTrue(row.widget.hasStyle("swiping"))
            var last = 49
            while row.item?.id == MessageID("m47"), last < 200 {
                last += 1
                Self.receive(last, bench)
            }
            XCTAssertNotEqual(row.item?.id, MessageID("m47"), "it is recycled")
            pointer.swipe(by: 60)
            XCTAssertFalse(row.widget.hasStyle("swiping"))
            pointer.endSwipe(by: 80)
            XCTAssertEqual(bench.conversation.composer.state.composer.reply?.messageID, "m47")
            try bench.close()
        }
    }

    /// A message that arrives before the touch is long enough scrolls the list.
    func testLongPressOpensTheMenuOfTheMessageWhereItBegan() throws {
        try onMain {
            let bench = try ConversationBench(50)
            let pointer = try XCTUnwrap(bench.timeline.pointer)
            let y = bench.bottom(49) - 12
            pointer.beginTouch(y: y)
            Self.receive(50, bench)
            XCTAssertLessThan(bench.bottom(49), y, "another one is there now")
            pointer.hold(x: 100, y: y)
            XCTAssertTrue(bench.wait { bench.timeline.menu.isOpen })
            var target: MessageID?
            bench.timeline.menu.onAction = { message, _ in target = message }
            XCTAssertTrue(bench.view.widget.activateAction("message.reply"))
            XCTAssertEqual(target, MessageID("m49"))
            try bench.press("Escape")
            XCTAssertTrue(bench.wait { !bench.timeline.menu.isOpen })
            try bench.close()
        }
    }

    /// Shows a message that the user has sent from another device.
    @MainActor
    private static func receive(_ number: Int, _ bench: ConversationBench) {
        let message = Message(
            id: MessageID("m\(number)"), roomID: ConversationBench.room, sender: ConversationBench.own,
            text: "From another device", sentAt: Date(timeIntervalSince1970: 1_768_000_000),
            position: Int64(number) + 1)
        bench.model.apply(.changed([message]))
        XCTAssertTrue(bench.wait { bench.visible.contains(number) && bench.list.isAtEnd })
        bench.waitUntilIdle()
    }

    func testRowsAnnounceSenderTextAndTime() throws {
        try onMain {
            let bench = try ConversationBench(60)
            XCTAssertEqual(gtk_accessible_get_accessible_role(bench.list.widget.cast()), GTK_ACCESSIBLE_ROLE_LOG)
            let row = try XCTUnwrap(bench.row(59))
            XCTAssertEqual(gtk_accessible_get_accessible_role(row.widget.cast()), GTK_ACCESSIBLE_ROLE_LIST_ITEM)
            XCTAssertTrue(bench.wait { row.accessibleText.contains("Reply to") })
            let item = try XCTUnwrap(row.item)
            XCTAssertEqual(
                row.accessibleText, "You: \(item.text). Reply to Robin. \(DateText.desktop.time(item.sentAt))")
            try bench.close()
        }
    }
}
