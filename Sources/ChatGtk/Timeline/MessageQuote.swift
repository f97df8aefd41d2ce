import ChatCore
import ChatViewModels
import ComposerGtk
import GtkKit

/// The excerpt of the message that another one replies to; clicking it jumps there.
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
        widget.isFocusable = false
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
        widget.isSensitive = target != nil
    }
}
