import CX11

/// Finds out when the window manager has handled what the X server had received before.
///
/// A window manager handles requests in order, and answers the one for the size of its frame by setting a property
/// (Extended Window Manager Hints, `_NET_REQUEST_FRAME_EXTENTS`).
@MainActor
package final class WindowManagerBarrier {
    private let display: OpaquePointer
    private let window: CX11.Window
    private let request: Atom
    private let answer: Atom

    /// `nil` without an X display.
    package static let shared: WindowManagerBarrier? = open()

    private static func open() -> WindowManagerBarrier? {
        guard let display = XOpenDisplay(nil) else { return nil }
        return WindowManagerBarrier(display)
    }

    private init(_ display: OpaquePointer) {
        self.display = display
        window = XCreateSimpleWindow(display, XDefaultRootWindow(display), 0, 0, 1, 1, 0, 0, 0)
        request = XInternAtom(display, "_NET_REQUEST_FRAME_EXTENTS", 0)
        answer = XInternAtom(display, "_NET_FRAME_EXTENTS", 0)
    }

    /// Sends the request.
    /// - Returns: whether the answer to it has arrived.
    package func reached() -> () -> Bool {
        XDeleteProperty(display, window, answer)
        var event = XEvent()
        event.xclient.type = ClientMessage
        event.xclient.window = window
        event.xclient.message_type = request
        event.xclient.format = 32
        XSendEvent(
            display, XDefaultRootWindow(display), 0, SubstructureRedirectMask | SubstructureNotifyMask, &event)
        XFlush(display)
        return { [self] in isAnswered }
    }

    private var isAnswered: Bool {
        var (type, format) = (Atom(), Int32())
        var (count, rest) = (UInt(), UInt())
        var value: UnsafeMutablePointer<UInt8>?
        let status = XGetWindowProperty(
            display, window, answer, 0, 4, 0, Atom(XA_CARDINAL), &type, &format, &count, &rest, &value)
        if let value { XFree(value) }
        return status == 0 && count > 0
    }
}
