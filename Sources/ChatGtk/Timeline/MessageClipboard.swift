import CGtk
import GtkKit

/// Writes plain text to the clipboard.
enum MessageClipboard {
    static func write(_ text: String, of widget: Widget) {
        if let clipboard = gtk_widget_get_clipboard(widget.cast()) { gdk_clipboard_set_text(clipboard, text) }
    }
}
