import CGtk

extension Widget {
    /// Shows a popover beside another widget, which it becomes a child of.
    ///
    /// Never beside a GtkStack: to assistive technology each child of a stack is the page that it stands on, and for a
    /// child without a page GTK 4.8 follows a null pointer as soon as the popover closes.
    public final func attachPopover(to parent: Widget) {
        PopoverGrabs.installUnmapHook
        precondition(shim_is_a(parent.pointer, gtk_stack_get_type()) == 0, "a popover is no page of a stack")
        gtk_widget_set_parent(cast(), parent.cast())
    }
}

/// Sees to it that no popover holds the pointer without being seen.
///
/// GTK 4.8 takes a grab when a popover is shown, and gives it back when it is hidden. One that goes with what is around
/// it, a page that is left or a window that closes, is unmapped and not hidden: no click reaches any widget from then on,
/// until another popover is opened and closed.
enum PopoverGrabs {
    /// Once a process.
    static let installUnmapHook: Void = {
        // The signal is there when the class is.
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

/// A popover that shows something beside what the user goes on doing: it takes neither the focus nor a grab, and
/// closes by code alone.
public final class CompanionPopover: Widget {
    public convenience init(parent: Widget) {
        self.init(sinking: gtk_popover_new())
        attachPopover(to: parent)
        gtk_popover_set_autohide(cast(), 0)
        gtk_popover_set_has_arrow(cast(), 0)
        gtk_popover_set_position(cast(), GTK_POS_TOP)
        gtk_widget_set_halign(cast(), GTK_ALIGN_START)
        gtk_widget_set_can_focus(cast(), 0)
    }

    public func setChild(_ child: Widget?) { gtk_popover_set_child(cast(), child?.cast()) }

    /// Where it points to, in the parent's coordinates.
    public func point(x: Double, y: Double, width: Double, height: Double) {
        var rectangle = GdkRectangle(
            x: Int32(x), y: Int32(y), width: Int32(max(1, width)), height: Int32(max(1, height)))
        gtk_popover_set_pointing_to(cast(), &rectangle)
    }

    public var isOpen: Bool {
        get { isVisible }
        set {
            guard newValue != isOpen else { return }
            if newValue { gtk_popover_popup(cast()) } else { gtk_popover_popdown(cast()) }
        }
    }
}

/// What had the focus when a popover opened. GTK gives it to the first button of the window when one closes.
public final class FocusRestorer {
    private var widget: Widget?

    public init() {}

    /// Keeps what has the focus in the window that the widget is in.
    public func save(around widget: Widget) {
        self.widget = gtk_widget_get_root(widget.cast()).flatMap { gtk_root_get_focus($0) }.map {
            Widget(borrowing: $0)
        }
    }

    /// Gives it back, once.
    public func restore() {
        // It may have gone meanwhile.
        if let widget, gtk_widget_get_root(widget.cast()) != nil { widget.grabFocus() }
        widget = nil
    }
}
