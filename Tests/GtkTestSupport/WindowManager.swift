import CGtk
import CX11
import GtkKit

/// The window manager, which gives windows the focus in its own time.
@MainActor
public enum WindowManager {
    /// Waits until it has handled what this program asked for, and the events that follow from it have arrived.
    ///
    /// A window that closes, opens or asks for the focus changes the focus later. Keys and assertions that do not wait
    /// for that find another window active, or a window active that no longer will be a moment later.
    public static func wait() throws {
        guard let display = gdk_display_get_default() else { return }
        gdk_display_sync(display)
        guard MainLoop.pump(until: try Barrier.shared().reached()) else { throw TimedOut() }
        gdk_display_sync(display)
        for _ in 0..<1_000 where g_main_context_pending(nil) != 0 { g_main_context_iteration(nil, 0) }
    }
}

/// A window manager handles requests in order, and answers the one for the size of its frame by setting a property
/// (Extended Window Manager Hints, `_NET_REQUEST_FRAME_EXTENTS`).
@MainActor
private final class Barrier {
    private let display: OpaquePointer
    private let window: CX11.Window
    private let request: Atom
    private let answer: Atom
    private static var opened: Barrier?

    static func shared() throws -> Barrier {
        if let opened { return opened }
        guard let display = XOpenDisplay(nil) else { throw TimedOut() }
        let barrier = Barrier(display)
        opened = barrier
        return barrier
    }

    private init(_ display: OpaquePointer) {
        self.display = display
        window = XCreateSimpleWindow(display, XDefaultRootWindow(display), 0, 0, 1, 1, 0, 0, 0)
        request = XInternAtom(display, "_NET_REQUEST_FRAME_EXTENTS", 0)
        answer = XInternAtom(display, "_NET_FRAME_EXTENTS", 0)
    }

    /// Sends the request.
    /// - Returns: whether the answer to it has arrived.
    func reached() -> () -> Bool {
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
