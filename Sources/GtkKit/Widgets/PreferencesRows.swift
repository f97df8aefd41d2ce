public import CGtk

/// A row with a title, in a list or a ``PreferencesGroup``.
public class PreferencesRow: ListBoxRow {
    /// Sets the title, in plain text.
    public final func setTitle(_ title: String) { adw_preferences_row_set_title(cast(), Markup.escaped(title)) }
}

/// A row with a title, a subtitle, and widgets before and after them.
public class ActionRow: PreferencesRow {
    /// - Parameter title: Plain text.
    public convenience init(_ title: String) {
        self.init(sinking: adw_action_row_new())
        setTitle(title)
    }

    /// Creates a row that assistive technology presents as something other than an item of the list.
    public convenience init(role: GtkAccessibleRole) {
        self.init(sinking: shim_object_new_with_role(adw_action_row_get_type(), role))
    }

    /// Sets the subtitle, in plain text.
    public final func setSubtitle(_ subtitle: String) { adw_action_row_set_subtitle(cast(), Markup.escaped(subtitle)) }

    /// Limits the title and the subtitle to one line each.
    public final func limitToOneLineEach() {
        adw_action_row_set_title_lines(cast(), 1)
        adw_action_row_set_subtitle_lines(cast(), 1)
    }

    /// Makes a click on the row activate a widget in it.
    public final func setActivatableWidget(_ widget: Widget) {
        adw_action_row_set_activatable_widget(cast(), widget.cast())
    }

    public final func addPrefix(_ widget: Widget) { adw_action_row_add_prefix(cast(), widget.cast()) }
    public final func addSuffix(_ widget: Widget) { adw_action_row_add_suffix(cast(), widget.cast()) }

    public final func onActivated(_ handler: @escaping @MainActor () -> Void) {
        connect("activated") { _ in handler() }
    }
}

/// A row in which the user chooses an item from a list.
public final class ComboRow: ActionRow {
    public var selectedIndex: Int {
        get { Int(adw_combo_row_get_selected(cast())) }
        set { adw_combo_row_set_selected(cast(), guint(newValue)) }
    }

    /// Calls `handler` with the index of the newly selected item.
    public func onSelectionChange(_ handler: @escaping @MainActor (Int) -> Void) {
        connect("notify::selected") { arguments in
            guard let row = arguments.emitter else { return }
            handler(Int(adw_combo_row_get_selected(row.assumingMemoryBound(to: AdwComboRow.self))))
        }
    }
}

/// A row with a text field.
public final class EntryRow: PreferencesRow, Editable {
    /// - Parameter title: Plain text.
    public convenience init(_ title: String) {
        self.init(sinking: adw_entry_row_new())
        setTitle(title)
    }

    /// Whether a button and Return apply a changed text.
    public var showsApplyButton: Bool {
        get { adw_entry_row_get_show_apply_button(cast()) != 0 }
        set { adw_entry_row_set_show_apply_button(cast(), newValue ? 1 : 0) }
    }

    public func onApply(_ handler: @escaping @MainActor () -> Void) { connect("apply") { _ in handler() } }
    /// Calls `handler` on Return.
    public func onEntryActivated(_ handler: @escaping @MainActor () -> Void) {
        connect("entry-activated") { _ in handler() }
    }

    /// Gives the buttons in the row, which apply or reveal the text, their tooltips as accessible labels: libadwaita
    /// leaves them without a name.
    public func labelButtons() {
        for button in Self.buttons(below: self) {
            button.labelByTooltip()
            // The tooltip says what the button does next.
            button.connect("notify::tooltip-text") { arguments in
                if let button = arguments.emitter { Widget(borrowing: button).labelByTooltip() }
            }
        }
    }

    private static func buttons(below widget: Widget) -> [Widget] {
        widget.children.flatMap { $0.isInstance(of: gtk_button_get_type()) ? [$0] : buttons(below: $0) }
    }
}

extension Widget {
    fileprivate func labelByTooltip() {
        if let tooltip { setAccessibleLabel(tooltip) }
    }
}

/// Rows under a title.
public final class PreferencesGroup: Widget {
    /// - Parameter title: Plain text.
    public convenience init(title: String) {
        self.init(sinking: adw_preferences_group_new())
        setTitle(title)
    }

    /// Sets the title, in plain text.
    public func setTitle(_ title: String) { adw_preferences_group_set_title(cast(), Markup.escaped(title)) }
    /// Sets the text below the title, in plain text.
    public func setDescription(_ text: String) {
        adw_preferences_group_set_description(cast(), Markup.escaped(text))
    }
    public func add(_ row: Widget) { adw_preferences_group_add(cast(), row.cast()) }
    public func remove(_ row: Widget) { adw_preferences_group_remove(cast(), row.cast()) }
}

/// A button that is on or off; of several in a group, one is on.
public final class CheckButton: Widget {
    public convenience init(_ label: String) {
        self.init(sinking: gtk_check_button_new_with_label(label))
    }

    /// Lets the label wrap, for which GTK has no property. A child in place of the label would lack the style, and the
    /// button its accessible name.
    public func wrapLabel() {
        for label in children.compactMap({ $0.wrapped(as: Label.self, gtk_label_get_type()) }) {
            label.wrap = true
            label.setWrapMode(.wordOrCharacter)
        }
    }

    public var isActive: Bool {
        get { gtk_check_button_get_active(cast()) != 0 }
        set { gtk_check_button_set_active(cast(), newValue ? 1 : 0) }
    }

    /// Calls `handler` with the button's new state.
    public func onToggle(_ handler: @escaping @MainActor (Bool) -> Void) {
        connect("toggled") { arguments in
            guard let emitter = arguments.emitter else { return }
            handler(gtk_check_button_get_active(emitter.assumingMemoryBound(to: GtkCheckButton.self)) != 0)
        }
    }

    /// Adds the button to the group of `other`.
    public func join(_ other: CheckButton) { gtk_check_button_set_group(cast(), other.cast()) }
}

/// A page of preferences, with rows in groups.
public final class PreferencesPage: Widget {
    public func add(_ group: PreferencesGroup) { adw_preferences_page_add(cast(), group.cast()) }
}

/// Named pages, one of which is displayed.
public final class ViewStack: Widget {
    public func showPage(_ name: String) { adw_view_stack_set_visible_child_name(cast(), name) }

    /// Returns the title and the icon of a page, or `nil` if there is none of this name.
    public func page(_ name: String) -> (title: String, icon: String?)? {
        guard let child = adw_view_stack_get_child_by_name(cast(), name),
            let page = adw_view_stack_get_page(cast(), child)
        else { return nil }
        let title = adw_view_stack_page_get_title(page).map { String(cString: $0) }
        return (title ?? "", adw_view_stack_page_get_icon_name(page).map { String(cString: $0) })
    }
}

/// A switch that is on or off.
public final class Switch: Widget {
    public convenience init() { self.init(sinking: gtk_switch_new()) }

    public var isActive: Bool {
        get { gtk_switch_get_active(cast()) != 0 }
        set { gtk_switch_set_active(cast(), newValue ? 1 : 0) }
    }

    /// Calls `handler` with the switch's new state.
    public func onChange(_ handler: @escaping @MainActor (Bool) -> Void) {
        connect("notify::active") { arguments in
            guard let emitter = arguments.emitter else { return }
            handler(gtk_switch_get_active(OpaquePointer(emitter)) != 0)
        }
    }
}
