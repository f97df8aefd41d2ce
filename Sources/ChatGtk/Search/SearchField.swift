import CGtk
import GtkKit

/// A search entry that reports each change immediately, without GtkSearchEntry's delay.
final class SearchField {
    let widget = Entry(sinking: gtk_search_entry_new())
    var onType: ((String) -> Void)?
    /// Called on Return and Shift+Return.
    var onReturn: ((_ isShifted: Bool) -> Void)?
    var onDown: (() -> Void)?
    var onEscape: (() -> Void)?

    init(label: String) {
        gtk_widget_set_hexpand(widget.cast(), 1)
        widget.setProperty("placeholder-text", label)
        widget.setAccessibleLabel(label)
        widget.onChange { [weak self] in
            guard let self else { return }
            self.onType?(self.widget.text)
        }
        let keys = Object(owning: UnsafeMutableRawPointer(gtk_event_controller_key_new()))
        gtk_event_controller_set_propagation_phase(keys.cast(), GTK_PHASE_CAPTURE)
        keys.intercept("key-pressed") { [weak self] arguments in
            guard let self else { return false }
            return self.handle(Int32(bitPattern: arguments.uint(0)), arguments.flags(2))
        }
        widget.addController(keys)
    }

    private func handle(_ key: Int32, _ flags: UInt32) -> Bool {
        guard flags & (GDK_CONTROL_MASK.rawValue | GDK_ALT_MASK.rawValue) == 0 else { return false }
        switch key {
        case GDK_KEY_Return, GDK_KEY_KP_Enter, GDK_KEY_ISO_Enter: onReturn?(flags & GDK_SHIFT_MASK.rawValue != 0)
        case GDK_KEY_Escape: onEscape?()
        case GDK_KEY_Down where onDown != nil, GDK_KEY_KP_Down where onDown != nil: onDown?()
        default: return false
        }
        return true
    }

    /// Shows the current search text. Pass the view model's current text, not a rendered state: an older one would
    /// revert later keystrokes.
    func show(_ current: String) {
        if widget.text != current { widget.text = current }
    }

    /// Focuses the field and selects its text, so that typing replaces it.
    func grabFocus() {
        widget.grabFocus()
        gtk_editable_select_region(widget.cast(), 0, -1)
    }

    var hasFocus: Bool {
        guard let root = gtk_widget_get_root(widget.cast()), let focus = gtk_root_get_focus(root) else { return false }
        return gtk_widget_is_ancestor(focus, widget.cast()) != 0
    }
}
