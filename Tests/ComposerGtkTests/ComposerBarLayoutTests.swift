import CGtk
import Composer
import ComposerSessions
import GtkKit
import GtkTestSupport
import XCTest

@testable import ComposerGtk
@testable import GtkKit

/// Position and height of the bar: growth, its signals, and overflow.
final class ComposerBarLayoutTests: GtkTestCase {
    @MainActor
    private static func bench(width: Int32 = 500) throws -> HostBench { try HostBench(width: width, height: 600) }

    @MainActor
    static func setAnimations(_ isOn: Bool) {
        guard let settings = gtk_settings_get_default() else { return }
        Object(borrowing: UnsafeMutableRawPointer(settings)).setProperty("gtk-enable-animations", isOn)
    }

    /// SLK-57, MIB-45: the height follows a spring only while animations are enabled.
    func testHeightIsAnimatedOnlyWhileAnimationsAreEnabled() throws {
        try onMain {
            Self.setAnimations(true)
            let bench = try Self.bench()
            var (animated, first, last, between) = ([Int](), 0, 0, Set<Int>())
            // Retry: a busy machine draws few frames in the time of the animation.
            for _ in 0..<10 where between.count <= 2 || animated.max() == last {
                bench.write(lines: 1)
                _ = bench.heights()
                bench.write(lines: 4)
                animated = bench.heights()
                (first, last) = (animated[0], animated[animated.count - 1])
                between = Set(animated.filter { $0 > first && $0 < last })
            }
            XCTAssertGreaterThan(last, first + 40)
            XCTAssertGreaterThan(between.count, 2, "SLK-57: by and by: \(animated)")
            XCTAssertGreaterThan(try XCTUnwrap(animated.max()), last, "SLK-57: a spring goes beyond and comes back")
            bench.bar.bounces = false
            bench.write(lines: 1)
            let eased = bench.heights()
            XCTAssertEqual(eased.last, first)
            XCTAssertEqual(eased, eased.sorted(by: >), "SLK-57: without bouncing it only slides")
            Self.setAnimations(false)
            defer { Self.setAnimations(true) }
            bench.write(lines: 4)
            XCTAssertEqual(Set(bench.heights()), [first, last], "SLK-57: at once where the user wants no animations")
            bench.window.close()
        }
    }

    /// MCV-16: a wider window rewraps the text into fewer lines and shrinks the bar.
    func testWideningTheWindowShrinksTheBar() throws {
        try onMain {
            let bench = try Self.bench(width: 320)
            bench.bar.text = String(repeating: "Some words that wrap. ", count: 10)
            let narrow = try XCTUnwrap(bench.heights().last)
            gtk_window_set_default_size(bench.window.window.cast(), 900, 600)
            XCTAssertTrue(MainLoop.pump { bench.text.width > 600 })
            let wide = try XCTUnwrap(bench.heights().last)
            XCTAssertLessThan(wide, narrow)
            bench.bar.text = ""
            bench.bar.text = String(repeating: "Some words that wrap. ", count: 10)
            XCTAssertEqual(bench.heights().last, wide, "as low as if it had been written there")
            bench.window.close()
        }
    }

    /// SLK-5: the height follows the real line heights, such as those of emoji or Chinese.
    func testHeightFollowsActualLineHeights() throws {
        try onMain {
            let bench = try Self.bench()
            bench.bar.bounces = false
            bench.bar.text = "plain\nplain\nplain"
            let plain = try XCTUnwrap(bench.heights().last)
            bench.bar.text = "plain 漢字かな😀\nplain 漢字かな😀\nplain 漢字かな😀"
            let tall = try XCTUnwrap(bench.heights().last)
            var (minimum, natural): (Int32, Int32) = (0, 0)
            gtk_widget_measure(
                bench.text.cast(), GTK_ORIENTATION_VERTICAL, Int32(bench.text.width), &minimum, &natural, nil, nil)
            XCTAssertGreaterThanOrEqual(bench.text.height, Int(natural), "nothing is cut off")
            XCTAssertGreaterThanOrEqual(tall, plain)
            bench.window.close()
        }
    }

