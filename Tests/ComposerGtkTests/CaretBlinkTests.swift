import CGtk
import GtkTestSupport
import XCTest

@testable import ComposerGtk
@testable import GtkKit

/// The caret blinks by the desktop's settings, and costs two frames a period.
final class CaretBlinkTests: GtkTestCase {
    func testCaretBlinksUntilItsTimeout() throws {
        try onMain {
            let settings = try CaretSettings(period: 300, timeout: 5)
            defer { settings.restore() }
            let bench = try HostBench()
            try RealInput.type("a")
            XCTAssertTrue(bench.waits(for: "a"))
            for _ in 0..<2 {
                XCTAssertTrue(MainLoop.pump { !bench.isCaretVisible })
                XCTAssertTrue(MainLoop.pump { bench.isCaretVisible })
            }
            XCTAssertTrue(bench.rests(for: 0.6), "the caret stays once nothing was typed for 5 s")
            XCTAssertTrue(bench.isCaretVisible)
            try RealInput.press("BackSpace")
            XCTAssertTrue(MainLoop.pump { !bench.isCaretVisible }, "and blinks again after a key")
            bench.close()
        }
    }

    func testBlinkingDrawsTwoFramesAPeriod() throws {
        try onMain {
            let settings = try CaretSettings(period: 1000, timeout: 100)
            defer { settings.restore() }
            let bench = try HostBench()
            XCTAssertTrue(bench.rests(for: 0.4))
            var (changes, wasVisible) = (0, bench.isCaretVisible)
            let frames = bench.frames {
                _ = MainLoop.pump(forAtMost: 3) {
                    if bench.isCaretVisible != wasVisible { (changes, wasVisible) = (changes + 1, !wasVisible) }
                    return false
                }
            }
            XCTAssertGreaterThan(changes, 0)
            XCTAssertLessThanOrEqual(frames, changes + 1, "a caret that fades takes sixty a second")
            bench.close()
        }
    }

    func testKeysMoveAHiddenCaret() throws {
        try onMain {
            let settings = try CaretSettings(period: 3000, timeout: 100)
            defer { settings.restore() }
            let bench = try HostBench()
            try RealInput.type("abc")
            XCTAssertTrue(bench.waits(for: "abc"))
            for offset in [2, 1] {
                XCTAssertTrue(MainLoop.pump { !bench.isCaretVisible })
                try RealInput.press("Left")
                XCTAssertTrue(MainLoop.pump { bench.caret == offset })
                XCTAssertTrue(bench.isCaretVisible)
            }
            bench.close()
        }
    }

    func testOtherCaretsBlinkAsGtkLetsThem() throws {
        try onMain {
            let settings = try CaretSettings(period: 300, timeout: 100)
            defer { settings.restore() }
            let bench = try HostBench()
            let entry = Widget(sinking: gtk_text_new())
            bench.column.append(entry)
            XCTAssertFalse(settings.gtkBlinks)
            XCTAssertTrue(MainLoop.pump { !bench.isCaretVisible })
            entry.grabFocus()
            XCTAssertTrue(MainLoop.pump { entry.hasFocus })
            XCTAssertTrue(settings.gtkBlinks)
            XCTAssertTrue(bench.isCaretVisible)
            bench.bar.grabFocus()
            XCTAssertTrue(MainLoop.pump { bench.text.hasFocus })
            XCTAssertFalse(settings.gtkBlinks)
            XCTAssertTrue(MainLoop.pump { !bench.isCaretVisible })
            bench.close()
            XCTAssertTrue(MainLoop.pump { settings.gtkBlinks }, "after the window is closed")
        }
    }

    func testDesktopTurnsBlinkingOff() throws {
        try onMain {
            let settings = try CaretSettings(period: 300, timeout: 100, isOn: false)
            defer { settings.restore() }
            let bench = try HostBench()
            XCTAssertTrue(bench.rests(for: 0.6))
            XCTAssertTrue(bench.isCaretVisible)
            bench.close()
            XCTAssertFalse(settings.gtkBlinks, "the desktop's setting is left alone")
        }
    }
}

/// The desktop's settings for the caret, until they are restored. In milliseconds and seconds.
@MainActor
private struct CaretSettings {
    private let settings: Object

    init(period: Int, timeout: Int, isOn: Bool = true) throws {
        settings = Object(borrowing: try UnsafeMutableRawPointer(XCTUnwrap(gtk_settings_get_default())))
        settings.setProperty("gtk-cursor-blink-time", period)
        settings.setProperty("gtk-cursor-blink-timeout", timeout)
        if !isOn { settings.setProperty("gtk-cursor-blink", false) }
    }

    /// Whether GTK blinks the caret of the widget with the focus.
    var gtkBlinks: Bool { settings.isOn("gtk-cursor-blink") }

    func restore() {
        for name in ["gtk-cursor-blink", "gtk-cursor-blink-time", "gtk-cursor-blink-timeout"] {
            gtk_settings_reset_property(settings.cast(), name)
        }
    }
}

extension HostBench {
    fileprivate var isCaretVisible: Bool { gtk_text_view_get_cursor_visible(text.cast()) != 0 }

    /// The number of frames that are drawn during `body`.
    fileprivate func frames(during body: () -> Void) -> Int {
        guard let clock = widget.frameClock else { return 0 }
        var count = 0
        let connection = clock.connect("after-paint") { _ in count += 1 }
        body()
        connection.disconnect()
        return count
    }

    /// Waits until no frame is drawn for so many seconds. A caret that is hidden has only waited for the processor.
    fileprivate func rests(for seconds: Double) -> Bool {
        for _ in 0..<20 {
            let count = frames { _ = MainLoop.pump(forAtMost: seconds) { false } }
            if count == 0, isCaretVisible { return true }
        }
        return false
    }
}
