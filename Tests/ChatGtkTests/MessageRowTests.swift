import CGtk
import ChatCore
import ChatTestSupport
import Foundation
import GtkTestSupport
import MessageMarkup
import XCTest

@testable import ChatGtk
@testable import ChatViewModels
@testable import GtkKit
@testable import MediaGtk
@testable import TimelineGtk

/// The layout of a message row.
final class MessageRowTests: GtkTestCase {
    /// A row in a window of its own.
    @MainActor
    private final class Bench {
        let fixture: ChatFixture
        let row: MessageRow
        let window: TestWindow

        init(
            _ markdown: String, isOwn: Bool = true, width: Int32 = 700, isRightToLeft: Bool = false,
            _ change: (inout MessageItem) -> Void = { _ in }
        ) throws {
            fixture = try ChatFixture()
            gtk_widget_set_default_direction(isRightToLeft ? GTK_TEXT_DIR_RTL : GTK_TEXT_DIR_LTR)
            row = MessageRow(isOwn: isOwn, media: MediaPresenter(service: fixture.backend), outputs: .ignoring())
            var item = MessageItem(
                message: Fixtures.message(1, by: Fixtures.other, text: markdown),
                body: MessageMarkup.body(markdown: markdown), senderName: "Ann", isOwn: isOwn, startsGroup: true,
                endsGroup: true)
            change(&item)
            row.show(.message(item), selected: nil)
            let column = Box(.vertical)
            column.append(row.widget)
            window = TestWindow(column, width: width, height: 600)
            XCTAssertTrue(MainLoop.pump { [row] in row.widget.height > 0 })
        }

        var bubble: Widget { find("message-bubble") }
        var meta: Widget { find("message-meta") }
        /// The first text of the body.
        var text: Widget { parts.first { BodyText.of($0) != nil } ?? row.widget }

        private var parts: [Widget] { ConversationBench.descendants(of: row.widget) }
        private func find(_ style: String) -> Widget {
            parts.first { $0.hasStyle(style) && $0.isMapped } ?? row.widget
        }

        func bounds(_ widget: Widget) throws -> (left: Double, top: Double, right: Double, bottom: Double) {
            let bounds = try XCTUnwrap(widget.bounds(in: row.widget))
            return (bounds.x, bounds.y, bounds.x + bounds.width, bounds.y + bounds.height)
        }

        func close() throws {
            gtk_widget_set_default_direction(GTK_TEXT_DIR_LTR)
            window.close()
            try fixture.close()
        }
    }

    /// A sealed message shows the reason in place of its text.
    func testWhatCannotBeReadSaysWhy() throws {
        try onMain {
            let bench = try Bench("") { $0.content = Message.Content(sealed: .noKey) }
            XCTAssertEqual(
                BodyText.of(bench.text)?.text, "The key for this message has not arrived yet.")
            XCTAssertTrue(bench.bubble.hasStyle("sealed"))
            try bench.close()
        }
    }

    /// A mark is recognizable without its color: it has a symbol and a text.
    func testMessageThatMayNotBeWhatItSeemsIsMarked() throws {
        try onMain {
            for trust in MessageTrust.allCases {
                let bench = try Bench("Tea?", isOwn: false, width: 360) { $0.message.trust = trust }
                let mark = try XCTUnwrap(
                    bench.row.widget.descendants.first { $0.hasStyle("message-mark") && $0.isMapped }, "\(trust)")
                XCTAssertEqual(mark.tooltip, MessageText.localized.trust(trust))
                XCTAssertEqual(mark.hasStyle("problem"), trust.isProblem)
                XCTAssertTrue(bench.row.accessibleText.contains(MessageText.localized.trust(trust)))
                bench.row.show(
                    .message(
                        MessageItem(
                            message: Fixtures.message(1, by: Fixtures.other, text: "Tea?"),
                            body: MessageMarkup.body(markdown: "Tea?"), senderName: "Ann", isOwn: false,
                            startsGroup: true, endsGroup: true)), selected: nil)
                XCTAssertFalse(mark.isMapped, "the row is used again")
                try bench.close()
            }
        }
    }

    func testSealedMessageOffersWhatHelps() throws {
        try onMain {
            let fixture = try ChatFixture()
            var asked: [SealHelp] = []
            var outputs = MessageRow.Outputs.ignoring()
            outputs.sealHelp = { $0 == .beforeSignIn ? .restoreKeys : nil }
            outputs.helpRequested = { asked.append($0) }
            let row = MessageRow(isOwn: false, media: MediaPresenter(service: fixture.backend), outputs: outputs)
            let show = { (reason: SealReason) in
                var message = Fixtures.message(1, by: Fixtures.other, text: "")
                message.content = Message.Content(sealed: reason)
                row.show(
                    .message(
                        MessageItem(
                            message: message, senderName: "Ann", isOwn: false, startsGroup: true, endsGroup: true)),
                    selected: nil)
            }
            show(.noKey)
            let window = TestWindow(row.widget, width: 360)
            XCTAssertNil(row.widget.button("Restore Keys…"))
            show(.beforeSignIn)
            XCTAssertTrue(MainLoop.pump { row.widget.button("Restore Keys…") != nil })
            row.widget.button("Restore Keys…")?.activate()
            XCTAssertTrue(MainLoop.pump { asked == [.restoreKeys] })
            show(.noKey)
            XCTAssertNil(row.widget.button("Restore Keys…"))
            window.close()
            try fixture.close()
        }
    }