    func testMovedAndSizeChangedAreEmittedOnlyOnChange() throws {
        try onMain {
            Self.setAnimations(false)
            defer { Self.setAnimations(true) }
            let bench = try Self.bench()
            _ = bench.heights()
            var places: [Double] = []
            var sizes: [Double] = []
            bench.widget.connect("moved") { places.append($0.double(1)) }
            bench.widget.connect("size-changed") { sizes.append($0.double(1)) }
            bench.bar.text = "abc"
            _ = bench.heights()
            XCTAssertEqual(places, [], "SLK-59: nothing has moved")
            XCTAssertEqual(sizes, [], "MIB-7, MCV-11")
            bench.write(lines: 3)
            _ = bench.heights()
            XCTAssertEqual(places.count, 1, "SLK-59: \(places)")
            XCTAssertEqual(sizes.count, 1, "MIB-7: \(sizes)")
            let root = try XCTUnwrap(bench.widget.bounds(in: bench.window.window))
            XCTAssertEqual(places.last, root.y)
            XCTAssertEqual(sizes.last, root.height)
            let label = Label("below")
            bench.column.append(label)
            _ = bench.heights()
            XCTAssertEqual(places.count, 2, "SLK-59: moved by another")
            XCTAssertEqual(sizes.count, 1, "MIB-7: its size is what it was")
            bench.window.close()
        }
    }

    func testOverflowHintIsShownOncePerOverflow() throws {
        try onMain {
            let bench = try Self.bench()
            bench.bar.maxLines = 3
            let isShown = {
                bench.widget.descendants.contains {
                    $0.hasStyle("overflow-hint") && Revealer(borrowing: $0.pointer).isRevealed
                }
            }
            bench.write(lines: 3)
            _ = bench.heights()
            XCTAssertFalse(isShown())
            bench.write(lines: 4)
            XCTAssertTrue(MainLoop.pump(until: isShown), "SLK-70: it comes with the first line too many")
            XCTAssertTrue(MainLoop.pump { !isShown() }, "SLK-70: and goes by itself")
            bench.write(lines: 5)
            _ = bench.heights()
            XCTAssertFalse(isShown(), "SLK-70: once")
            bench.write(lines: 1)
            _ = bench.heights()
            bench.write(lines: 9)
            XCTAssertTrue(MainLoop.pump(until: isShown), "SLK-70: armed again, however much comes at once")
            bench.window.close()
        }
    }

    func testSingleLineEditorScrollsToTheCaret() throws {
        try onMain {
            let bench = try Self.bench()
            bench.bar.bounces = false
            let height = try XCTUnwrap(bench.heights().last)
            bench.bar.maxLines = 1
            bench.write(lines: 5)
            XCTAssertEqual(bench.heights().last, height, "HKW-21")
            let caret = { () -> Int32 in bench.bar.binding?.editor.caretRectangle.y ?? -1 }
            XCTAssertTrue(MainLoop.pump { (0..<Int32(bench.text.height)).contains(caret()) }, "HKW-21: \(caret())")
            try RealInput.press("Up", "Up")
            XCTAssertTrue(MainLoop.pump { bench.bar.session.composer.selection.location == 5 })
            XCTAssertTrue(MainLoop.pump { (0..<30).contains(caret()) }, "HKW-21: the line of the caret is the one seen")
            bench.window.close()
        }
    }

    /// HKW-19: with scrolling locked, the text stays at its top, even while typing at its end.
    func testScrollingCanBeLocked() throws {
        try onMain {
            let bench = try Self.bench()
            bench.bar.maxLines = 2
            bench.bar.locksScrolling = true
            bench.write(lines: 9)
            _ = bench.heights()
            let scroll = bench.bar.widgets.scroller.verticalAdjustment
            XCTAssertGreaterThan(scroll.upper, scroll.pageSize, "there is more than is seen")
            try RealInput.press("ctrl+End", "a")
            XCTAssertTrue(MainLoop.pump { bench.bar.text.hasSuffix("a") })
            _ = bench.heights()
            XCTAssertEqual(scroll.value, 0, "HKW-19")
            bench.bar.locksScrolling = false
            try RealInput.type("b")
            XCTAssertTrue(MainLoop.pump { scroll.value > 0 }, "HKW-19: and goes where the caret is afterwards")
            bench.window.close()
        }
    }

