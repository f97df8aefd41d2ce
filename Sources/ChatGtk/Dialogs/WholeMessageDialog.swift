import ChatCore
import ChatViewModels
import GtkKit

/// The full source text of a message that is shortened in its row.
///
/// GtkTextView lays out only the visible part, so a text of a megabyte opens as fast as a short one.
enum WholeMessageDialog {
    @discardableResult
    static func present(_ message: MessageItem, over parent: Widget) -> Dialog {
        let dialog = Dialog(title: MessageText.localized.windowTitle(message), width: 600, height: 640)
        let content = Box(.vertical)
        content.append(HeaderBar())
        let text = TextView()
        text.makeReadOnly()
        text.setMargins(horizontal: 18, vertical: 12)
        text.setAccessibleLabel(translated("Message"))
        text.buffer.setText(message.text.replacing("\0", with: "\u{FFFD}"))
        content.append(ScrolledWindow(text))
        dialog.setContent(content)
        dialog.present(over: parent)
        text.grabFocus()
        return dialog
    }
}