    /// Of an unreadable message, the link can still be copied.
    func testMenuOfASealedMessageOffersItsLink() throws {
        try onMain {
            let bench = try Bench("", isOwn: false) {
                $0.content = Message.Content(sealed: .noKey)
                $0.hasLink = true
            }
            var item = try XCTUnwrap(bench.row.item)
            let buttons = MessageButtons(isOwn: false)
            buttons.show(item)
            XCTAssertTrue(buttons.menu.isVisible)
            let menu = MessageMenu(parent: bench.row.widget)
            var copied: [MessageID] = []
            menu.onAction = { if $1 == .copyLink { copied.append($0) } }
            menu.open(for: item, at: bench.bubble)
            XCTAssertTrue(MainLoop.pump { menu.isOpen })
            XCTAssertTrue(bench.row.widget.isEnabled("message.copy-link"))
            XCTAssertFalse(bench.row.widget.isEnabled("message.copy"))
            XCTAssertTrue(bench.row.widget.activateAction("message.copy-link"))
            XCTAssertEqual(copied, [item.id])
            item.hasLink = false
            buttons.show(item)
            XCTAssertFalse(buttons.menu.isVisible, "an empty menu is not offered")
            try withExtendedLifetime(menu) { try bench.close() }
        }
    }

    private static let long = String(repeating: "words that go on ", count: 40)

    /// The time shares the last line if there is room, and never covers the text.
    func testTimeIsInTheLowerCornerOfOwnBubbles() throws {
        try onMain {
            let plain = try Bench("short") { $0.endsGroup = false }
            let height = plain.bubble.height
            try plain.close()
            for isRightToLeft in [false, true] {
                let bench = try Bench("short", isRightToLeft: isRightToLeft)
                XCTAssertEqual(bench.bubble.height, height, "the time takes no row of its own")
                let (meta, bubble) = (try bench.bounds(bench.meta), try bench.bounds(bench.bubble))
                XCTAssertEqual(isRightToLeft ? meta.left - bubble.left : bubble.right - meta.right, 12)
                XCTAssertTrue(meta.top > bubble.top && meta.bottom < bubble.bottom)
                try bench.close()
            }
            for length in stride(from: 20, to: Self.long.count, by: 3) {
                let content = BodyText.make()
                let text = try XCTUnwrap(BodyText.of(content))
                text.show(TextContent(InlineText(String(Self.long.prefix(length)))))
                text.corner = { (60, 15) }
                let width = text.measure(.horizontal, for: -1).natural
                let size = text.measure(.vertical, for: width).natural
                text.corner = nil
                let bare = text.measure(.vertical, for: width).natural
                let room = width - text.madeLayout.lastLineEdges.right
                XCTAssertEqual(size, room >= 60 + 9 ? bare : bare + 15, "\(length) characters, \(room) pixels")
            }
        }
    }

    func testTimeIsBesideTheNameOfOthers() throws {
        try onMain {
            let bench = try Bench("hello", isOwn: false)
            let (meta, bubble) = (try bench.bounds(bench.meta), try bench.bounds(bench.bubble))
            XCTAssertLessThanOrEqual(meta.bottom, bubble.top)
            XCTAssertEqual(bench.meta.wrapped(as: Label.self, gtk_label_get_type())?.text.contains(":"), true)
            try bench.close()
            let next = try Bench("hello", isOwn: false) { $0.startsGroup = false }
            XCTAssertFalse(next.meta.hasStyle("message-meta"), "once in a group")
            try next.close()
        }
    }

    func testEditedMessagesHaveAPencilInTheBubble() throws {
        try onMain {
            for isOwn in [true, false] {
                let bench = try Bench("hello", isOwn: isOwn) { $0.editedAt = Fixtures.date }
                let pencil = try XCTUnwrap(
                    ConversationBench.descendants(of: bench.row.widget).first { $0.hasStyle("message-edited") })
                XCTAssertEqual(pencil.tooltip, "Edited")
                XCTAssertTrue(bench.row.accessibleText.contains("Edited"), bench.row.accessibleText)
                let (place, bubble) = (try bench.bounds(pencil), try bench.bounds(bench.bubble))
                XCTAssertTrue(place.left > bubble.left && place.right < bubble.right, "\(place) in \(bubble)")
                XCTAssertTrue(place.top > bubble.top && place.bottom < bubble.bottom, "\(place) in \(bubble)")
                try bench.close()
            }
        }
    }

