import ChatCore
import ChatViewModels
import GtkKit

/// The bar below a message whose sending, edit, deletion or reaction failed: what failed, actions, and why it failed.
final class FailedMessageBar {
    let widget = Box(.vertical, spacing: 3)
    private let line = Box(.horizontal, spacing: 6)
    let retry = Button()
    let discard = Button()
    let text = Label()
    /// Created on demand: the reason is not always known.
    private(set) var explanation: Label?
    private let isOwn: Bool
    var onRetry: (() -> Void)?
    var onDiscard: (() -> Void)?

    init(isOwn: Bool) {
        self.isOwn = isOwn
        widget.addStyle("failed-message")
        line.halign = isOwn ? .end : .start
        widget.append(line)
        let icon = Image(icon: "dialog-warning-symbolic")
        for child in [icon, text] { child.addStyle("error") }
        text.setEllipsize(.end)
        for child in [icon, text, retry, discard] { line.append(child) }
        for button in [retry, discard] { button.addStyle("flat") }
        retry.onClick { [weak self] in self?.onRetry?() }
        discard.onClick { [weak self] in self?.onDiscard?() }
        widget.isVisible = false
    }

    /// - Parameter cause: ``MessageItem/shownFailure``.
    func show(_ failure: MessageItem.RejectedItem?, because cause: SendFailure?) {
        widget.isVisible = failure != nil
        guard let failure else { return }
        let texts = MessageText.localized.failure(failure, because: cause)
        text.text = texts.reason
        retry.label = texts.retry
        discard.label = texts.discard
        showExplanation(texts.explanation)
    }

    private func showExplanation(_ text: String?) {
        if text != nil, explanation == nil {
            let label = Label()
            label.wrap = true
            label.setWrapMode(.wordOrCharacter)
            label.xalign = isOwn ? 1 : 0
            label.setJustify(isOwn ? .right : .left)
            widget.append(label)
            explanation = label
        }
        explanation?.isVisible = text != nil
        if let text { explanation?.text = text }
    }
}
