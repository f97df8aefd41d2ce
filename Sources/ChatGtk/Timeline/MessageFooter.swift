import GtkKit

/// What is in the lower corner of a bubble: a pencil if the message is edited, and in the user's own messages the time
/// and what became of it.
///
/// In an overlay, so that it shares the last line of the text if there is room; ``BodyText/corner`` keeps the text
/// clear of it.
final class MessageFooter {
    /// Horizontally the bubble's padding, see `.message-bubble` in the style sheet; vertically on the text's baseline.
    private static let inset = (horizontal: 12, bottom: 8)

    let widget = Box(.horizontal, spacing: 3)
    private let label = Label()
    /// Created on demand, since few messages are edited.
    private var pencil: Image?

    init() {
        widget.addStyle("message-meta")
        widget.isVisible = false
        label.setEllipsize(.end)
        widget.append(label)
    }

    /// - Parameter caption: May be empty.
    func show(_ caption: String, isEdited: Bool) {
        label.text = caption
        label.isVisible = !caption.isEmpty
        if isEdited, pencil == nil { pencil = makePencil() }
        pencil?.isVisible = isEdited
        widget.isVisible = isEdited || !caption.isEmpty
    }

    private func makePencil() -> Image {
        let image = Image(icon: "parlance-edit-symbolic")
        image.addStyle("message-edited")
        image.tooltip = translated("Edited")
        widget.prepend(image)
        return image
    }

    // MARK: Positioning

    /// - Parameter overlay: The overlay around the bubble.
    func attach(to overlay: Overlay) {
        overlay.addOverlay(widget) { [weak self] in self?.frame(in: $0) }
    }

    private func frame(in bubble: Overlay) -> Allocation {
        let natural = widget.preferredSize
        let width = min(natural.width, max(0, bubble.width - 2 * Self.inset.horizontal))
        let x = bubble.isRightToLeft ? Self.inset.horizontal : bubble.width - Self.inset.horizontal - width
        return Allocation(
            x: x, y: bubble.height - Self.inset.bottom - natural.height, width: width, height: natural.height)
    }
}