    /// SLK-6: long words break, nothing scrolls horizontally, and the input method gets the chat purpose.
    func testTextWrapsAndNeverScrollsHorizontally() throws {
        try onMain {
            let bench = try Self.bench(width: 300)
            bench.bar.text = String(repeating: "unbroken", count: 40)
            _ = bench.heights()
            let horizontal = bench.bar.widgets.scroller.horizontalAdjustment
            XCTAssertEqual(horizontal.upper, horizontal.pageSize, "SLK-6")
            XCTAssertGreaterThan(bench.text.height, 60, "SLK-6: it is broken")
            let hints = gtk_text_view_get_input_hints(bench.text.cast()).rawValue
            for hint in [GTK_INPUT_HINT_SPELLCHECK, GTK_INPUT_HINT_EMOJI, GTK_INPUT_HINT_UPPERCASE_SENTENCES] {
                XCTAssertNotEqual(hints & hint.rawValue, 0, "SLK-6: \(hint)")
            }
            bench.window.close()
        }
    }

    /// SLK-50: a sudden loss of height as large as a keyboard is reported as an on-screen keyboard. MCV-15: the bar
    /// follows the window immediately, as the compositor already animates the keyboard.
    func testOnScreenKeyboardIsReported() throws {
        try onMain {
            let bench = try Self.bench()
            var told: [String] = []
            bench.widget.connect("panel-changed") { told.append($0.string(0)) }
            bench.bar.text = "x"
            XCTAssertTrue(MainLoop.pump { bench.text.hasFocus && bench.bar.session.composer.isFocused })
            let height = try XCTUnwrap(bench.heights().last)
            XCTAssertEqual(bench.bar.panel, .hidden, "SLK-51: as with the keyboard on a desk")
            gtk_window_set_default_size(bench.window.window.cast(), 500, 300)
            XCTAssertTrue(MainLoop.pump { told == ["showing", "shown"] }, "SLK-50: \(told)")
            XCTAssertEqual(bench.bar.panel, .shown)
            XCTAssertEqual(Set(bench.heights()), [height], "MCV-15")
            gtk_window_set_default_size(bench.window.window.cast(), 500, 600)
            XCTAssertTrue(MainLoop.pump { bench.bar.panel == .hidden }, "SLK-50: \(told)")
            bench.bar.panelPolicy = { _ in false }
            gtk_window_set_default_size(bench.window.window.cast(), 500, 300)
            XCTAssertTrue(MainLoop.pump { bench.window.window.height == 300 })
            _ = bench.heights()
            XCTAssertEqual(bench.bar.panel, .hidden, "SLK-52: the host does not want it")
            bench.window.close()
        }
    }

    /// MIB-18: the placeholder has the font and position of the text, whatever the style and direction.
    func testPlaceholderHasFontAndPositionOfTheText() throws {
        try onMain {
            let bench = try Self.bench()
            for (style, direction) in [
                ("font: 11pt Cantarell", GTK_TEXT_DIR_LTR), ("font: italic 22pt Serif", GTK_TEXT_DIR_LTR),
                ("font: 22pt Serif", GTK_TEXT_DIR_RTL),
            ] {
                gtk_widget_set_default_direction(direction)
                defer { gtk_widget_set_default_direction(GTK_TEXT_DIR_LTR) }
                let provider = gtk_css_provider_new()
                shim_load_css(provider, "composer { \(style); }")
                gtk_style_context_add_provider_for_display(
                    gdk_display_get_default(), OpaquePointer(provider), guint(GTK_STYLE_PROVIDER_PRIORITY_USER))
                defer {
                    gtk_style_context_remove_provider_for_display(gdk_display_get_default(), OpaquePointer(provider))
                    g_object_unref(provider)
                }
                _ = bench.heights()
                let label = bench.bar.widgets.placeholder
                XCTAssertEqual(Self.font(of: label), Self.font(of: bench.text), "MIB-18: \(style)")
                let place = try XCTUnwrap(label.bounds(in: bench.widget))
                let text = try XCTUnwrap(bench.text.bounds(in: bench.widget))
                XCTAssertEqual(place.y, text.y, accuracy: 1, "MIB-18: \(style)")
                let left = Double(gtk_text_view_get_left_margin(bench.text.cast()))
                let right = Double(gtk_text_view_get_right_margin(bench.text.cast()))
                XCTAssertEqual(place.x, text.x + left, accuracy: 1)
                XCTAssertEqual(place.width, text.width - left - right, accuracy: 1)
            }
            bench.window.close()
        }
    }

    @MainActor
    private static func font(of widget: Widget) -> String {
        let context = gtk_widget_get_pango_context(widget.cast())
        guard let text = pango_font_description_to_string(pango_context_get_font_description(context)) else {
            return ""
        }
        defer { g_free(text) }
        return String(cString: text)
    }

