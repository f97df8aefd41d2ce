import ChatCore
import ChatViewModels
import GtkKit

/// The bar below a message whose sending, edit, deletion or reaction failed: the reason and actions.
final class FailedMessageBar {
    let widget = Box(.horizontal, spacing: 6)
    let retry = Button()
    let discard = Button()
    let text = Label()
    var onRetry: (() -> Void)?
    var onDiscard: (() -> Void)?

    init(isOwn: Bool) {
        widget.addStyle("failed-message")
        widget.halign = isOwn ? .end : .start
        let icon = Image(icon: "dialog-warning-symbolic")
        for child in [icon, text] { child.addStyle("error") }
        text.setEllipsize(.end)
        for child in [icon, text, retry, discard] { widget.append(child) }
        for button in [retry, discard] { button.addStyle("flat") }
        retry.onClick { [weak self] in self?.onRetry?() }
        discard.onClick { [weak self] in self?.onDiscard?() }
        widget.isVisible = false
    }

    func show(_ failure: MessageItem.RejectedItem?) {
        widget.isVisible = failure != nil
        guard let failure else { return }
        let texts = MessageText.localized.failure(failure)
        text.text = texts.reason
        retry.label = texts.retry
        discard.label = texts.discard
    }
}
