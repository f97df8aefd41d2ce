import CGtk

/// A reference to a GtkWidget, with the API common to all widgets.
open class Widget: Object {
    public final var isVisible: Bool {
        get { gtk_widget_get_visible(cast()) != 0 }
        set { gtk_widget_set_visible(cast(), newValue ? 1 : 0) }
    }

    public final var isSensitive: Bool {
        get { gtk_widget_get_sensitive(cast()) != 0 }
        set { gtk_widget_set_sensitive(cast(), newValue ? 1 : 0) }
    }

    public final var width: Int { Int(gtk_widget_get_width(cast())) }
    public final var height: Int { Int(gtk_widget_get_height(cast())) }
    public final var isMapped: Bool { gtk_widget_get_mapped(cast()) != 0 }
    public final var hasFocus: Bool { gtk_widget_has_focus(cast()) != 0 }

    public final var tooltip: String? {
        get { gtk_widget_get_tooltip_text(cast()).map { String(cString: $0) } }
        set { gtk_widget_set_tooltip_text(cast(), newValue) }
    }

    /// Sets the accessible name.
    public final func setAccessibleLabel(_ label: String) { shim_accessible_label(pointer, label) }
    public final func setAccessibleDescription(_ text: String) { shim_accessible_description(pointer, text) }
    public final func setAccessiblePlaceholder(_ text: String) { shim_accessible_placeholder(pointer, text) }

    public final func setAccessiblySelected(_ isSelected: Bool) {
        shim_accessible_selected(pointer, isSelected ? 1 : 0)
    }
    /// Sets whether the popup list controlled by this widget is open.
    public final func setAccessiblyExpanded(_ isExpanded: Bool) {
        shim_accessible_expanded(pointer, isExpanded ? 1 : 0)
    }
    /// Marks the widget as one that offers completions in `list`.
    public final func setAccessibleCompletions(_ list: Widget) {
        shim_accessible_completes(pointer)
        shim_accessible_controls(pointer, list.pointer)
    }
    /// Sets the row that is logically focused while this widget keeps the keyboard focus. GTK 4.8 does not expose the
    /// relation over AT-SPI, so announce the selected row as well (``Announcer``).
    public final func setAccessibleActiveDescendant(_ row: Widget?) {
        shim_accessible_active_descendant(pointer, row?.pointer)
    }

    public final func addStyle(_ cssClass: String) { gtk_widget_add_css_class(cast(), cssClass) }
    public final func removeStyle(_ cssClass: String) { gtk_widget_remove_css_class(cast(), cssClass) }
    public final func hasStyle(_ cssClass: String) -> Bool { gtk_widget_has_css_class(cast(), cssClass) != 0 }
    public final func setStyle(_ cssClass: String, _ isOn: Bool) {
        if isOn { addStyle(cssClass) } else { removeStyle(cssClass) }
    }

    @discardableResult
    public final func grabFocus() -> Bool { gtk_widget_grab_focus(cast()) != 0 }

    /// Activates the named action, looked up from this widget upward.
    @discardableResult
    public final func activateAction(_ name: String, _ parameter: String? = nil) -> Bool {
        gtk_widget_activate_action_variant(cast(), name, parameter.map { g_variant_new_string($0) }) != 0
    }

    @discardableResult
    public final func activateAction(_ name: String, index: Int) -> Bool {
        gtk_widget_activate_action_variant(cast(), name, g_variant_new_uint32(guint32(index))) != 0
    }

    public final func insertActions(_ group: ActionGroup, prefix: String) {
        gtk_widget_insert_action_group(cast(), prefix, group.cast())
    }

    /// Adds the event controller; the widget owns it.
    public final func addController(_ controller: Object) {
        gtk_widget_add_controller(cast(), controller.retained())
    }

    /// The child widgets in order.
    public final var children: [Widget] {
        var result: [Widget] = []
        var next = gtk_widget_get_first_child(cast())
        while let child = next {
            result.append(Widget(borrowing: child))
            next = gtk_widget_get_next_sibling(child)
        }
        return result
    }

    /// Returns this widget's rectangle in `other`'s coordinates, or `nil` if they have no common ancestor.
    public final func bounds(in other: Widget) -> (x: Double, y: Double, width: Double, height: Double)? {
        var rectangle = graphene_rect_t()
        guard gtk_widget_compute_bounds(cast(), other.cast(), &rectangle) != 0 else { return nil }
        return (
            Double(rectangle.origin.x), Double(rectangle.origin.y), Double(rectangle.size.width),
            Double(rectangle.size.height)
        )
    }

    public final func queueAllocate() { gtk_widget_queue_allocate(cast()) }
    public final func queueResize() { gtk_widget_queue_resize(cast()) }

    /// Calls `tick` on every frame until it returns `false` or the widget is destroyed.
    public final func addTick(_ tick: @escaping @MainActor () -> Bool) {
        let box = Unmanaged.passRetained(ClosureBox(tick)).toOpaque()
        gtk_widget_add_tick_callback(
            cast(),
            { _, _, data in
                nonisolated(unsafe) let data = data
                return MainActor.assumeIsolated {
                    guard let data else { return gboolean(0) }
                    let box = Unmanaged<ClosureBox<@MainActor () -> Bool>>.fromOpaque(data).takeUnretainedValue()
                    return box.closure() ? 1 : 0
                }
            }, box,
            { data in
                if let data { Unmanaged<ClosureBox<@MainActor () -> Bool>>.fromOpaque(data).release() }
            })
    }
}
