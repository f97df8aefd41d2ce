import CGtk

/// A GtkListView over the numbers from 0: only rows in view exist, and each is told which number it shows.
///
/// It has no selection and takes no focus: whoever shows it marks rows and moves through them.
public final class IndexedList {
    public let widget: Widget
    private let model: Object
    private let bind: @MainActor (Widget, Int) -> Void
    /// The rows that show something, by their list items.
    private var bound: [UnsafeMutableRawPointer: (row: Widget, index: Int)] = [:]

    /// - Parameters:
    ///   - make: a new row.
    ///   - bind: shows what belongs to the number in the row, which may have shown another.
    public init(make: @escaping @MainActor () -> Widget, bind: @escaping @MainActor (Widget, Int) -> Void) {
        self.bind = bind
        model = Object(owning: UnsafeMutableRawPointer(gtk_string_list_new(nil)))
        let factory = Object(owning: UnsafeMutableRawPointer(gtk_signal_list_item_factory_new()))
        let selection = Object(owning: UnsafeMutableRawPointer(gtk_no_selection_new(model.retained())))
        widget = Widget(sinking: gtk_list_view_new(nil, nil))
        factory.connect("setup") { arguments in
            guard let item = arguments.object(0) else { return }
            let row = make()
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
        gtk_list_view_set_model(widget.cast(), selection.cast())
        gtk_list_view_set_factory(widget.cast(), factory.cast())
        gtk_widget_set_can_focus(widget.cast(), 0)
    }

    /// How many rows there are.
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

    /// Shows the rows in view again, whatever of them has changed.
    public func refresh() {
        for (row, index) in bound.values where index < count { bind(row, index) }
    }

    /// The row of a number, nil if it is not in view.
    public func row(at index: Int) -> Widget? { bound.values.first { $0.index == index }?.row }

    /// The list item around a row: it is what assistive technology takes for the row, so names and states belong there. On
    /// GTK 4.8 it has none of its own (`GtkListItem:accessible-label` is of 4.12).
    public static func item(of row: Widget) -> Widget {
        gtk_widget_get_parent(row.cast()).map { Widget(borrowing: $0) } ?? row
    }

    /// Scrolls as little as needed for a row to be in view.
    public func scroll(to index: Int) {
        guard (0..<count).contains(index) else { return }
        _ = gtk_widget_activate_action_variant(
            widget.cast(), "list.scroll-to-item", g_variant_new_uint32(guint32(index)))
    }
}
