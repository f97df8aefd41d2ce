import CGtk

extension Widget {
    /// Makes the popover a child of the widget that it points to.
    ///
    /// The parent must not be a GtkStack: GTK treats each accessible child of a stack as a page, and GTK 4.8
    /// dereferences a null pointer when a child without a page closes.
    public final func attachPopover(to parent: Widget) {
        PopoverGrabs.installUnmapHook
        PopoverPlacement.installShowGuard
        precondition(shim_is_a(parent.pointer, gtk_stack_get_type()) == 0, "a popover is no page of a stack")
        gtk_widget_set_parent(cast(), parent.cast())
    }
}

/// Prevents unmapped popovers from keeping their pointer grab.
///
/// GTK 4.8 takes a grab when a popover is shown and releases it when it is hidden. A popover that disappears with
/// its ancestor, as when the user leaves a page or closes a window, is unmapped but not hidden: no widget receives
/// clicks until another popover opens and closes.
enum PopoverGrabs {
    /// Runs once per process.
    static let installUnmapHook: Void = {
        // The signal exists only once the class has been initialized.
        g_type_class_ref(gtk_widget_get_type())
        let unmap = g_signal_lookup("unmap", gtk_widget_get_type())
        _ = g_signal_add_emission_hook(
            unmap, 0,
            { _, count, values, _ in
                guard count > 0, let values, let widget = g_value_get_object(values) else { return 1 }
                nonisolated(unsafe) let popover = widget
                MainActor.assumeIsolated {
                    guard shim_is_a(popover, gtk_popover_get_type()) != 0 else { return }
                    let widget = Widget(borrowing: popover)
                    if widget.isVisible { widget.isVisible = false }
                }
                return 1
            }, nil, nil)
    }()
}

/// A bubble that points to a place in the widget that it is attached to.
open class Popover: Widget {
    public convenience init() { self.init(sinking: gtk_popover_new()) }

    public final func setChild(_ child: Widget?) { gtk_popover_set_child(cast(), child?.cast()) }

    public final var hasArrow: Bool {
        get { gtk_popover_get_has_arrow(cast()) != 0 }
        set { gtk_popover_set_has_arrow(cast(), newValue ? 1 : 0) }
    }

    /// Whether a click outside closes the popover, which takes the focus and a grab.
    public final var autohide: Bool {
        get { gtk_popover_get_autohide(cast()) != 0 }
        set { gtk_popover_set_autohide(cast(), newValue ? 1 : 0) }
    }

    /// Opens above what it points to, if there is room.
    public final func placeAbove() { gtk_popover_set_position(cast(), GTK_POS_TOP) }
    public final func placeBelow() { gtk_popover_set_position(cast(), GTK_POS_BOTTOM) }

    /// Sets the rectangle to point to, in the parent's coordinates.
    public final func point(x: Double, y: Double, width: Double = 1, height: Double = 1) {
        var rectangle = GdkRectangle(
            x: Int32(x), y: Int32(y), width: Int32(max(1, width)), height: Int32(max(1, height)))
        gtk_popover_set_pointing_to(cast(), &rectangle)
    }

    public final func popUp() { gtk_popover_popup(cast()) }
    public final func popDown() { gtk_popover_popdown(cast()) }

    public final func onClose(_ handler: @escaping @MainActor () -> Void) { connect("closed") { _ in handler() } }
}

/// A popover that accompanies other input: it takes neither the focus nor a grab, and only code closes it.
public final class CompanionPopover: Popover {
    public convenience init(parent: Widget) {
        self.init(sinking: gtk_popover_new())
        attachPopover(to: parent)
        autohide = false
        hasArrow = false
        placeAbove()
        halign = .start
        canFocus = false
    }

    public var isOpen: Bool {
        get { isVisible }
        set {
            guard newValue != isOpen else { return }
            if newValue { popUp() } else { popDown() }
        }
    }
}

/// Rows whose widgets come to show something else, as a list's do when rows are added, removed or moved.
public protocol RecycledRows: AnyObject {
    /// Returns the key of what is shown by the row that is or contains `widget`, or `nil` if no row is.
    func key(ofRowWith widget: Widget) -> AnyHashable?
    /// Focuses the row with this key, or another one if it is gone.
    func focusRow(with key: AnyHashable)
}

/// Remembers the focus widget while a popover is open, to restore it on closing. GTK alone would focus the first
/// button of the window.
public final class FocusRestorer {
    private var widget: Widget?
    private weak var rows: (any RecycledRows)?
    /// That of the row with the widget.
    private var key: AnyHashable?

    /// - Parameter rows: Those of a list that may have the focus: it follows what a row shows, not the row's widget.
    public init(rows: (any RecycledRows)? = nil) { self.rows = rows }

    /// Saves the focus widget of the window that contains `widget`.
    public func save(around widget: Widget) {
        self.widget = widget.root?.focus
        key = self.widget.flatMap { rows?.key(ofRowWith: $0) }
    }

    /// Restores the saved focus, once.
    public func restore() {
        guard let widget else { return }
        self.widget = nil
        // GTK drops the keys for a widget that is not mapped, as that of a row out of view.
        if let rows, let key, rows.key(ofRowWith: widget) != key || !widget.isMapped {
            rows.focusRow(with: key)
        } else if widget.root != nil {
            // It may have left the window in the meantime.
            widget.grabFocus()
        }
    }
}
