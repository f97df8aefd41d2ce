import CGtk
import ChatViewModels
import Foundation
import GtkKit

/// Messages on the desktop's clipboard, as plain and as rich text.
enum MessageClipboard {
    static func write(_ text: String, of widget: Widget) {
        if let clipboard = gtk_widget_get_clipboard(widget.cast()) { gdk_clipboard_set_text(clipboard, text) }
    }

    static func write(_ messages: CopiedMessages, of widget: Widget) {
        guard let clipboard = gtk_widget_get_clipboard(widget.cast()) else { return }
        let provider = ContentProvider(text: messages.text, data: [("text/html", Data(messages.html.utf8))])
        gdk_clipboard_set_content(clipboard, provider.cast())
    }
}
