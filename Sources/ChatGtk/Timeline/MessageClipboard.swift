import CGtk
import ChatViewModels
import GtkKit

/// Messages on the desktop's clipboard, as plain and as rich text.
enum MessageClipboard {
    static func write(_ messages: CopiedMessages, of widget: Widget) {
        guard let clipboard = gtk_widget_get_clipboard(widget.cast()) else { return }
        var html = Array(messages.html.utf8)
        let bytes = g_bytes_new(&html, gsize(html.count))
        defer { g_bytes_unref(bytes) }
        var value = GValue()
        g_value_init(&value, shim_type_string())
        g_value_set_string(&value, messages.text)
        defer { g_value_unset(&value) }
        var providers: [UnsafeMutablePointer<GdkContentProvider>?] = [
            gdk_content_provider_new_for_bytes("text/html", bytes), gdk_content_provider_new_for_value(&value),
        ]
        guard let union = gdk_content_provider_new_union(&providers, 2) else { return }
        gdk_clipboard_set_content(clipboard, union)
        g_object_unref(union)
    }
}
