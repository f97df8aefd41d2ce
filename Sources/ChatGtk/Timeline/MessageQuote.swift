import ChatCore
import ChatViewModels
import ComposerGtk
import GtkKit

/// The excerpt of the message that another one replies to, a button that jumps there. Tab leads to it from its row.
final class MessageQuote {
    let widget: Button
    var onClick: ((MessageID) -> Void)?
    private let sender = Label()
    private let text = Label()
    private var target: MessageID?

    init() {
        widget = Button()
        let column = Box(.vertical)
        column.append(sender)
        column.append(text)
        sender.addStyle("quote-sender")
        for label in [sender, text] {
            label.xalign = 0
            label.setEllipsize(.end)
        }
        text.maxWidthChars = 40
        widget.setChild(column)
        widget.addStyle("flat")
        widget.addStyle("message-quote")
        widget.isVisible = false
        // A click leaves the focus in the composer (SLK-48).
        widget.focusOnClick = false
        widget.tooltip = translated("Jump to Original Message")
        widget.setAccessibleLabel(translated("Jump to Original Message"))
        widget.onClick { [weak self] in
            guard let self, let target = self.target else { return }
            self.onClick?(target)
        }
    }

    func show(_ quote: MessageItem.Quote?) {
        widget.isVisible = quote != nil
        target = quote?.message
        guard let quote else { return }
        let texts = MessageText.localized.quote(quote)
        sender.isVisible = texts.senderName != nil
        if let name = texts.senderName { sender.text = name }
        text.show(texts.text)
        widget.setAccessibleDescription([texts.senderName, text.text].compactMap(\.self).joined(separator: ": "))
        widget.isSensitive = target != nil
    }
}
