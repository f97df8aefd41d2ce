import GtkKit

/// A drop target for files that highlights itself during a drag.
final class FileDropArea {
    /// Retains the controller instead of the area: a bar that retained its own widget would never be freed.
    ///
    /// In the capture phase, before the text view, which would insert a file's path as text.
    private let target = AsyncDropTarget(.copy, phase: .capture)
    /// Empty until the first drag: a room is opened more often than files are dragged over it.
    private let hint = Revealer(.crossfade)
    private var hasHint: Bool
    private let accepts: ([String]) -> Bool

    /// - Parameters:
    ///   - overlay: The overlay for the hint, or `nil` for areas too small for text.
    ///   - accepts: Whether a drag with these MIME types is accepted.
    ///   - onDrop: Handles a drop. Must call `finishDrop(isAccepted:)`.
    init(
        _ area: Widget, overlay: Overlay?, accepts: @escaping ([String]) -> Bool,
        onDrop: @escaping @MainActor (ContentOffer) -> Void
    ) {
        self.accepts = accepts
        hasHint = overlay == nil
        hint.canTarget = false
        overlay?.addOverlay(hint)
        target.onAccept { [weak self] content in self?.accepts(content.types) ?? false }
        target.onEnter { [weak self] in
            self?.show(true)
            return .copy
        }
        target.onLeave { [weak self] in self?.show(false) }
        target.onDrop { [weak self] content, _ in
            self?.show(false)
            onDrop(content)
        }
        area.addController(target)
    }

    /// Whether the area is there still: GTK removes the drop target with it.
    var isAttached: Bool { target.widget != nil }

    isolated deinit { end() }

    /// Removes the drop target, which may be on a widget that lives longer.
    func end() {
        show(false)
        target.end()
        hint.unparent()
    }

    private func show(_ isOver: Bool) {
        target.widget?.setStyle("drop-target", isOver)
        if isOver, !hasHint { buildHint() }
        hint.isRevealed = isOver
    }

    private func buildHint() {
        hasHint = true
        let box = Box(.vertical, spacing: 12)
        let icon = Image(icon: "parlance-attach-symbolic")
        icon.pixelSize = 48
        box.append(icon)
        let label = Label(translated("Drop Files to Attach"))
        label.addStyle("title-2")
        box.append(label)
        box.addStyle("drop-hint")
        box.halign = .center
        box.valign = .center
        hint.setChild(box)
    }
}
