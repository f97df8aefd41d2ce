public import CGtk

// For widget classes that lay out rows themselves. Comparisons use pointers, because properties would create
// wrappers for every row in every frame.

extension WidgetProtocol {
    /// Whether the child has the focus or contains it, or last did.
    public func hasFocusChild(_ child: Widget) -> Bool { gtk_widget_get_focus_child(gtk) == child.gtk }

    /// Whether the widget comes right after `sibling`, or is the first child if that is `nil`.
    public func isNext(after sibling: Widget?) -> Bool { gtk_widget_get_prev_sibling(gtk) == sibling?.gtk }

    /// Returns the indexes of some children among all children.
    public func positions(of children: [Widget]) -> [Int] {
        var positions: [UnsafeMutablePointer<GtkWidget>: Int] = [:]
        var next = gtk_widget_get_first_child(gtk)
        while let child = next {
            positions[child] = positions.count
            next = gtk_widget_get_next_sibling(child)
        }
        return children.compactMap { positions[$0.gtk] }
    }

    /// The scrolled window around the widget.
    public var scrolledWindow: ScrolledWindow? { ancestor(gtk_scrolled_window_get_type(), as: ScrolledWindow.self) }
}

extension Widget {
    /// Sets the role of a widget that has not been shown, unless its class or creator chose one.
    public final func setDefaultRole(_ role: GtkAccessibleRole) { shim_default_role(pointer, role) }
}

extension WidgetInstance {
    /// A new strong reference to the widget. Storing it in a part of the implementation would create a reference cycle.
    public var widget: Widget { Widget(borrowing: pointer) }
}

extension FocusDirection {
    public init(_ direction: GtkDirectionType) {
        self =
            switch direction {
            case GTK_DIR_TAB_BACKWARD: .backward
            case GTK_DIR_UP: .up
            case GTK_DIR_DOWN: .down
            case GTK_DIR_LEFT: .left
            case GTK_DIR_RIGHT: .right
            default: .forward
            }
    }
}