    func testMessageWhoseLatestEditCannotBeReadHasALockBesideThePencil() throws {
        try onMain {
            let text = "A later edit is missing. The key for this message has not arrived yet."
            for isOwn in [true, false] {
                let bench = try Bench("hello", isOwn: isOwn) { $0.message.unreadableEdit = .noKey }
                let marks = ConversationBench.descendants(of: bench.row.widget)
                let pencil = try XCTUnwrap(marks.first { $0.hasStyle("message-edited") })
                let lock = try XCTUnwrap(marks.first { $0.hasStyle("message-edit-lock") })
                XCTAssertEqual([pencil.tooltip, lock.tooltip], [text, text])
                XCTAssertTrue(pencil.isMapped && lock.isMapped)
                XCTAssertGreaterThanOrEqual(try bench.bounds(lock).left, try bench.bounds(pencil).right)
                XCTAssertTrue(bench.row.accessibleText.contains(text), bench.row.accessibleText)
                // The edit was read.
                var message = Fixtures.message(1, by: isOwn ? Fixtures.own : Fixtures.other, text: "hello")
                message.editedAt = Fixtures.date
                bench.row.show(
                    .message(
                        MessageItem(
                            message: message, body: MessageMarkup.body(markdown: "hello"), senderName: "Ann",
                            isOwn: isOwn, startsGroup: true, endsGroup: true)), selected: nil)
                XCTAssertTrue(pencil.isMapped && !lock.isMapped)
                XCTAssertEqual(pencil.tooltip, "Edited")
                try bench.close()
            }
        }
    }

    /// Below a body that does not end with a text, the footer has room of its own.
    func testFooterIsBelowCodeAndFiles() throws {
        try onMain {
            let bench = try Bench("```\nlet x\n```")
            let (meta, bubble) = (try bench.bounds(bench.meta), try bench.bounds(bench.bubble))
            let code = try XCTUnwrap(
                ConversationBench.descendants(of: bench.row.widget).first { $0.hasStyle("message-code") })
            XCTAssertGreaterThanOrEqual(meta.top, try bench.bounds(code).bottom)
            XCTAssertLessThan(meta.bottom, bubble.bottom)
            try bench.close()
        }
    }

    func testBubblesAreAtMost600PixelsWide() throws {
        try onMain {
            let table = "| \(Self.long.prefix(90)) | \(Self.long.prefix(90)) |\n|-|-|\n| a | b |"
            for body in [Self.long, "```\n\(Self.long)\n```", table] {
                for isOwn in [true, false] {
                    let bench = try Bench(body, isOwn: isOwn, width: 1200)
                    XCTAssertLessThanOrEqual(bench.bubble.width, 600, body)
                    XCTAssertGreaterThan(bench.bubble.width, 400, body)
                    try bench.close()
                }
            }
        }
    }

    /// Small avatars at the row's trailing edge, which overlap the bubble's lower padding, never its text.
    func testReadReceiptsAreUnderTheMessageAtTheTrailingEdge() throws {
        try onMain {
            for (isOwn, isRightToLeft) in [(true, false), (false, false), (true, true), (false, true)] {
                let bench = try Bench(Self.long, isOwn: isOwn, width: 360, isRightToLeft: isRightToLeft) {
                    $0.readers = ["b", "c"].map {
                        .init(id: MemberID($0), name: $0, readAt: $0 == "b" ? .now : .distantPast)
                    }
                }
                let receipts = try bench.bounds(bench.row.readReceipts.widget)
                let text = try bench.bounds(bench.text)
                XCTAssertEqual(
                    isRightToLeft ? receipts.left : receipts.right, isRightToLeft ? 0 : Double(bench.row.widget.width))
                XCTAssertEqual(receipts.bottom - receipts.top, 18)
                XCTAssertGreaterThanOrEqual(receipts.top, text.bottom)
                try bench.close()
            }
            XCTAssertFalse(AvatarView(size: 18).widget.showsInitials)
            XCTAssertTrue(AvatarView(size: 24).widget.showsInitials)
        }
    }

