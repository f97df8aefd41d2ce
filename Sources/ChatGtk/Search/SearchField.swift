import CGtk
import GtkKit

/// A search entry that reports each change immediately, without GtkSearchEntry's delay.
final class SearchField {
    let widget = SearchEntry()
    var onType: ((String) -> Void)?
    /// Called on Return and Shift+Return.
    var onReturn: ((_ isShifted: Bool) -> Void)?
    var onDown: (() -> Void)?
    var onEscape: (() -> Void)?
    /// Whether the text changes because it is shown, not because the user types it.
    private var isShowing = false

    init(label: String) {
        widget.hexpand = true
        widget.setPlaceholder(label)
        widget.setAccessibleLabel(label)
        widget.onChange { [weak self] in
            guard let self, !self.isShowing else { return }
            self.onType?(self.widget.text)
        }
        let keys = KeyController(.capture)
        keys.onPress { [weak self] key in
            guard let self else { return false }
            return self.handle(key)
        }
        widget.addController(keys)
    }

    private func handle(_ key: KeyPress) -> Bool {
        guard key.modifiers.isDisjoint(with: [.control, .alt]) else { return false }
        switch key.key {
        case GDK_KEY_Return, GDK_KEY_KP_Enter, GDK_KEY_ISO_Enter: onReturn?(key.modifiers.contains(.shift))
        case GDK_KEY_Escape: onEscape?()
        case GDK_KEY_Down where onDown != nil, GDK_KEY_KP_Down where onDown != nil: onDown?()
        default: return false
        }
        return true
    }

    /// Shows the current search text. Pass the view model's current text, not a rendered state: an older one would
    /// revert later keystrokes.
    func show(_ current: String) {
        guard widget.text != current else { return }
        isShowing = true
        widget.text = current
        isShowing = false
    }

    /// Focuses the field and selects its text, so that typing replaces it.
    func grabFocus() {
        widget.grabFocus()
        widget.selectAll()
    }

    var hasFocus: Bool {
        guard let focus = widget.root?.focus else { return false }
        return widget.isAncestor(of: focus)
    }
}
