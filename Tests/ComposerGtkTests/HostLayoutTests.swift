import CGtk
import Composer
import ComposerSessions
import GtkKit
import GtkTestSupport
import XCTest

@testable import ComposerGtk
@testable import GtkKit

/// The layout of a host's bar, and the state that describes it.
final class HostLayoutTests: GtkTestCase {
    @MainActor
    private static func place(_ part: Widget, in other: Widget) throws -> (
        top: Double, bottom: Double, start: Double, end: Double
    ) {
        let bounds = try XCTUnwrap(part.bounds(in: other))
        return (
            bounds.y, Double(other.height) - bounds.y - bounds.height, bounds.x,
            Double(other.width) - bounds.x - bounds.width
        )
    }

    /// MIB-2: each side's padding can be set on its own, live, in pixels in addition to the style's, also by
    /// configuration.
    func testPaddingCanBeSetPerSide() throws {
        try onMain {
            let banner = Label("banner")
            let bench = try HostBench { $0.append(banner, to: .top) }
            let parts = bench.bar.widgets
            bench.bar.bounces = false
            let content = parts.content
            let row = { try Self.place(parts.row, in: content) }
            let before = try row()
            let (height, text) = (bench.widget.height, bench.text.width)
            bench.bar.paddingTop = 11
            bench.bar.paddingBottom = 7
            bench.bar.paddingStart = 13
            bench.bar.paddingEnd = 5
            XCTAssertTrue(
                MainLoop.pump { bench.widget.height == height + 18 && bench.text.width == text - 18 }, "MIB-2")
            var after = try row()
            XCTAssertEqual(after.top - before.top, 11, "MIB-2")
            XCTAssertEqual(after.start - before.start, 13, "MIB-2")
            bench.bar.topSlotPadding = 9
            XCTAssertTrue(
                MainLoop.pump { bench.widget.height == height + 27 }, "MIB-2: above what is on top, not below")
            XCTAssertEqual(try Self.place(banner, in: content).start, 9)
            bench.bar.middlePadding = 6
            XCTAssertTrue(MainLoop.pump { bench.text.width == text - 24 }, "MIB-2: between the text and what is behind")
            for path in [\ComposerBar.paddingTop, \.paddingBottom, \.paddingStart, \.paddingEnd, \.topSlotPadding] {
                bench.bar[keyPath: path] = -1
            }
            bench.bar.middlePadding = -1
            XCTAssertTrue(
                MainLoop.pump { bench.widget.height == height && bench.text.width == text }, "MIB-2: the style's again")
            bench.session.configuration = .preset(.messageInputBar)
            XCTAssertTrue(MainLoop.pump { bench.widget.height == height + 12 }, "MIB-2: six above and below, as there")
            after = try row()
            XCTAssertEqual(after.top - before.top, 6)
            bench.session.configuration.insets = ComposerInsets(
                rowTop: .nan, rowBottom: 1e300, bottomOffset: -.infinity)
            bench.session.configuration = ComposerConfiguration()
            XCTAssertTrue(MainLoop.pump { bench.widget.height == height }, "what makes no sense does no harm")
            bench.close()
        }
    }

