import CGtk
import ChatViewModels
import GtkKit

/// The actions for all failed messages, above the composer while there are several.
final class RetryBar {
    let widget: Revealer
    let retry = Button(sinking: gtk_button_new_with_label(translated("Send All Again")))
    let discard = Button(sinking: gtk_button_new_with_label(translated("Discard All…")))
    var onRetry: (() -> Void)?
    var onDiscard: (() -> Void)?
    private let count = Label()

    init() {
        widget = Revealer(sinking: gtk_revealer_new())
        gtk_revealer_set_transition_type(widget.cast(), GTK_REVEALER_TRANSITION_TYPE_SLIDE_UP)
        let bar = Box(.horizontal, spacing: 6)
        for style in ["toolbar", "message-unsent"] { bar.addStyle(style) }
        let icon = Widget(sinking: gtk_image_new_from_icon_name("dialog-warning-symbolic"))
        for child in [icon, count] { child.addStyle("error") }
        gtk_widget_set_hexpand(count.cast(), 1)
        gtk_label_set_xalign(count.cast(), 0)
        gtk_label_set_ellipsize(count.cast(), PANGO_ELLIPSIZE_END)
        for button in [retry, discard] { button.addStyle("flat") }
        for child in [icon, count, retry, discard] { bar.append(child) }
        gtk_revealer_set_child(widget.cast(), bar.cast())
        retry.onClick { [weak self] in self?.onRetry?() }
        discard.onClick { [weak self] in self?.onDiscard?() }
    }

    /// A single failed message has its own buttons in its row.
    func show(failedCount: Int) {
        if failedCount > 1 {
            let text = translated("%d not sent", "%d not sent", count: failedCount)
            count.text = text.replacing("%d", with: "\(failedCount)")
        }
        widget.isRevealed = failedCount > 1
    }
}
