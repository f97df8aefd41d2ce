import ChatCore
import ChatViewModels
import GtkKit

/// The buttons beside a message on hover or focus: React, Reply and the menu.
final class MessageButtons {
    let widget = Box(.horizontal, spacing: 3)
    let reply = Button(icon: "parlance-reply-symbolic")
    let react = Button(icon: "parlance-react-symbolic")
    let menu = Button(icon: "parlance-more-symbolic")
    private let isOwn: Bool
    /// Whether they are shown because the pointer is in the row.
    var isPointedAt = false {
        didSet { if isPointedAt != oldValue { widget.setStyle("pointed", isPointedAt) } }
    }

    init(isOwn: Bool) {
        self.isOwn = isOwn
        widget.addStyle("message-hover")
        widget.valign = .center
        for (button, label) in [
            (react, translated("React")), (reply, translated("Reply")), (menu, translated("Message Menu")),
        ] {
            for style in ["flat", "circular"] { button.addStyle(style) }
            button.tooltip = label
            button.setAccessibleLabel(label)
            button.isFocusable = false
            button.valign = .center
        }
        // The menu is farthest from the bubble.
        let children = isOwn ? [menu, reply, react] : [react, reply, menu]
        children.forEach(widget.append)
    }

    func show(_ message: MessageItem) {
        menu.isVisible = message.offersMenu
        reply.isVisible = message.canReply
        react.isVisible = message.canReact
        emphasizeReply(0)
    }

    /// - Parameter progress: The progress of a swipe from 0 to 1, where releasing it replies.
    func emphasizeReply(_ progress: Double) {
        reply.setStyle("suggested-action", progress >= 1)
        reply.opacity = progress > 0 ? 0.3 + 0.7 * min(1, progress) : 1
    }

    // MARK: Positioning

    /// Places the buttons in `overlay`: beside the bubble if the row is wide enough, otherwise over its upper corner.
    /// In an overlay, they do not take width from the bubble.
    func attach(to overlay: Overlay, over bubble: Widget, in row: Widget) {
        // Invisible buttons must not intercept clicks on the text below.
        widget.canTarget = false
        overlay.addOverlay(widget) { [weak self, weak row] overlay in
            guard let self, let row else { return nil }
            return self.frame(beside: overlay, in: row)
        }
        // Below the footer, as later children of an overlay are on top.
        widget.insert(into: overlay, after: bubble)
        fadeIn()
    }

    /// GTK animates only changes of the opacity: the buttons must have been styled once without it.
    private func fadeIn() {
        var ticks = 0
        widget.addTick { [weak self] in
            ticks += 1
            guard ticks > 1 else { return true }
            self?.widget.addStyle("ready")
            return false
        }
    }

    private func frame(beside bubble: Widget, in row: Widget) -> Allocation {
        let (width, height) = widget.preferredSize
        let (bubbleWidth, bubbleHeight) = (bubble.width, bubble.height)
        let left = Int(bubble.translate(x: 0, y: 0, to: row)?.x ?? 0)
        let isOnLeft = isOwn != row.isRightToLeft
        let room = isOnLeft ? left : row.width - left - bubbleWidth
        let gap = 6
        if room >= width + gap {
            let center = (bubbleHeight - height) / 2
            return Allocation(x: isOnLeft ? -width - gap : bubbleWidth + gap, y: center, width: width, height: height)
        }
        // As far out as the row allows.
        let corner = isOnLeft ? -room : bubbleWidth + room - width
        return Allocation(x: corner, y: min(3, (bubbleHeight - height) / 2), width: width, height: height)
    }
}