    /// MCV-1, MCV-2: construct properties set the bottom offset, the maximum height and the character limit; the bar
    /// stays at the bottom of a resized window, and the text leaves the offset free.
    func testPropertiesSetOffsetHeightAndLimit() throws {
        try onMain {
            try ComposerBar.register()
            let file = """
                <interface>
                  <object class="ParlanceComposerBar" id="bar">
                    <property name="bottom-offset">30</property>
                    <property name="max-height">100</property>
                    <property name="character-limit">40</property>
                    <property name="limit-is-hard">1</property>
                    <property name="bounces">0</property>
                  </object>
                </interface>
                """
            let widget: Widget = Builder(text: file)["bar"]
            let bar = try XCTUnwrap(ComposerBar.of(widget))
            let column = Box(.vertical)
            let filler = Label("content")
            gtk_widget_set_vexpand(filler.cast(), 1)
            column.append(filler)
            column.append(widget)
            let window = TestWindow(column, width: 400, height: 500)
            try RealInput.activate(window.window)
            bar.grabFocus()
            let gap = { () -> Double in
                guard let place = bar.widgets.content.bounds(in: column) else { return -1 }
                return Double(column.height) - place.y - place.height
            }
            let plain = gap()
            XCTAssertGreaterThanOrEqual(plain, 30, "MCV-2")
            try RealInput.press("a", "shift+Return", "b", "shift+Return", "c", "shift+Return", "d", "shift+Return", "e")
            try RealInput.press("shift+Return", "f", "shift+Return", "g", "shift+Return", "h")
            XCTAssertTrue(MainLoop.pump { bar.text == "a\nb\nc\nd\ne\nf\ng\nh" }, bar.text)
            XCTAssertTrue(MainLoop.pump { bar.widgets.scroller.height > 60 })
            XCTAssertLessThanOrEqual(bar.widgets.scroller.height, 100, "MCV-1: max-text-height")
            gtk_window_set_default_size(window.window.cast(), 400, 300)
            XCTAssertTrue(MainLoop.pump { column.height == 300 && gap() == plain }, "MCV-2: \(gap()), was \(plain)")
            try RealInput.type("0123456789012345678901234567890123456789")
            XCTAssertTrue(MainLoop.pump { bar.text.count == 40 }, "MCV-1: character-cap: \(bar.text.count)")
            bar.maxHeight = 0
            bar.maxLines = 500
            XCTAssertTrue(MainLoop.pump { bar.session.composer.maxLines > 4 })
            let most = bar.session.composer.maxLines
            bar.bottomOffset = 130
            XCTAssertTrue(
                MainLoop.pump { bar.session.composer.maxLines < most && gap() == plain + 100 },
                "MCV-2: up to the window, less what is below")
            window.close()
        }
    }

    /// SLK-5: counts lines as GTK wraps them, whatever the font, width and text.
    func testLinesAreCountedAsWrapped() throws {
        try onMain {
            let bench = try HostBench(width: 360, height: 700)
            bench.bar.bounces = false
            bench.bar.maxLines = 4
            XCTAssertEqual(bench.state.lines, 1)
            try RealInput.type("Some words that are broken to a second line")
            XCTAssertTrue(MainLoop.pump { bench.state.lines == 2 }, "SLK-5: \(bench.state.lines)")
            XCTAssertFalse(bench.state.isExpanding)
            try RealInput.press("shift+Return")
            XCTAssertTrue(MainLoop.pump { bench.state.lines == 3 }, "SLK-5: an empty last line is one")
            try RealInput.press("shift+Return")
            XCTAssertTrue(
                MainLoop.pump { bench.state.lines == 4 && bench.state.isExpanding }, "SLK-4: at the limit")
            XCTAssertFalse(bench.state.scrollsInside)
            try RealInput.press("shift+Return")
            XCTAssertTrue(MainLoop.pump { bench.state.lines == 5 && bench.state.scrollsInside }, "SLK-5")
            bench.bar.text = "a\nb"
            XCTAssertTrue(MainLoop.pump { bench.state.lines == 2 }, "SLK-5: broken lines before are no lines now")
            bench.bar.text = String(repeating: "Words that are broken. ", count: 8)
            XCTAssertTrue(MainLoop.pump { bench.state.lines > 3 })
            let narrow = bench.state.lines
            gtk_window_set_default_size(bench.window.window.cast(), 900, 700)
            XCTAssertTrue(
                MainLoop.pump { bench.state.lines < narrow && bench.text.width > 600 },
                "SLK-5: fewer where there is more room: \(bench.state.lines), were \(narrow)")
            bench.bar.text = "漢字😀\n漢字😀\n漢字😀"
            XCTAssertTrue(MainLoop.pump { bench.state.lines == 3 }, "SLK-5: taller lines are no more lines")
            bench.bar.text = (1...500).map(String.init).joined(separator: "\n")
            XCTAssertTrue(MainLoop.pump { bench.state.lines >= 500 }, "SLK-5: \(bench.state.lines)")
            bench.bar.text = ""
            XCTAssertTrue(MainLoop.pump { bench.state.lines == 1 && !bench.state.isExpanding })
            bench.close()
        }
    }

