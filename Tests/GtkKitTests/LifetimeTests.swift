import CGtk
import GtkTestSupport
import XCTest

@testable import GtkKit

final class LifetimeTests: GtkTestCase {
    @MainActor final class Log {
        var lines: [String] = []
    }

    func testClosedWindowIsFinalizedWithItsClosures() {
        onMain {
            // Do not count closures of earlier tests that an idle source will free.
            while MainLoop.iterate() {}
            let before = ClosureCount.live
            let log = Log()
            do {
                let box = Box(.vertical)
                let button = Button(sinking: gtk_button_new_with_label("Press"))
                button.onClick { log.lines.append("pressed") }
                box.append(button)
                let window = TestWindow(box)
                window.window.onFinalize { log.lines.append("window") }
                button.onFinalize { log.lines.append("button") }
                gtk_widget_activate(button.cast())
                XCTAssertTrue(MainLoop.pump { log.lines.contains("pressed") })
                window.close()
            }
            XCTAssertTrue(MainLoop.pump { log.lines.contains("window") && log.lines.contains("button") })
            XCTAssertEqual(ClosureCount.live, before)
        }
    }

    func testHandlerCanDisconnectItself() {
        onMain {
            let before = ClosureCount.live
            let log = Log()
            let button = Button(sinking: gtk_button_new())
            var connection: SignalConnection?
            connection = button.connect("clicked") { _ in
                log.lines.append("once")
                connection?.disconnect()
                log.lines.append("still alive")
            }
            gtk_widget_activate(button.cast())
            Self.click(button)
            Self.click(button)
            XCTAssertEqual(log.lines, ["once", "still alive"])
            XCTAssertEqual(ClosureCount.live, before)
            connection?.disconnect()
        }
    }

    /// GTK 4.12 and later passes a list item's widget while still floating during bind.
    func testBorrowingAFloatingObjectLeavesItFloating() {
        onMain {
            let log = Log()
            let made: UnsafeMutablePointer<GtkWidget> = gtk_label_new("still floating")
            do {
                let wrapper = Label(borrowing: made)
                wrapper.onFinalize { log.lines.append("freed") }
                XCTAssertNotEqual(g_object_is_floating(made), 0)
                // Borrow it again, by a wrapper of another class and by a list of children.
                XCTAssertNotNil(wrapper.wrapped(as: Widget.self, gtk_widget_get_type()))
                XCTAssertEqual(Widget(borrowing: made).children.count, 0)
            }
            XCTAssertEqual(log.lines, [])
            XCTAssertNotEqual(g_object_is_floating(made), 0, "its maker has still to take the reference")
            // The parent sinks the floating reference and finalizes the widget with itself.
            do {
                let box = Box(.vertical)
                gtk_box_append(box.cast(), made)
                XCTAssertEqual(g_object_is_floating(made), 0)
            }
            XCTAssertEqual(log.lines, ["freed"])
        }
    }

    func testTransferringAReferenceRetainsTheObject() {
        onMain {
            let log = Log()
            do {
                let model = Object(owning: UnsafeMutableRawPointer(gtk_string_list_new(nil)))
                model.onFinalize { log.lines.append("model") }
                let selection = Object(owning: UnsafeMutableRawPointer(gtk_no_selection_new(model.retained())))
                selection.onFinalize { log.lines.append("selection") }
            }
            XCTAssertEqual(Set(log.lines), ["model", "selection"])
        }
    }

    func testFloatingReferenceIsSunkAndFreed() {
        onMain {
            let log = Log()
            do {
                let label = Label("never parented")
                label.onFinalize { log.lines.append("freed") }
            }
            XCTAssertEqual(log.lines, ["freed"])
        }
    }

    func testHandlerResultsReachTheEmitter() {
        onMain {
            let window = TestWindow(Label("Stay")).window
            var asked = 0
            window.intercept("close-request") { _ in
                asked += 1
                return true
            }
            gtk_window_close(window.cast())
            XCTAssertTrue(MainLoop.pump { asked == 1 })
            XCTAssertNotNil(gtk_widget_get_root(window.cast()))
            gtk_window_destroy(window.cast())
        }
    }

    func testSignalArgumentsAreRead() {
        onMain {
            let buffer = Object(owning: UnsafeMutableRawPointer(gtk_text_buffer_new(nil)))
            let log = Log()
            buffer.connect("insert-text") { arguments in
                log.lines.append(arguments.string(1, byteCount: Int(arguments.int(2))))
            }
            gtk_text_buffer_set_text(buffer.cast(), "héllo 👍", -1)
            XCTAssertEqual(log.lines, ["héllo 👍"])
        }
    }

    @MainActor private static func click(_ button: Button) {
        var instance = GValue()
        g_value_init(&instance, shim_type_object())
        g_value_set_object(&instance, button.pointer)
        defer { g_value_unset(&instance) }
        g_signal_emitv(&instance, g_signal_lookup("clicked", gtk_button_get_type()), 0, nil)
    }
}
