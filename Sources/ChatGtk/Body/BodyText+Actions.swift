import CGtk
import ChatViewModels
import ComposerGtk
import GtkKit

extension BodyText {
    /// Makes links, pills and spoilers respond to clicks and keys: Tab and the arrow keys move between them, Return and
    /// Space activate one.
    func addControllers() {
        addPointer()
        let keys = Object(owning: UnsafeMutableRawPointer(gtk_event_controller_key_new()))
        keys.intercept("key-pressed") { [weak self] arguments in
            self?.handleKey(Int32(bitPattern: arguments.uint(0)), GdkModifierType(arguments.flags(2))) ?? false
        }
        widget.addController(keys)
        let focus = Object(owning: UnsafeMutableRawPointer(gtk_event_controller_focus_new()))
        focus.connect("enter") { [weak self] _ in self?.setCurrentAction(0) }
        focus.connect("leave") { [weak self] _ in self?.setCurrentAction(nil) }
        widget.addController(focus)
        gtk_widget_set_has_tooltip(cast(), 1)
        widget.intercept("query-tooltip") { [weak self] arguments in
            guard let self, arguments.bool(2) == false, let tooltip = arguments.object(3),
                let index = action(atX: Double(arguments.int(0)), y: Double(arguments.int(1)))
            else { return false }
            gtk_tooltip_set_text(OpaquePointer(tooltip), actions[index].explanation(.gettext))
            return true
        }
    }

    private func addPointer() {
        let click = Object(owning: UnsafeMutableRawPointer(gtk_gesture_click_new()))
        click.connect("released") { [weak self] arguments in
            guard let self, arguments.int(0) == 1, selected?.isEmpty ?? true else { return }
            if let index = action(atX: arguments.double(1), y: arguments.double(2)) { act(index) }
        }
        widget.addController(click)
        let motion = Object(owning: UnsafeMutableRawPointer(gtk_event_controller_motion_new()))
        motion.connect("motion") { [weak self] arguments in
            guard let self else { return }
            let isOver = action(atX: arguments.double(0), y: arguments.double(1)) != nil
            gtk_widget_set_cursor_from_name(cast(), isOver ? "pointer" : "text")
        }
        widget.addController(motion)
    }

    private func handleKey(_ key: Int32, _ modifiers: GdkModifierType) -> Bool {
        let isShifted = modifiers.rawValue & GDK_SHIFT_MASK.rawValue != 0
        guard modifiers.rawValue & (GDK_CONTROL_MASK.rawValue | GDK_ALT_MASK.rawValue) == 0 else { return false }
        switch key {
        case GDK_KEY_Right, GDK_KEY_KP_Right: return move(by: 1)
        case GDK_KEY_Left, GDK_KEY_KP_Left: return move(by: -1)
        case GDK_KEY_Tab, GDK_KEY_KP_Tab: return move(by: isShifted ? -1 : 1)
        case GDK_KEY_ISO_Left_Tab: return move(by: -1)
        case GDK_KEY_Return, GDK_KEY_KP_Enter, GDK_KEY_ISO_Enter, GDK_KEY_space:
            guard let currentAction else { return false }
            act(currentAction)
            return true
        default: return false
        }
    }

    /// - Returns: `false` past the first or last action, so that the focus moves on.
    private func move(by step: Int) -> Bool {
        let next = (currentAction ?? -1) + step
        guard actions.indices.contains(next) else { return false }
        setCurrentAction(next)
        return true
    }

    private func setCurrentAction(_ index: Int?) {
        currentAction = index.flatMap { actions.indices.contains($0) ? $0 : nil }
        if let currentAction { widget.setAccessibleLabel(actions[currentAction].accessibleText(in: text, .gettext)) }
        gtk_widget_queue_draw(cast())
    }

    /// Performs an action; if it is under a spoiler, reveals that first.
    func act(_ index: Int) {
        guard actions.indices.contains(index) else { return }
        if let cover = actions.indices.first(where: {
            isCovered($0) && actions[$0].range.overlaps(actions[index].range)
        }) {
            revealed.insert(cover)
            gtk_widget_queue_draw(cast())
        } else if actions[index].isTarget {
            onAction?(actions[index])
        } else {
            revealed.remove(index)
            gtk_widget_queue_draw(cast())
        }
    }
}