    /// MCV-4: buttons keep their height and stay at the bottom; the text takes the rest, however large the inset.
    func testButtonsStayAtTheBottom() throws {
        try onMain {
            let bench = try HostBench { bar in
                bar.bounces = false
                bar.itemAppearances["a"] = ItemAppearance(icon: "mail-attachment-symbolic", label: "Attach")
                bar.items.set([ComposerItem(id: "a")], in: .start)
            }
            let parts = bench.bar.widgets
            let attach = try XCTUnwrap(bench.item("Attach"))
            try RealInput.type("x")
            XCTAssertTrue(MainLoop.pump { parts.sendButton.isMapped && parts.sendButton.width > 0 })
            let (send, start) = (parts.sendButton.height, attach.height)
            let low = try Self.place(parts.sendButton, in: parts.row).bottom
            try RealInput.press("shift+Return", "shift+Return", "shift+Return", "shift+Return")
            XCTAssertTrue(MainLoop.pump { parts.row.height > 75 })
            for (button, height) in [(parts.sendButton as Widget, send), (attach, start)] {
                XCTAssertEqual(button.height, height, "MCV-4")
                XCTAssertLessThan(try Self.place(button, in: parts.row).bottom, 12, "MCV-4: at the bottom")
            }
            XCTAssertEqual(try Self.place(parts.sendButton, in: parts.row).bottom, low, "MCV-4")
            let middle = try Self.place(parts.middle, in: parts.row)
            XCTAssertEqual(middle.top, 0, "MCV-4: the text takes the height")
            // Wide before the inset: a configure event for the wider minimum can undo a resize that is under way.
            gtk_window_set_default_size(bench.window.window.cast(), 1200, 500)
            XCTAssertTrue(MainLoop.pump { bench.column.width >= 1100 }, "\(bench.column.width)")
            bench.bar.contentInset = 400
            // `place` throws while the row has no position.
            XCTAssertTrue(MainLoop.pump { (try? Self.place(parts.row, in: parts.content).top) == 400 })
            XCTAssertEqual(parts.sendButton.height, send, "MCV-4: ⚠ it became negative")
            XCTAssertTrue(MainLoop.pump { bench.text.width > 100 }, "\(bench.text.width)")
            bench.close()
        }
    }

    /// MCV-14: the caret stays in view while editing mid-text, after a draft loads, and returns to view on request.
    func testCaretStaysInView() throws {
        try onMain {
            let bench = try HostBench()
            bench.bar.bounces = false
            bench.bar.maxLines = 3
            bench.session.handle(
                .load(WrittenText((1...40).map { "line \($0)" }.joined(separator: "\n")), selection: .caret(0)))
            let adjustment = bench.bar.widgets.scroller.verticalAdjustment
            let caret = { () -> Double in Double(bench.bar.binding?.editor.caretRectangle.y ?? -1) }
            let isInView = { (-1...adjustment.pageSize).contains(caret()) }
            XCTAssertTrue(MainLoop.pump { adjustment.upper > adjustment.pageSize && isInView() })
            try RealInput.press("ctrl+Home")
            for _ in 0..<6 { try RealInput.press("Down") }
            try RealInput.type("x")
            XCTAssertTrue(MainLoop.pump { bench.displayedText.contains("xline 7") && isInView() }, bench.displayedText)
            try RealInput.type("yz")
            XCTAssertTrue(MainLoop.pump { bench.displayedText.contains("xyzline 7") })
            _ = bench.heights()
            XCTAssertLessThan(adjustment.value, adjustment.upper / 3, "MCV-14: ⚠ it went to the end at each key")
            XCTAssertTrue(isInView())
            adjustment.value = adjustment.upper - adjustment.pageSize
            XCTAssertTrue(MainLoop.pump { !isInView() })
            bench.bar.scrollToCaret()
            XCTAssertTrue(MainLoop.pump(until: isInView), "MCV-14: asked for")
            bench.session.handle(.load(WrittenText((1...40).map { "draft \($0)" }.joined(separator: "\n"))))
            XCTAssertTrue(MainLoop.pump { bench.caret > 300 && isInView() }, "MCV-14: a draft's caret is at its end")
            bench.close()
        }
    }

