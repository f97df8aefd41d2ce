import ChatCore
import ChatViewModels
import GtkKit

/// The full source text of a message that is shortened in its row.
///
/// GtkTextView lays out only the visible part, so a text of a megabyte opens as fast as a short one.
enum WholeMessageDialog {
    @discardableResult
    static func present(_ message: MessageItem, over parent: Widget) -> TopLevel {
        let window = AdwaitaWindow()
        window.setTransient(for: parent)
        window.isModal = true
        window.setDefaultSize(width: 600, height: 640)
        window.title = MessageText.localized.windowTitle(message)
        let content = Box(.vertical)
        content.append(HeaderBar())
        let text = TextView()
        text.makeReadOnly()
        text.setMargins(horizontal: 18, vertical: 12)
        text.setAccessibleLabel(translated("Message"))
        text.buffer.setText(message.text.replacing("\0", with: "\u{FFFD}"))
        content.append(ScrolledWindow(text))
        window.setContent(content)
        window.closeOnEscape()
        window.present()
        text.grabFocus()
        return window
    }
}
