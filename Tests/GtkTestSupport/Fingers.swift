import CGtk
import Foundation
public import GtkKit
import XCTest

/// The touchscreen and touchpad that the display server provides under `build-aux/with-display --fingers`. GTK receives
/// these actions as events of real devices.
@MainActor
public enum Fingers {
    /// Event types of the X server's `inputtest` driver, with the numbers of its protocol.
    private enum Kind: UInt32 {
        case version = 0
        case sync = 1
        case motion = 2
        case touch = 6
    }

    /// XInput 2 touch event numbers.
    public enum Touch: UInt32 {
        case begin = 18
        case move = 19
        case end = 20
    }

    private static let screen = Result { try connect("touchscreen") }
    private static let pad = Result { try connect("touchpad") }

    /// Skips the test in a session without these devices.
    public static func require() throws {
        try XCTSkipIf(folder == nil, "no touch screen here: build-aux/with-display --fingers")
    }

    private static var folder: String? { ProcessInfo.processInfo.environment["PARLANCE_FINGERS"] }

    // MARK: Touchscreen

    /// Sends a touch event of one finger at a position of the display, in pixels.
    public static func touch(_ touch: Touch, x: Double, y: Double) throws {
        guard let size = displaySize else { throw TimedOut() }
        // The device's axes range from 0 to 65535 over the whole screen.
        let place = [0: x / size.width * 65535, 1: y / size.height * 65535]
        try send(.touch, 1, touch.rawValue, place, to: try screen.get())
    }

    /// Lifts the finger and waits until GTK has handled it.
    public static func lift(x: Double, y: Double, over widget: Widget) throws {
        try touch(.end, x: x, y: y)
        for _ in 0..<2 { try waitForFrame(over: widget) }
    }

    /// Puts a finger down, moves it in steps, one per frame of `widget`, and leaves it there.
    public static func drag(
        from start: (x: Double, y: Double), to end: (x: Double, y: Double), steps: Int = 12, over widget: Widget
    ) throws {
        try touch(.begin, x: start.x, y: start.y)
        try waitForFrame(over: widget)
        for step in 1...steps {
            let share = Double(step) / Double(steps)
            try touch(.move, x: start.x + (end.x - start.x) * share, y: start.y + (end.y - start.y) * share)
            try waitForFrame(over: widget)
        }
    }

    // MARK: Touchpad

    /// Moves the pointer with the touchpad: two-finger scrolling goes to the widget beneath the pointer.
    public static func point(x: Double, y: Double) throws {
        guard let size = displaySize else { throw TimedOut() }
        // Move to the corner first: the touchpad reports relative motion only.
        try send(.motion, 0, 0, [0: -2 * size.width, 1: -2 * size.height], to: try pad.get())
        try send(.motion, 0, 0, [0: x, 1: y], to: try pad.get())
    }

    /// Scrolls with two fingers, in wheel notches; positive values scroll down and to the right.
    public static func scroll(_ notches: Double, sideways: Double = 0) throws {
        try send(.motion, 0, 0, [2: sideways * 120, 3: notches * 120], to: try pad.get())
    }

    /// Lifts both fingers.
    public static func stopScrolling() throws { try scroll(0) }

    /// Scrolls a little further and lifts both fingers while they move. GTK goes on scrolling with the speed of the last
    /// 150 ms, and frames take longer on a busy machine: this waits for none.
    public static func fling(_ notches: Double, sideways: Double = 0) throws {
        for _ in 0..<2 {
            try scroll(notches / 2, sideways: sideways / 2)
            usleep(8_000)
        }
        try stopScrolling()
    }

    // MARK: Driver protocol

    private static var displaySize: (width: Double, height: Double)? {
        guard let display = gdk_display_get_default(),
            let monitor = g_list_model_get_item(gdk_display_get_monitors(display), 0)
        else { return nil }
        defer { g_object_unref(monitor) }
        var place = GdkRectangle()
        gdk_monitor_get_geometry(OpaquePointer(monitor), &place)
        return (Double(place.width), Double(place.height))
    }

    private static func waitForFrame(over widget: Widget) throws {
        var frames = 0
        widget.addTick {
            frames += 1
            return frames < 2
        }
        guard MainLoop.pump(until: { frames >= 2 }) else { throw TimedOut() }
    }

    /// The driver accepts a single connection in its lifetime.
    private static func connect(_ name: String) throws -> FileHandle {
        guard let folder else { throw TimedOut() }
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: (folder + "/" + name).utf8.prefix(107)) }
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else { throw TimedOut() }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        // Version 1.0 of the protocol.
        try handle.write(contentsOf: bytes(of: [12, Kind.version.rawValue, 1]))
        guard try handle.read(upToCount: 12)?.count == 12 else { throw TimedOut() }
        return handle
    }

    /// Sends an event with axis values, and waits until the server has processed it.
    private static func send(
        _ kind: Kind, _ first: UInt32, _ second: UInt32, _ values: [Int: Double], to device: FileHandle
    ) throws {
        let axes = 64
        var mask: UInt64 = 0
        var doubles = [Double](repeating: 0, count: 2 * axes)
        for (axis, value) in values {
            mask |= 1 << UInt64(axis)
            doubles[axis] = value
        }
        let length = UInt32(32 + 16 * axes)
        var event = bytes(of: [length, kind.rawValue, first, second, 0])
        withUnsafeBytes(of: mask) { event.append(contentsOf: $0) }
        event.append(contentsOf: [0, 0, 0, 0])
        doubles.withUnsafeBytes { event.append(contentsOf: $0) }
        try device.write(contentsOf: event)
        try device.write(contentsOf: bytes(of: [8, Kind.sync.rawValue]))
        guard try device.read(upToCount: 8)?.count == 8 else { throw TimedOut() }
    }

    private static func bytes(of words: [UInt32]) -> Data { words.withUnsafeBytes { Data($0) } }
}
