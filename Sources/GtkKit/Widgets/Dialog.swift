import CGtk

/// A dialog over a window: within it if this is built with a libadwaita that supports that (AdwDialog, 1.5), otherwise
/// a modal window of its own.
open class Dialog: Widget {
    /// Whether dialogs are within their parent window, which then stays the active window.
    public static var isInWindow: Bool { shim_dialogs_in_window() != 0 }

    /// - Parameters:
    ///   - width: The width of the content in logical pixels, if there is enough room.
    ///   - height: The height, or -1 for the content's own.
    public convenience init(title: String = "", width: Int, height: Int = -1) {
        self.init(sinking: shim_dialog_new(gint(clamping: width), gint(clamping: height)))
        self.title = title
        closeOnEscape()
    }

    /// Creates a dialog from an AdwWindow in a `.ui` file.
    public convenience init(_ builder: Builder, _ id: String = "window") {
        let window: TopLevel = builder[id]
        self.init(sinking: shim_dialog_of_window(window.pointer))
        closeOnEscape()
    }

    public final var title: String {
        get { shim_dialog_get_title(pointer).map { String(cString: $0) } ?? "" }
        set { shim_dialog_set_title(pointer, newValue) }
    }

    public final func setContent(_ content: Widget) { shim_dialog_set_content(pointer, content.pointer) }

    /// - Parameters:
    ///   - parent: A widget in the window to cover, or `nil` for a window of its own.
    ///   - application: Kept running by a dialog without parent.
    public final func present(over parent: Widget?, in application: Application? = nil) {
        shim_dialog_present(pointer, parent?.pointer, application?.pointer)
    }

    /// Closes the dialog as the user would.
    public final func close() { shim_dialog_close(pointer) }

    /// Closes the dialog without calling the handler of ``onCloseRequest(_:)``.
    public final func forceClose() { shim_dialog_force_close(pointer) }

    /// - Parameter handler: Returns whether to keep the dialog open.
    public final func onCloseRequest(_ handler: @escaping @MainActor () -> Bool) {
        guard Self.isInWindow else {
            intercept("close-request") { _ in handler() }
            return
        }
        shim_dialog_intercept_closing(pointer)
        connect("close-attempt") { arguments in
            if !handler(), let dialog = arguments.emitter { shim_dialog_force_close(dialog) }
        }
    }

    /// Whether the dialog belongs to the window, directly or through other dialogs and windows.
    public final func isOver(_ window: TopLevel) -> Bool {
        guard let own = self.window else { return false }
        return Self.isInWindow && own.isSame(as: window) || own.isTransient(for: window)
    }

    /// Calls `handler` once the dialog is closed.
    public final func onClosed(_ handler: @escaping @MainActor () -> Void) {
        // Closing a window unmaps it. `destroy` is emitted with the last reference, which retained objects may hold.
        connect(Self.isInWindow ? "closed" : "unmap") { _ in handler() }
    }

    /// Retains objects, such as the dialog's controller, until the dialog is closed.
    public final func retain(_ objects: [AnyObject]) {
        let retained = RetainedObjects(objects)
        onClosed { retained.release() }
    }

    /// The dialogs that are open.
    public static var all: [Dialog] {
        TopLevel.visible.flatMap { isInWindow ? mapped(below: $0) : [$0] }
            .filter { shim_is_dialog($0.pointer) != 0 }.map { Dialog(borrowing: $0.pointer) }
    }

    private static func mapped(below widget: Widget) -> [Widget] {
        widget.children.filter(\.isMapped).flatMap { [$0] + mapped(below: $0) }
    }

    /// Closes the dialog on Escape. AdwDialog does so itself.
    private func closeOnEscape() {
        if !Self.isInWindow { TopLevel(borrowing: pointer).closeOnEscape() }
    }
}

extension TopLevel {
    /// The windows and dialogs that are visible.
    static var visible: [Widget] {
        guard let list = gtk_window_list_toplevels() else { return [] }
        defer { g_list_free(list) }
        let all = (0..<g_list_length(list)).compactMap { g_list_nth_data(list, $0).map { Widget(borrowing: $0) } }
        return all.filter(\.isMapped)
    }

    /// Whether the window is over another one, directly or through others.
    final func isTransient(for other: TopLevel) -> Bool {
        let parent: UnsafeMutablePointer<GtkWindow>? = gtk_window_get_transient_for(cast())
        let parents = sequence(state: parent) { next in
            defer { next = next.flatMap { gtk_window_get_transient_for($0) } }
            return next
        }
        return parents.contains { UnsafeMutableRawPointer($0) == other.pointer }
    }

    /// Returns the modal window over this one that would block a dialog within this window, such as that of an image;
    /// `nil` where dialogs are windows: there it is among them (``Dialog/all``). The shortcuts' window cannot have
    /// dialogs, and is closed.
    public final func modalWindow() -> TopLevel? {
        guard Dialog.isInWindow else { return nil }
        let modal = Self.visible.map { TopLevel(borrowing: $0.pointer) }
            .filter { $0.isModal && $0.isTransient(for: self) }
        for window in modal where window.isInstance(of: gtk_shortcuts_window_get_type()) { window.closeWindow() }
        let hosts = modal.filter {
            $0.isInstance(of: adw_window_get_type()) || $0.isInstance(of: adw_application_window_get_type())
        }
        return hosts.first(where: \.isActive) ?? hosts.last
    }

    /// The dialog within the window that covers its content.
    public final var visibleDialog: Dialog? { shim_visible_dialog(pointer).map { Dialog(borrowing: $0) } }

    /// Calls `handler` when ``visibleDialog`` changes.
    public final func onVisibleDialogChange(_ handler: @escaping @MainActor () -> Void) -> SignalConnection {
        connect("notify::visible-dialog") { _ in handler() }
    }
}

/// Retains objects until ``release()``.
public final class RetainedObjects {
    private var objects: [AnyObject]
    public init(_ objects: [AnyObject]) { self.objects = objects }
    public func release() { objects = [] }
}
