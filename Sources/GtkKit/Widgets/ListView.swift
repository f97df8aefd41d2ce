import CGtk

/// A GtkListView over a ``KeyListModel`` with single selection; closures create and bind the rows.
public final class ListView: Widget {
    public convenience init() {
        self.init(sinking: gtk_list_view_new(nil, nil))
    }

    /// Sets the model and the row factory. Rows are recycled: `bind` can receive a row that showed another key before.
    /// - Parameters:
    ///   - make: Creates an empty row.
    ///   - bind: Fills the row for the key.
    ///   - unbind: Called before the row is recycled or dropped.
    ///   - teardown: Called when the row is dropped, as each row is whose key is removed or moves. Whoever retains what
    ///     belongs to a row releases it there.
    ///   - isSelectable: Whether the row of a key accepts clicks. Keyboard navigation ignores this, so the caller must
    ///     reset the selection of rows that are not selectable.
    public func setUp(
        _ model: KeyListModel, make: @escaping @MainActor () -> Widget,
        bind: @escaping @MainActor (Widget, String) -> Void, unbind: @escaping @MainActor (Widget, String) -> Void,
        teardown: @escaping @MainActor (Widget) -> Void = { _ in },
        isSelectable: @escaping @MainActor (String) -> Bool = { _ in true }
    ) {
        let factory = Object(owning: UnsafeMutableRawPointer(gtk_signal_list_item_factory_new()))
        let made = MadeRows()
        factory.connect("setup") { arguments in
            guard let item = arguments.object(0) else { return }
            let row = make()
            made.rows[item] = row
            gtk_list_item_set_child(OpaquePointer(item), row.cast())
        }
        factory.connect("bind") { arguments in
            Self.withRow(arguments.object(0)) { row, key in
                guard let item = arguments.object(0) else { return }
                let acceptsClicks: gboolean = isSelectable(key) ? 1 : 0
                gtk_list_item_set_selectable(OpaquePointer(item), acceptsClicks)
                gtk_list_item_set_activatable(OpaquePointer(item), acceptsClicks)
                bind(row, key)
            }
        }
        factory.connect("unbind") { arguments in
            Self.withRow(arguments.object(0), unbind)
        }
        // The list item has neither a child nor a key any more.
        factory.connect("teardown") { arguments in
            guard let item = arguments.object(0), let row = made.rows.removeValue(forKey: item) else { return }
            teardown(row)
        }
        let selection = Object(owning: UnsafeMutableRawPointer(gtk_single_selection_new(model.retained())))
        gtk_single_selection_set_autoselect(selection.cast(), 0)
        gtk_single_selection_set_can_unselect(selection.cast(), 1)
        gtk_list_view_set_model(cast(), selection.cast())
        gtk_list_view_set_factory(cast(), factory.cast())
    }

    /// The rows by their list items.
    private final class MadeRows {
        var rows: [UnsafeMutableRawPointer: Widget] = [:]
    }

    public var selectedIndex: Int? {
        get {
            guard let selection = gtk_list_view_get_model(cast()) else { return nil }
            let index = gtk_single_selection_get_selected(selection)
            return index == GTK_INVALID_LIST_POSITION ? nil : Int(index)
        }
        set {
            guard let selection = gtk_list_view_get_model(cast()) else { return }
            gtk_single_selection_set_selected(selection, newValue.map { guint($0) } ?? GTK_INVALID_LIST_POSITION)
        }
    }

    /// Calls `handler` with the index of the row that the user activates.
    public func onActivate(_ handler: @escaping @MainActor (Int) -> Void) {
        connect("activate") { handler(Int($0.uint(0))) }
    }

    /// Calls `handler` when the user or the program changes the selected row.
    @discardableResult
    public func onSelectionChange(_ handler: @escaping @MainActor () -> Void) -> SignalConnection? {
        guard let selection = gtk_list_view_get_model(cast()) else { return nil }
        return Object(borrowing: UnsafeMutableRawPointer(selection)).connect("notify::selected") { _ in handler() }
    }

    private static func withRow(_ item: UnsafeMutableRawPointer?, _ body: (Widget, String) -> Void) {
        guard let item, let child = gtk_list_item_get_child(OpaquePointer(item)),
            let object = gtk_list_item_get_item(OpaquePointer(item)),
            let text = gtk_string_object_get_string(OpaquePointer(object))
        else { return }
        body(Widget(borrowing: child), String(cString: text))
    }
}
