import CGtk
import ChatViewModels
import ComposerGtk
import GtkKit

extension BodyText {
    /// Makes links, pills and spoilers respond to clicks and keys: Tab and the arrow keys move between them, Return and
    /// Space activate one.
    func addControllers() {
        addPointer()
        let keys = KeyController()
        keys.onPress { [weak self] key in
            self?.handleKey(key.key, key.modifiers) ?? false
        }
        widget.addController(keys)
        let focus = FocusController()
        focus.onEnter { [weak self] in self?.setCurrentAction(0) }
        focus.onLeave { [weak self] in self?.setCurrentAction(nil) }
        widget.addController(focus)
        widget.onTooltip { [weak self] x, y in
            self?.action(atX: x, y: y).flatMap { self?.actions[$0].explanation(.gettext) }
        }
    }

    private func addPointer() {
        let click = ClickGesture()
        click.onRelease { [weak self] event in
            guard let self, event.count == 1, selected?.isEmpty ?? true else { return }
            if let index = action(atX: event.x, y: event.y) { act(index) }
        }
        widget.addController(click)
        let motion = MotionController()
        motion.onMove { [weak self] event in
            guard let self else { return }
            setCursor(action(atX: event.x, y: event.y) != nil ? "pointer" : "text")
        }
        widget.addController(motion)
    }

    private func handleKey(_ key: Int32, _ modifiers: Modifiers) -> Bool {
        guard modifiers.isDisjoint(with: [.control, .alt]) else { return false }
        switch key {
        case GDK_KEY_Right, GDK_KEY_KP_Right: return move(by: 1)
        case GDK_KEY_Left, GDK_KEY_KP_Left: return move(by: -1)
        case GDK_KEY_Tab, GDK_KEY_KP_Tab: return move(by: modifiers.contains(.shift) ? -1 : 1)
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
        queueDraw()
    }

    /// The part of the text that an action covers.
    func words(of action: TextAction) -> String {
        let bytes = text.utf8
        guard let start = bytes.index(bytes.startIndex, offsetBy: action.range.lowerBound, limitedBy: bytes.endIndex),
            let end = bytes.index(start, offsetBy: action.range.count, limitedBy: bytes.endIndex)
        else { return "" }
        return String(text[start..<end])
    }

    /// The first line of an action, in the widget's coordinates.
    func bounds(of action: TextAction) -> Snapshot.Rectangle {
        var bounds =
            rectangles(of: action.range, in: madeLayout).first
            ?? Snapshot.Rectangle(x: 0, y: 0, width: 1, height: 1)
        bounds.x += textX
        return bounds
    }

    /// Performs an action; if it is under a spoiler, reveals that first.
    func act(_ index: Int) {
        guard actions.indices.contains(index) else { return }
        if let cover = actions.indices.first(where: {
            isCovered($0) && actions[$0].range.overlaps(actions[index].range)
        }) {
            revealed.insert(cover)
            onReveal?()
        } else if actions[index].isTarget {
            onAction?(actions[index])
        } else {
            revealed.remove(index)
            onReveal?()
        }
    }
}
