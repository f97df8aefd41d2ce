import CGtk
import GtkKit

/// Under a message that could not be sent: that it was not, and what can be done.
final class UnsentStrip {
    let widget = Box(.horizontal, spacing: 6)
    let retry = Button(borrowing: gtk_button_new_with_label(translated("Send Again")))
    let discard = Button(borrowing: gtk_button_new_with_label(translated("Discard…")))
    var onRetry: (() -> Void)?
    var onDiscard: (() -> Void)?

    init() {
        widget.addStyle("message-unsent")
        gtk_widget_set_halign(widget.cast(), GTK_ALIGN_END)
        let sign = Widget(borrowing: gtk_image_new_from_icon_name("dialog-warning-symbolic"))
        sign.addStyle("error")
        let text = Label(translated("Not sent"))
        text.addStyle("error")
        for part in [sign, text, retry, discard] { widget.append(part) }
        for button in [retry, discard] { button.addStyle("flat") }
        retry.onClick { [weak self] in self?.onRetry?() }
        discard.onClick { [weak self] in self?.onDiscard?() }
        widget.isVisible = false
    }
}
