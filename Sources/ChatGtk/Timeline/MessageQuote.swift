import ChatCore
import ChatViewModels
import Composer
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
        target = nil
        switch quote {
        case nil: return
        case .loading(let id):
            target = id
            sender.isVisible = false
            text.show(WrittenText(translated("Loading…"), syntax: .plain))
        case .unavailable:
            sender.isVisible = false
            text.show(WrittenText(translated("Message not available"), syntax: .plain))
        case .text(let id, let name, let words):
            target = id
            sender.isVisible = true
            sender.text = name
            text.show(words)
        }
        widget.isSensitive = target != nil
    }
}
