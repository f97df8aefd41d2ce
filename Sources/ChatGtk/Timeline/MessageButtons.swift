import CGtk
import ChatViewModels
import GtkKit

/// What shows beside a message's bubble when the pointer is on it: when it was sent, Reply, React, Edit, and the menu.
final class MessageButtons {
    let widget = Box(.horizontal, spacing: 3)
    let reply = Button(borrowing: gtk_button_new_from_icon_name("mail-reply-sender-symbolic"))
    let react = Button(borrowing: gtk_button_new_from_icon_name("face-smile-symbolic"))
    /// Of one's own messages only.
    let edit = Button(borrowing: gtk_button_new_from_icon_name("document-edit-symbolic"))
    let menu = Button(borrowing: gtk_button_new_from_icon_name("view-more-symbolic"))
    private let time = Label()

    init(isOwn: Bool) {
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
        let parts: [Widget] = isOwn ? [time, menu, edit, react, reply] : [reply, react, edit, menu, time]
        parts.forEach(widget.append)
    }

    func show(_ message: MessageItem, time text: String) {
        time.text = text
        menu.isVisible = !message.isDeleted
        reply.isVisible = message.canReply
        react.isVisible = message.canReact
        edit.isVisible = message.canEdit
        emphasiseReply(0)
    }

    /// - Parameter progress: of a swipe, from 0 to 1, where letting go replies.
    func emphasiseReply(_ progress: Double) {
        reply.setStyle("suggested-action", progress >= 1)
        gtk_widget_set_opacity(reply.cast(), progress > 0 ? 0.3 + 0.7 * min(1, progress) : 1)
    }
}
