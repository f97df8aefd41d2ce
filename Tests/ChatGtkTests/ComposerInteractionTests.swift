import CGtk
import ChatViewModels
import Composer
import ComposerSessions
import GtkKit
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import ComposerGtk
@testable import GtkKit

/// Behavior that desktop users expect from any composer, driven by real key events.
final class ComposerInteractionTests: GtkTestCase {
    @MainActor
    private static func open() throws -> (bar: ComposerBar, window: TestWindow) {
        try ComposerBar.register()
        let widget = ComposerBar.make()
        let bar = try XCTUnwrap(ComposerBar.of(widget))
        let box = Box(.vertical)
        let button = Widget(sinking: gtk_button_new_with_label("Other"))
        gtk_widget_set_vexpand(button.cast(), 1)
        box.append(button)
        box.append(widget)
        let window = TestWindow(box, width: 500, height: 600)
        try RealInput.activate(window.window)
        bar.grabFocus()
        return (bar, window)
    }

    @MainActor
    private static func descendants(of widget: Widget) -> [Widget] {
        widget.children.flatMap { [$0] + descendants(of: $0) }
    }

    func testSlowSendShowsASpinnerAndCanBeStopped() throws {
        try onMain {
            let (bar, window) = try Self.open()
            bar.session.onSend = { _ in while true { try await Task.sleep(for: .seconds(3600)) } }
            try RealInput.type("slow")
            try RealInput.press("Return")
            let button = { () -> Widget? in
                Self.descendants(of: window.window).first {
                    shim_is_a($0.pointer, gtk_spinner_get_type()) != 0 && $0.isMapped
                }.flatMap { gtk_widget_get_parent($0.cast()).map { Widget(borrowing: $0) } }
            }
            XCTAssertTrue(MainLoop.pump { button() != nil }, "MIB-10: it spins")
            XCTAssertEqual(button()?.tooltip, "Stop Sending")
            // Wait for revealers to finish: xdotool cannot hit a moving widget.
            let isAtRest = {
                Self.descendants(of: window.window).allSatisfy {
                    shim_is_a($0.pointer, gtk_revealer_get_type()) == 0
                        || (gtk_revealer_get_child_revealed($0.cast()) == gtk_revealer_get_reveal_child($0.cast()))
                }
            }
            XCTAssertTrue(MainLoop.pump { button()?.isSensitive == true && isAtRest() })
            try RealInput.point(at: try XCTUnwrap(button()))
            try RealInput.click()
            XCTAssertTrue(MainLoop.pump { bar.text == "slow" }, "MIB-10: what is stopped comes back")
            XCTAssertTrue(MainLoop.pump { button() == nil })
            window.close()
        }
    }

    func testTabMovesTheFocusAndControlTabInsertsATab() throws {
        try onMain {
            let (bar, window) = try Self.open()
            try RealInput.type("a")
            try RealInput.press("ctrl+Tab")
            XCTAssertTrue(MainLoop.pump { bar.text == "a\t" }, "\(bar.text.debugDescription)")
            try RealInput.press("Tab")
            XCTAssertTrue(MainLoop.pump { !bar.textWidget.hasFocus }, "Tab goes on")
            try RealInput.press("shift+Tab")
            XCTAssertTrue(MainLoop.pump { bar.textWidget.hasFocus }, "and comes back")
            XCTAssertEqual(bar.text, "a\t")
            window.close()
        }
    }

    func testExpandShortcutTogglesTheEditorHeight() throws {
        try onMain {
            let (bar, window) = try Self.open()
            let before = bar.textWidget.height
            try RealInput.press("ctrl+shift+e")
            XCTAssertTrue(MainLoop.pump { bar.textWidget.height >= 4 * before }, "MIB-8: \(bar.textWidget.height)")
            try RealInput.press("ctrl+shift+e")
            XCTAssertTrue(MainLoop.pump { bar.textWidget.height == before })
            window.close()
        }
    }

    func testZoomEnlargesTextAndReducesMaximumLines() throws {
        try onMain {
            let (bar, window) = try Self.open()
            defer { TextZoom.apply(percent: 100) }
            // Measure the natural height: a single line is allocated the height of the taller buttons beside it.
            let asked = {
                var natural: Int32 = 0
                gtk_widget_measure(bar.textWidget.cast(), GTK_ORIENTATION_VERTICAL, -1, nil, &natural, nil, nil)
                return Int(natural)
            }
            let (height, line, lines) = (bar.textWidget.height, asked(), bar.session.composer.maxLines)
            TextZoom.apply(percent: 200)
            XCTAssertTrue(MainLoop.pump { asked() >= line * 17 / 10 }, "\(line) to \(asked())")
            XCTAssertTrue(MainLoop.pump { bar.textWidget.height >= asked() }, "and gets it")
            XCTAssertTrue(MainLoop.pump { bar.session.composer.maxLines < lines }, "SLK-58")
            TextZoom.apply(percent: 100)
            XCTAssertTrue(MainLoop.pump { bar.textWidget.height == height })
            XCTAssertTrue(MainLoop.pump { bar.session.composer.maxLines == lines })
            window.close()
        }
    }

    func testZoomStepsAreBounded() {
        onMain {
            defer { TextZoom.apply(percent: 100) }
            XCTAssertEqual(TextZoom.percent(after: .larger), 110)
            XCTAssertEqual(TextZoom.percent(after: .smaller), 90)
            TextZoom.apply(percent: 1000)
            XCTAssertEqual(TextZoom.percent(after: .larger), 300)
            XCTAssertEqual(TextZoom.percent(after: .normal), 100)
        }
    }

    func testShakesOfThePointerAreReported() throws {
        try onMain {
            var shakes = 0
            let area = Label("shake here")
            let window = TestWindow(area, width: 400, height: 200)
            let shake = ShakeGesture(over: area) { shakes += 1 }
            try RealInput.activate(window.window)
            try RealInput.point(at: area)
            for step in [60, -60, 60, -60, 60, -60] { try RealInput.move(byX: step, y: 0, steps: 2) }
            XCTAssertTrue(MainLoop.pump { shakes > 0 }, "SLK-43")
            withExtendedLifetime(shake) {}
            window.close()
        }
    }
}