    /// MCV-15, MCV-16: while the window resizes, the bar is at its bottom in every frame, without an animation of its
    /// own. SLK-51: a floating keyboard moves nothing.
    func testBarFollowsWindowResizesInEveryFrame() throws {
        try onMain {
            let bench = try HostBench(width: 500, height: 600)
            bench.bar.text = "two\nlines"
            var gaps: Set<Int> = []
            var moves = 0
            let (widget, column) = (bench.widget, bench.column)
            _ = MainLoop.pump { widget.height > 60 }
            _ = bench.heights()
            bench.widget.connect("moved") { _ in moves += 1 }
            let panel = TestWindow(Label("a keyboard that floats"), width: 300, height: 150)
            XCTAssertTrue(MainLoop.pump { panel.window.isMapped })
            _ = bench.heights()
            XCTAssertEqual(moves, 0, "SLK-51")
            XCTAssertEqual(bench.bar.panel, .hidden, "SLK-51")
            panel.close()
            try RealInput.activate(bench.window.window)
            widget.addTick { [weak widget, weak column] in
                guard let widget, let column, let place = widget.bounds(in: column) else { return false }
                gaps.insert(column.height - Int(place.y + place.height))
                return true
            }
            for height: Int32 in [300, 600] {
                gtk_window_set_default_size(bench.window.window.cast(), 500, height)
                XCTAssertTrue(MainLoop.pump { column.height == Int(height) })
                _ = bench.heights()
            }
            XCTAssertEqual(gaps, [0], "MCV-15: in each frame")
            // Emulate a rotated screen: the text rewraps without a spring animation.
            bench.bar.text = String(repeating: "Words that are broken. ", count: 10)
            let wide = try XCTUnwrap(bench.heights().last)
            gtk_window_set_default_size(bench.window.window.cast(), 380, 700)
            XCTAssertTrue(MainLoop.pump { column.width == 380 })
            let heights = bench.heights()
            let narrow = try XCTUnwrap(heights.last)
            XCTAssertGreaterThan(narrow, wide, "MCV-16")
            XCTAssertLessThanOrEqual(heights.max() ?? 0, narrow, "MCV-16: no spring")
            XCTAssertEqual(gaps, [0], "MCV-16")
            bench.close()
        }
    }

    /// SLK-60: at 360 pixels no part of a fully equipped bar is clipped.
    func testNarrowWindowFitsTheWholeBar() throws {
        try onMain {
            let bench = try HostBench(width: 360) { bar in
                bar.acceptsFiles = true
                bar.showsFormatting = true
                bar.showsCounter = true
                bar.itemAppearances["emoji"] = ItemAppearance(icon: "face-smile-symbolic", label: "Emoji")
                bar.items.set([ComposerItem(id: "emoji")], in: .end)
            }
            try RealInput.type("some words")
            let parts = bench.bar.widgets
            XCTAssertTrue(MainLoop.pump { parts.sendButton.isMapped && parts.sendButton.width > 0 })
            XCTAssertEqual(bench.window.window.width, 360, "SLK-60")
            let shown = bench.widget.descendants.filter {
                shim_is_a($0.pointer, gtk_button_get_type()) != 0 && $0.isMapped
            }
            XCTAssertGreaterThan(shown.count, 6)
            for button in shown {
                let place = try Self.place(button, in: bench.window.window)
                XCTAssertTrue(place.start >= 0 && place.end >= 0, "SLK-60: \(button.tooltip ?? "")")
            }
            XCTAssertGreaterThan(bench.text.width, 100, "SLK-60: there is room to write")
            bench.close()
        }
    }

