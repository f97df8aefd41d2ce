import CGtk
import ChatCore
import ChatViewModels
import GtkKit

/// The bar below a message whose sending, edit, deletion or reaction failed: the reason and actions.
final class FailedMessageBar {
    let widget = Box(.horizontal, spacing: 6)
    let retry = Button(sinking: gtk_button_new())
    let discard = Button(sinking: gtk_button_new())
    let text = Label()
    var onRetry: (() -> Void)?
    /// Called with whether to discard the message itself rather than a change of it.
    var onDiscard: ((_ isMessage: Bool) -> Void)?
    private var isMessage = true

    init(isOwn: Bool) {
        widget.addStyle("message-unsent")
        gtk_widget_set_halign(widget.cast(), isOwn ? GTK_ALIGN_END : GTK_ALIGN_START)
        let icon = Widget(sinking: gtk_image_new_from_icon_name("dialog-warning-symbolic"))
        for child in [icon, text] { child.addStyle("error") }
        gtk_label_set_ellipsize(text.cast(), PANGO_ELLIPSIZE_END)
        for child in [icon, text, retry, discard] { widget.append(child) }
        for button in [retry, discard] { button.addStyle("flat") }
        retry.onClick { [weak self] in self?.onRetry?() }
        discard.onClick { [weak self] in
            guard let self else { return }
            onDiscard?(isMessage)
        }
        widget.isVisible = false
    }

    func show(_ failure: MessageItem.RejectedItem?) {
        widget.isVisible = failure != nil
        guard let failure else { return }
        isMessage = failure == .message
        text.text = Self.text(failure)
        retry.label = isMessage ? translated("Send Again") : translated("Try Again")
        discard.label = isMessage ? translated("Discard…") : translated("Dismiss")
    }

    static func text(_ failure: MessageItem.RejectedItem) -> String {
        switch failure {
        case .message: translated("Not sent")
        case .change(.edit): translated("Edit not sent")
        case .change(.deletion): translated("Not deleted")
        case .change(.reaction): translated("Reaction not sent")
        }
    }
}