    /// Anybody may add any number of reactions, and each chip is a widget.
    func testReactionsAreLimited() throws {
        try onMain {
            func shown(_ count: Int) -> [MessageItem.Reaction] {
                (0..<count).map { .init(text: "\($0)", others: ["Ada"], isOwn: false) }
            }
            let bench = try Bench("Hello", width: 360) { $0.reactions = shown(500) }
            @MainActor func parts(_ style: String) -> [Widget] {
                ConversationBench.descendants(of: bench.row.widget).filter { $0.hasStyle(style) }
            }
            @MainActor func more() -> [String] {
                parts("more-reactions").compactMap { $0.wrapped(as: Label.self, gtk_label_get_type())?.text }
            }
            XCTAssertEqual(parts("reaction").count, 19)
            XCTAssertEqual(more(), ["+481"])
            XCTAssertEqual(parts("more-reactions").first?.tooltip, "481 more reactions")
            bench.row.reactions.show(shown(21))
            XCTAssertEqual(more(), ["+2"])
            bench.row.reactions.show(shown(20))
            XCTAssertEqual(parts("reaction").count, 20)
            XCTAssertEqual(more(), [])
            bench.row.reactions.show(shown(3))
            XCTAssertEqual(parts("reaction").count, 3)
            bench.row.reactions.show(shown(30))
            XCTAssertEqual(more(), ["+11"])
            try bench.close()
        }
    }

    func testReadReceiptsAreBesideTheReactions() throws {
        try onMain {
            for (isOwn, isRightToLeft) in [(true, false), (false, false), (true, true), (false, true)] {
                // Seven reactions need two lines.
                for count in [1, 7] {
                    let bench = try Bench("Hello", isOwn: isOwn, width: 360, isRightToLeft: isRightToLeft) {
                        $0.readers = ["b", "c"].map { .init(id: MemberID($0), name: $0, readAt: .now) }
                        $0.reactions = (0..<count).map {
                            .init(text: "\($0)", others: ["Ada"], isOwn: false)
                        }
                    }
                    let receipts = try bench.bounds(bench.row.readReceipts.widget)
                    let reactions = try bench.bounds(XCTUnwrap(bench.row.reactions.lastLine))
                    XCTAssertEqual(
                        (receipts.top + receipts.bottom) / 2, (reactions.top + reactions.bottom) / 2, accuracy: 1)
                    XCTAssertTrue(
                        receipts.right <= reactions.left || reactions.right <= receipts.left, "they cover reactions")
                    XCTAssertGreaterThanOrEqual(receipts.left, 0)
                    XCTAssertLessThanOrEqual(receipts.right, Double(bench.row.widget.width))
                    try bench.close()
                }
            }
        }
    }

    /// Each widget adds to the cost of a row, so a plain message has no widgets for hidden parts.
    func testPlainMessageHasOnlyWhatItShowsUntilThePointerComes() throws {
        try onMain {
            for isOwn in [true, false] {
                try RealInput.moveAside()
                let bench = try Bench("Tea?", isOwn: isOwn)
                try RealInput.activate(bench.window.window)
                try RealInput.point(at: bench.window.window, x: 5, y: 500)
                let hidden = bench.row.widget.descendants.filter { !$0.isMapped }.map(\.cssName)
                XCTAssertEqual(hidden.filter { $0 == "button" || $0 == "box" }, [])
                XCTAssertFalse(bench.row.widget.descendants.contains { $0.cssName == "button" })
                try RealInput.point(at: bench.row.widget)
                let bar = { bench.row.widget.descendants.first { $0.hasStyle("message-hover") } }
                XCTAssertTrue(MainLoop.pump { bar()?.hasStyle("ready") == true && bar()?.canTarget == true })
                XCTAssertEqual(bar()?.children.count, 3)
                try RealInput.point(at: bench.window.window, x: 5, y: 500)
                XCTAssertTrue(MainLoop.pump { bar()?.canTarget == false }, "what is not seen takes no tap")
                try bench.close()
            }
        }
    }

    /// While the timeline is scrolled, rows pass below the pointer.
    func testRowThatThePointerLeavesAtOnceGetsNoButtons() throws {
        try onMain {
            try RealInput.moveAside()
            let bench = try Bench("Tea?", isOwn: false)
            gtk_widget_set_state_flags(bench.row.widget.cast(), GTK_STATE_FLAG_PRELIGHT, 0)
            gtk_widget_unset_state_flags(bench.row.widget.cast(), GTK_STATE_FLAG_PRELIGHT)
            // Longer than the pointer has to stay.
            var isOver = false
            let time = Timeout(after: .milliseconds(200)) { isOver = true }
            XCTAssertTrue(MainLoop.pump { isOver })
            withExtendedLifetime(time) {}
            XCTAssertFalse(bench.row.widget.descendants.contains { $0.cssName == "button" })
            try bench.close()
        }
    }

    func testButtonsAreReactReplyAndMenuFromTheBubbleOn() {
        onMain {
            for isOwn in [true, false] {
                let buttons = MessageButtons(isOwn: isOwn)
                let tooltips = buttons.widget.children.map { $0.tooltip }
                let expected = ["React", "Reply", "Message Menu"]
                XCTAssertEqual(tooltips, isOwn ? expected.reversed() : expected)
            }
        }
    }
}
