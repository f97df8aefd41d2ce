import CGtk
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
        widget = Button(sinking: gtk_button_new())
        let column = Box(.vertical)
        column.append(sender)
        column.append(text)
        sender.addStyle("quote-sender")
        for label in [sender, text] {
            gtk_label_set_xalign(label.cast(), 0)
            gtk_label_set_ellipsize(label.cast(), PANGO_ELLIPSIZE_END)
        }
        gtk_label_set_max_width_chars(text.cast(), 40)
        gtk_button_set_child(widget.cast(), column.cast())
        widget.addStyle("flat")
        widget.addStyle("message-quote")
        widget.isVisible = false
        gtk_widget_set_focusable(widget.cast(), 0)
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