    /// SLK-14, SLK-65: screen readers hear both transitions.
    func testLimitAndEditModeTransitionsAreAnnounced() throws {
        try onMain {
            let bench = try Self.bench()
            let said = { bench.bar.binding?.announcements.announcer.text ?? "" }
            bench.bar.characterLimit = 3
            bench.bar.text = "abcde"
            XCTAssertTrue(MainLoop.pump { said() == "2 characters over the limit" }, said())
            bench.bar.text = "abcdef"
            XCTAssertTrue(MainLoop.pump { bench.bar.widgets.counter.text == "-3" })
            XCTAssertEqual(said(), "2 characters over the limit", "told when it is crossed, not at each key")
            bench.bar.text = "ab"
            XCTAssertTrue(MainLoop.pump { said() == "Message within the limit" }, said())
            bench.bar.session.handle(.startEdit(id: "m", WrittenText("old")))
            XCTAssertTrue(MainLoop.pump { said() == "Editing Message" }, said())
            bench.bar.session.handle(.cancelEdit)
            XCTAssertTrue(MainLoop.pump { said() == "Stopped editing" }, said())
            bench.window.close()
        }
    }

    /// SLK-16: with large text in a narrow window the edit bar's buttons wrap below its label.
    func testEditBarWrapsInANarrowWindow() throws {
        try onMain {
            let bench = try Self.bench(width: 336)
            bench.bar.session.handle(.startEdit(id: "m", WrittenText("What was said")))
            let parts = bench.bar.widgets
            let isBeside = { () -> Bool? in
                let words = parts.editQuote.bounds(in: bench.widget)
                guard let words, let save = parts.save.bounds(in: bench.widget) else { return nil }
                return save.y < words.y + words.height
            }
            XCTAssertTrue(MainLoop.pump { parts.save.isMapped && isBeside() == true }, "SLK-16: beside each other")
            StyleSheet.setOverrides("window { font-size: 200%; }")
            defer { StyleSheet.setOverrides("") }
            XCTAssertTrue(MainLoop.pump { isBeside() == false }, "SLK-16: below each other")
            XCTAssertTrue(MainLoop.pump { parts.editQuote.width > 200 })
            bench.window.close()
        }
    }

    /// SLK-14, MIB-47: the counter's minus sign precedes its digits, also in right-to-left locales.
    func testCounterKeepsItsSignFirstInRightToLeftLocales() throws {
        try onMain {
            gtk_widget_set_default_direction(GTK_TEXT_DIR_RTL)
            defer { gtk_widget_set_default_direction(GTK_TEXT_DIR_LTR) }
            let bench = try Self.bench()
            bench.bar.characterLimit = 3
            bench.bar.text = "abcdefghij"
            let counter = bench.bar.widgets.counter
            XCTAssertTrue(MainLoop.pump { counter.text == "-7" })
            let layout = gtk_label_get_layout(counter.cast())
            var (sign, figure) = (PangoRectangle(), PangoRectangle())
            pango_layout_index_to_pos(layout, 0, &sign)
            pango_layout_index_to_pos(layout, 1, &figure)
            XCTAssertLessThan(sign.x, figure.x, "SLK-14")
            bench.window.close()
        }
    }

    /// MIB-8, SLK-13: the expand button serves users who have only a pointer.
    func testExpandButtonTogglesHeightAndInsetAddsPadding() throws {
        try onMain {
            let bench = try Self.bench()
            let expand = bench.bar.widgets.expand
            XCTAssertFalse(expand.isVisible)
            bench.write(lines: 3)
            XCTAssertTrue(MainLoop.pump { expand.isVisible }, "MIB-8: offered over three lines")
            _ = bench.heights()
            let before = bench.text.height
            try RealInput.point(at: expand)
            try RealInput.click()
            XCTAssertTrue(MainLoop.pump { bench.bar.isExpanded && bench.text.height > before + 40 })
            XCTAssertTrue(MainLoop.pump { bench.text.hasFocus }, "the focus is in the text again")
            bench.write(lines: 1)
            XCTAssertTrue(MainLoop.pump { expand.isVisible }, "what was expanded can be taken back")
            try RealInput.press("ctrl+shift+e")
            XCTAssertTrue(MainLoop.pump { !bench.bar.isExpanded && !expand.isVisible })
            let plain = try XCTUnwrap(bench.heights().last)
            bench.bar.contentInset = 10
            XCTAssertEqual(bench.heights().last, plain + 20, "SLK-13, MIB-2")
            bench.window.close()
        }
    }
}
