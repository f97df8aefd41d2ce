import CGtk

/// A GtkListView over integer indices: only visible rows exist, and each is bound to its index.
///
/// It has no selection and no keyboard focus; the caller highlights rows and navigates between them.
public final class IndexedList {
    public let widget: Widget
    private let model: Object
    private let bind: @MainActor (Widget, Int) -> Void
    /// The bound rows by list item.
    private var bound: [UnsafeMutableRawPointer: (row: Widget, index: Int)] = [:]
    /// All rows by list item.
    private var made: [UnsafeMutableRawPointer: Widget] = [:]

    /// - Parameters:
    ///   - make: Creates an empty row.
    ///   - bind: Fills a possibly recycled row for the index.
    ///   - teardown: Called when the row is dropped, as rows are when ``count`` changes. Whoever retains what belongs
    ///     to a row releases it there.
    public init(
        make: @escaping @MainActor () -> Widget, bind: @escaping @MainActor (Widget, Int) -> Void,
        teardown: @escaping @MainActor (Widget) -> Void = { _ in }
    ) {
        self.bind = bind
        model = Object(owning: UnsafeMutableRawPointer(gtk_string_list_new(nil)))
        let factory = Object(owning: UnsafeMutableRawPointer(gtk_signal_list_item_factory_new()))
        let selection = Object(owning: UnsafeMutableRawPointer(gtk_no_selection_new(model.retained())))
        widget = Widget(sinking: gtk_list_view_new(nil, nil))
        factory.connect("setup") { [weak self] arguments in
            guard let item = arguments.object(0) else { return }
            let row = make()
            self?.made[item] = row
            gtk_list_item_set_child(OpaquePointer(item), row.cast())
            gtk_list_item_set_activatable(OpaquePointer(item), 0)
            gtk_list_item_set_selectable(OpaquePointer(item), 0)
        }
        factory.connect("bind") { [weak self] arguments in
            guard let item = arguments.object(0), let child = gtk_list_item_get_child(OpaquePointer(item)) else {
                return
            }
            let index = Int(gtk_list_item_get_position(OpaquePointer(item)))
            let row = Widget(borrowing: child)
            self?.bound[item] = (row, index)
            self?.bind(row, index)
        }
        factory.connect("unbind") { [weak self] arguments in
            if let item = arguments.object(0) { self?.bound[item] = nil }
        }
        // The list item has no child any more.
        factory.connect("teardown") { [weak self] arguments in
            if let item = arguments.object(0), let row = self?.made.removeValue(forKey: item) { teardown(row) }
        }
        gtk_list_view_set_model(widget.cast(), selection.cast())
        gtk_list_view_set_factory(widget.cast(), factory.cast())
        gtk_widget_set_can_focus(widget.cast(), 0)
    }

    /// The number of rows.
    public var count = 0 {
        didSet {
            if count < oldValue {
                gtk_string_list_splice(model.cast(), guint(count), guint(oldValue - count), nil)
            } else if count > oldValue {
                "".withCString { empty in
                    var additions = [UnsafePointer<CChar>?](repeating: empty, count: count - oldValue) + [nil]
                    gtk_string_list_splice(model.cast(), guint(oldValue), 0, &additions)
                }
            }
        }
    }

    /// Rebinds all realized rows.
    public func refresh() {
        for (row, index) in bound.values where index < count { bind(row, index) }
    }

    /// Returns the row at an index, or `nil` if it is not realized.
    public func row(at index: Int) -> Widget? { bound.values.first { $0.index == index }?.row }

    /// Returns the list item widget around a row. Assistive technology exposes it as the row, so set accessible names
    /// and states on it: `GtkListItem:accessible-label` exists only from GTK 4.12.
    public static func item(of row: Widget) -> Widget {
        gtk_widget_get_parent(row.cast()).map { Widget(borrowing: $0) } ?? row
    }

    /// Scrolls by the minimal distance that makes the row visible.
    public func scroll(to index: Int) {
        guard (0..<count).contains(index) else { return }
        _ = gtk_widget_activate_action_variant(
            widget.cast(), "list.scroll-to-item", g_variant_new_uint32(guint32(index)))
    }
}
