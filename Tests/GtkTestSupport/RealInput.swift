import CGtk
import Foundation
public import GtkKit

/// Keyboard and pointer events delivered through the display server by `xdotool`.
@MainActor
public enum RealInput {
    /// Presses keys, given by `xdotool` names: `Return`, `shift+Down`, `at`.
    public static func press(_ keys: String...) throws {
        try waitForFocus()
        try run(["key", "--delay", "15"] + keys.map(keycode))
    }

    /// Replaces F1 to F10 by keycodes: newer keymaps also have them on a level with Alt, and `xdotool` would press Alt.
    public static func keycode(_ keys: String) -> String {
        keys.replacing(/\bF(10|[1-9])$/) { found in Int(found.1).map { "\(66 + $0)" } ?? String(found.0) }
    }

    public static func type(_ text: String) throws {
        try waitForFocus()
        try run(["type", "--delay", "15", "--", text])
    }

    /// Waits until the focus widget is mapped, as GTK drops keys for an unmapped one; gives up after 5 seconds.
    private static func waitForFocus() throws {
        try WindowManager.wait()
        _ = MainLoop.pump(forAtMost: 5) {
            let windows = gtk_window_get_toplevels()
            return (0..<g_list_model_get_n_items(windows)).allSatisfy { index in
                guard let item = g_list_model_get_item(windows, index) else { return true }
                defer { g_object_unref(item) }
                let window = TopLevel(borrowing: item)
                guard window.isActive, let focus = window.focus else { return true }
                return focus.isMapped
            }
        }
    }

    /// Presents a widget's window, and waits until it has the keyboard focus.
    public static func activate(_ widget: Widget) throws {
        guard let window = widget.window else { throw TimedOut() }
        window.present()
        try WindowManager.wait()
        guard MainLoop.pump(until: { window.isActive }) else { throw TimedOut() }
    }

    /// Moves the pointer to the center of the widget, which must be in the active window or in one of its popovers.
    public static func point(at widget: Widget) throws {
        // A widget that was just shown has no size before the next layout, so its center would be its corner.
        guard MainLoop.pump(until: { widget.width > 0 }) else { throw TimedOut() }
        try point(at: widget, x: Double(widget.width) / 2, y: Double(widget.height) / 2)
    }

    /// Moves the pointer to a position in the widget's coordinates.
    public static func point(at widget: Widget, x atX: Double, y atY: Double) throws {
        // Wait for animations to end: a widget that appears or disappears makes GTK 4.8 forget that the pointer is over
        // a popover until the pointer moves, and an animated widget would not be where it was measured.
        try waitForFrames(30, of: widget)
        guard let native = widget.withPointer({ gtk_widget_get_native($0) }),
            let surface = gtk_native_get_surface(native)
        else {
            throw TimedOut()
        }
        let nativeWidget = Widget(borrowing: UnsafeMutableRawPointer(native))
        guard let bounds = widget.bounds(in: nativeWidget) else { throw TimedOut() }
        var (x, y) = (0.0, 0.0)
        gtk_native_get_surface_transform(native, &x, &y)
        x += bounds.x + atX
        y += bounds.y + atY
        if shim_is_a(UnsafeMutableRawPointer(surface), gdk_popup_get_type()) != 0 {
            x += Double(gdk_popup_get_position_x(surface))
            y += Double(gdk_popup_get_position_y(surface))
        }
        // Move in several steps: GTK picks the widget beneath the pointer from the second motion event on, and delivers
        // one motion event per frame.
        let window = try activeWindow()
        for step in [4, 2, 0] {
            try run(["mousemove", "--sync", "--window", window, "\(Int(x) - step)", "\(Int(y) - step)"])
            try waitForFrames(3, of: widget)
        }
    }

    /// Waits until the widget has drawn this many frames.
    public static func waitForFrames(_ count: Int, of widget: Widget) throws {
        var frames = 0
        widget.addTick {
            frames += 1
            return frames < count
        }
        guard MainLoop.pump(until: { frames >= count }) else { throw TimedOut() }
    }

    /// Moves the pointer to the lower right corner of the display, where it is over no window that opens.
    public static func moveAside() throws { try run(["mousemove", "10000", "10000"]) }

    public static func click(button: Int = 1) throws { try run(["click", "\(button)"]) }
    /// Turns the wheel to scroll down.
    public static func scrollDown(_ steps: Int) throws {
        try run(["click", "--repeat", "\(steps)", "--delay", "20", "5"])
    }
    public static func pressButton() throws { try run(["mousedown", "1"]) }
    public static func releaseButton() throws { try run(["mouseup", "1"]) }
    /// Moves the pointer by an offset in pixels, in several steps.
    public static func move(byX x: Int, y: Int, steps: Int = 8) throws {
        for step in 1...steps {
            let (dx, dy) = (x * step / steps - x * (step - 1) / steps, y * step / steps - y * (step - 1) / steps)
            try run(["mousemove_relative", "--sync", "--", "\(dx)", "\(dy)"])
        }
    }

    /// Returns the X11 ID of the window with the keyboard focus.
    public static func activeWindow() throws -> String {
        // The window manager answers once it has given a window the focus, but names it the active one only when the
        // event of that focus has come back to it.
        for _ in 0..<2 { try WindowManager.wait() }
        return try run(["getactivewindow"]).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Runs `xdotool`, iterating the main loop meanwhile, and returns what it prints once the events have arrived.
    @discardableResult
    public static func run(_ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["xdotool"] + arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        guard MainLoop.pump(until: { !process.isRunning }), process.terminationStatus == 0 else { throw TimedOut() }
        // The process can end before its last events are read from the connection to the display server.
        try WindowManager.wait()
        return String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }
}
