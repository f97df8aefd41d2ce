import CGtk
import ChatViewModels
import GtkKit

/// The buttons beside a message on hover or focus: sending time, Reply, React, Edit and the menu.
final class MessageButtons {
    let widget = Box(.horizontal, spacing: 3)
    let reply = Button(sinking: gtk_button_new_from_icon_name("mail-reply-sender-symbolic"))
    let react = Button(sinking: gtk_button_new_from_icon_name("face-smile-symbolic"))
    /// Only for the user's own messages.
    let edit = Button(sinking: gtk_button_new_from_icon_name("document-edit-symbolic"))
    let menu = Button(sinking: gtk_button_new_from_icon_name("view-more-symbolic"))
    private let time = Label()
    private let isOwn: Bool

    init(isOwn: Bool) {
        self.isOwn = isOwn
        widget.addStyle("message-hover")
        gtk_widget_set_valign(widget.cast(), GTK_ALIGN_CENTER)
        time.addStyle("message-meta")
        for (button, label) in [
            (reply, translated("Reply")), (react, translated("React")), (edit, translated("Edit")),
            (menu, translated("Message Menu")),
        ] {
            for style in ["flat", "circular"] { button.addStyle(style) }
            button.tooltip = label
            button.setAccessibleLabel(label)
            gtk_widget_set_focusable(button.cast(), 0)
            gtk_widget_set_valign(button.cast(), GTK_ALIGN_CENTER)
        }
        let children: [Widget] = isOwn ? [time, menu, edit, react, reply] : [reply, react, edit, menu, time]
        children.forEach(widget.append)
    }

    func show(_ message: MessageItem, time text: String) {
        time.text = text
        menu.isVisible = !message.isDeleted
        reply.isVisible = message.canReply
        react.isVisible = message.canReact
        edit.isVisible = message.canEdit
        emphasizeReply(0)
    }

    /// - Parameter progress: The progress of a swipe from 0 to 1, where releasing it replies.
    func emphasizeReply(_ progress: Double) {
        reply.setStyle("suggested-action", progress >= 1)
        gtk_widget_set_opacity(reply.cast(), progress > 0 ? 0.3 + 0.7 * min(1, progress) : 1)
    }

    // MARK: Positioning

    /// Wraps the bubble in an overlay that shows the buttons beside it if the row is wide enough, or else over its
    /// upper corner. As an overlay, the buttons do not reduce the width available to bubbles.
    func around(_ bubble: Widget, in row: Widget) -> Widget {
        let overlay = Widget(sinking: gtk_overlay_new())
        gtk_overlay_set_child(overlay.cast(), bubble.cast())
        gtk_overlay_add_overlay(overlay.cast(), widget.cast())
        overlay.intercept("get-child-position") { [weak self, weak row] arguments in
            guard let self, let row, let overlay = arguments.emitter, let allocation = arguments.boxed(1),
                arguments.object(0) == self.widget.pointer
            else {
                return false
            }
            allocation.assumingMemoryBound(to: GdkRectangle.self).pointee = self.frame(
                beside: Widget(borrowing: overlay), in: row)
            return true
        }
        // Invisible buttons must not intercept clicks on the text below.
        gtk_widget_set_can_target(widget.cast(), 0)
        row.connect("state-flags-changed") { [weak self, weak row] _ in
            guard let self, let row else { return }
            let activeFlags = GTK_STATE_FLAG_PRELIGHT.rawValue | GTK_STATE_FLAG_FOCUS_WITHIN.rawValue
            let isActive = gtk_widget_get_state_flags(row.cast()).rawValue & activeFlags != 0
            gtk_widget_set_can_target(self.widget.cast(), isActive ? 1 : 0)
        }
        return overlay
    }

    private func frame(beside bubble: Widget, in row: Widget) -> GdkRectangle {
        var (minimum, size) = (GtkRequisition(), GtkRequisition())
        gtk_widget_get_preferred_size(widget.cast(), &minimum, &size)
        let (width, height) = (size.width, size.height)
        let bubbleWidth = Int32(gtk_widget_get_width(bubble.cast()))
        let bubbleHeight = Int32(gtk_widget_get_height(bubble.cast()))
        var (left, top) = (0.0, 0.0)
        shim_translate(bubble.pointer, row.pointer, 0, 0, &left, &top)
        let rowWidth = gtk_widget_get_width(row.cast())
        let isOnLeft = isOwn != (gtk_widget_get_direction(row.cast()) == GTK_TEXT_DIR_RTL)
        let room = isOnLeft ? Int32(left) : rowWidth - Int32(left) - bubbleWidth
        let gap: Int32 = 6
        if room >= width + gap {
            let centre = (bubbleHeight - height) / 2
            return GdkRectangle(x: isOnLeft ? -width - gap : bubbleWidth + gap, y: centre, width: width, height: height)
        }
        // As far out as the row allows.
        let corner = isOnLeft ? -room : bubbleWidth + room - width
        return GdkRectangle(x: corner, y: min(3, (bubbleHeight - height) / 2), width: width, height: height)
    }
}
