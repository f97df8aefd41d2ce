import CGtk

/// A vertical list of rows.
public final class ListBox: Widget {
    public convenience init() {
        self.init(sinking: gtk_list_box_new())
    }

    /// Makes the rows unselectable; they can still be activated.
    public func disableSelection() { gtk_list_box_set_selection_mode(cast(), GTK_SELECTION_NONE) }

    /// - Parameter row: A ``ListBoxRow``; any other widget is wrapped in one.
    public func append(_ row: Widget) { gtk_list_box_append(cast(), row.cast()) }
    public func remove(_ row: Widget) { gtk_list_box_remove(cast(), row.cast()) }
    public func removeAll() {
        while let row = gtk_list_box_get_row_at_index(cast(), 0) {
            gtk_list_box_remove(cast(), UnsafeMutablePointer<GtkWidget>(OpaquePointer(row)))
        }
    }

    /// Selects the row at an index.
    public func select(_ index: Int) {
        gtk_list_box_select_row(cast(), gtk_list_box_get_row_at_index(cast(), gint(index)))
    }

    /// Calls `handler` with the index of the row that the user activates.
    public func onRowActivated(_ handler: @escaping @MainActor (Int) -> Void) {
        connect("row-activated") { arguments in
            guard let row = arguments.object(0) else { return }
            handler(Int(gtk_list_box_row_get_index(row.assumingMemoryBound(to: GtkListBoxRow.self))))
        }
    }
}

/// A row of a ``ListBox``.
public class ListBoxRow: Widget {
    public convenience init(_ child: Widget) {
        self.init(sinking: gtk_list_box_row_new())
        gtk_list_box_row_set_child(cast(), child.cast())
    }

    public final var isActivatable: Bool {
        get { gtk_list_box_row_get_activatable(cast()) != 0 }
        set { gtk_list_box_row_set_activatable(cast(), newValue ? 1 : 0) }
    }
}

/// Children in lines, each with as many as fit.
public final class FlowBox: Widget {
    public func append(_ child: Widget) { gtk_flow_box_insert(cast(), child.cast(), -1) }
    public func remove(_ child: Widget) { gtk_flow_box_remove(cast(), child.cast()) }
}

/// A child of a ``FlowBox``.
public final class FlowBoxChild: Widget {
    public convenience init(_ child: Widget) {
        self.init(sinking: gtk_flow_box_child_new())
        gtk_flow_box_child_set_child(cast(), child.cast())
    }
}

/// Children in rows and columns.
public final class Grid: Widget {
    public convenience init() {
        self.init(sinking: gtk_grid_new())
    }

    public func attach(_ child: Widget, column: Int, row: Int) {
        gtk_grid_attach(cast(), child.cast(), gint(column), gint(row), 1, 1)
    }
}

/// Calls a closure when the children of a widget change, for as long as the observer exists.
public final class ChildObserver {
    private let children: Object

    public init(_ widget: Widget, _ handler: @escaping @MainActor () -> Void) {
        children = Object(owning: UnsafeMutableRawPointer(gtk_widget_observe_children(widget.cast())))
        children.connect("items-changed") { _ in handler() }
    }
}
