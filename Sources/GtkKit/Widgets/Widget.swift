public import CGtk

/// A reference to a GtkWidget. The API common to all widgets is in ``WidgetProtocol``.
open class Widget: Object, WidgetProtocol {
    /// Creates a widget of a class without a wrapper.
    public convenience init(_ type: GType, role: GtkAccessibleRole) {
        self.init(sinking: shim_object_new_with_role(type, role))
    }

    /// Sets the accessible name.
    public final func setAccessibleLabel(_ label: String) { shim_accessible_label(pointer, label) }
    public final func setAccessibleDescription(_ text: String) { shim_accessible_description(pointer, text) }
    public final func setAccessiblePlaceholder(_ text: String) { shim_accessible_placeholder(pointer, text) }

    public final func setAccessiblySelected(_ isSelected: Bool) {
        shim_accessible_selected(pointer, isSelected ? 1 : 0)
    }
    /// Sets whether what this widget expands, such as the popup list that it controls, is visible; `nil` if there is
    /// nothing to expand.
    public final func setAccessiblyExpanded(_ isExpanded: Bool?) {
        if let isExpanded {
            shim_accessible_expanded(pointer, isExpanded ? 1 : 0)
        } else {
            shim_accessible_unexpandable(pointer)
        }
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

    /// Hides the widget from assistive technology.
    public final func hideFromAccessibility() { shim_accessible_hidden(pointer) }

    /// The widget that a C function returned, or `nil`.
    convenience init?(of pointer: UnsafeMutablePointer<GtkWidget>?) {
        guard let pointer else { return nil }
        self.init(borrowing: UnsafeMutableRawPointer(pointer))
    }

    /// Calls `action` once the next frame is drawn: at the beginning of the one after it.
    public final func afterNextFrame(_ action: @escaping @MainActor () -> Void) {
        var frames = 0
        addTick {
            frames += 1
            if frames == 2 { action() }
            return frames < 2
        }
    }

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
