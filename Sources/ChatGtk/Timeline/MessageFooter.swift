import ChatCore
import ChatViewModels
import GtkKit

/// The lower corner of a bubble: a warning about the sender, a pencil if the message is edited, a lock beside it if an
/// edit cannot be read, and, in the user's own messages, the time and delivery state.
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
    /// Created on demand, since few edits cannot be read.
    private var lock: Image?
    /// Created on demand, since few messages need it.
    private var mark: Image?

    init() {
        widget.addStyle("message-meta")
        widget.isVisible = false
        label.setEllipsize(.end)
        widget.append(label)
    }

    /// - Parameters:
    ///   - caption: May be empty.
    ///   - unreadableEdit: Says that the latest edit cannot be read; `nil` if the latest version is shown.
    func show(_ caption: String, isEdited: Bool, unreadableEdit: String? = nil, trust: MessageTrust? = nil) {
        label.text = caption
        label.isVisible = !caption.isEmpty
        let hasEdit = isEdited || unreadableEdit != nil
        if hasEdit, pencil == nil { pencil = makePencil() }
        pencil?.isVisible = hasEdit
        pencil?.tooltip = unreadableEdit ?? translated("Edited")
        showLock(unreadableEdit)
        showMark(trust)
        widget.isVisible = hasEdit || trust != nil || !caption.isEmpty
    }

    private func makePencil() -> Image {
        let image = Image(icon: "parlance-edit-symbolic")
        image.addStyle("message-edited")
        widget.prepend(image)
        return image
    }

    private func showLock(_ unreadableEdit: String?) {
        if unreadableEdit != nil, lock == nil, let pencil {
            let image = Image(icon: "parlance-lock-symbolic")
            image.addStyle("message-edit-lock")
            image.hideFromAccessibility()
            widget.insert(image, after: pencil)
            lock = image
        }
        lock?.isVisible = unreadableEdit != nil
        if let unreadableEdit { lock?.tooltip = unreadableEdit }
    }

    private func showMark(_ trust: MessageTrust?) {
        if trust != nil, mark == nil {
            let image = Image()
            image.addStyle("message-mark")
            image.hideFromAccessibility()
            widget.prepend(image)
            mark = image
        }
        mark?.isVisible = trust != nil
        guard let trust else { return }
        mark?.iconName = trust.iconName
        mark?.tooltip = MessageText.localized.trust(trust)
        mark?.setStyle("problem", trust.isProblem)
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
