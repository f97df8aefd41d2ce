import GtkKit

/// Writes plain text to the clipboard.
enum MessageClipboard {
    static func write(_ text: String, of widget: Widget) {
        widget.clipboard.setText(text)
    }
}