    /// MIB-4: the send button works in the row below the text and moves back.
    func testSendButtonCanBePlacedBelow() throws {
        try onMain {
            let bench = try HostBench { bar in
                bar.sendsBelow = true
                bar.itemAppearances["at"] = ItemAppearance(label: "@")
                bar.items.set([ComposerItem(id: "at")], in: .bottom)
            }
            var sent: [String] = []
            bench.session.onSend = { sent.append($0.text.source) }
            let send = bench.bar.widgets.sendButton
            try RealInput.type("hello")
            XCTAssertTrue(MainLoop.pump { send.isMapped && send.width > 0 })
            let text = try XCTUnwrap(bench.text.bounds(in: bench.widget))
            let place = try XCTUnwrap(send.bounds(in: bench.widget))
            XCTAssertGreaterThan(place.y, text.y + text.height, "MIB-4: below the text")
            XCTAssertGreaterThan(place.x, 400, "MIB-4: at the row's end")
            try bench.click(send)
            XCTAssertTrue(MainLoop.pump { sent == ["hello"] })
            bench.bar.sendsBelow = false
            try RealInput.type("again")
            XCTAssertTrue(MainLoop.pump { (send.bounds(in: bench.widget)?.y ?? 999) < text.y + text.height })
            bench.close()
        }
    }

    /// SLK-14: a host can always show the counter, with or without a limit; over the limit it shows the excess.
    func testCounterCanAlwaysBeShown() throws {
        try onMain {
            let bench = try HostBench { $0.showsCounter = true }
            let counter = bench.bar.widgets.counter
            XCTAssertFalse(counter.isVisible, "there is nothing to count")
            try RealInput.type("abc")
            XCTAssertTrue(MainLoop.pump { counter.isMapped && counter.text == "3" }, "SLK-14: without a limit")
            bench.bar.characterLimit = 100
            XCTAssertTrue(MainLoop.pump { counter.text == "97" }, "SLK-14: with one, far from it")
            bench.bar.counterStyle = "split"
            bench.bar.characterLimit = 2
            XCTAssertTrue(MainLoop.pump { counter.text == "3/2" && counter.hasStyle("error") }, counter.text)
            XCTAssertFalse(bench.bar.widgets.sendButton.isSensitive)
            bench.bar.showsCounter = false
            bench.bar.characterLimit = 100
            XCTAssertTrue(MainLoop.pump { !counter.isVisible }, "SLK-14: else only near the limit")
            bench.close()
        }
    }

    /// SLK-14: nobody counts bytes, and a number without a unit looks like one of characters.
    func testCounterSaysWhatItsNumberMeans() throws {
        try onMain {
            let bench = try HostBench()
            let counter = bench.bar.widgets.counter
            bench.session.handle(.load(WrittenText("abc")))
            bench.session.handle(.measured(MeasuredSize(excess: -900, bytes: 3)))
            XCTAssertTrue(MainLoop.pump { counter.isMapped && counter.text == "Almost too long" }, counter.text)
            XCTAssertNil(counter.tooltip)
            bench.session.handle(.measured(MeasuredSize(excess: 12, bytes: 3)))
            XCTAssertTrue(MainLoop.pump { counter.text == "Too long" && counter.hasStyle("error") }, counter.text)
            bench.bar.characterLimit = 5
            XCTAssertTrue(MainLoop.pump { counter.text == "2" && !counter.hasStyle("error") }, counter.text)
            XCTAssertEqual(counter.tooltip, "2 characters left")
            bench.bar.characterLimit = 2
            XCTAssertTrue(MainLoop.pump { counter.text == "-1" }, counter.text)
            XCTAssertEqual(counter.tooltip, "1 character over the limit")
            bench.bar.characterLimit = 0
            bench.bar.showsCounter = true
            bench.session.handle(.measured(MeasuredSize(excess: -5000, bytes: 3)))
            XCTAssertTrue(MainLoop.pump { counter.text == "3" }, "far from the limit, it counts characters")
            bench.close()
        }
    }
}
