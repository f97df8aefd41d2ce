import CGtk
import ChatViewModels
import GtkKit

/// The full source text of a message that is shortened in its row.
///
/// GtkTextView lays out only the visible part, so a text of a megabyte opens as fast as a short one.
enum WholeMessageDialog {
    @discardableResult
    static func present(_ message: MessageItem, over parent: Widget) -> Widget {
        let window = Widget(sinking: adw_window_new())
        gtk_window_set_transient_for(window.cast(), parent.cast())
        gtk_window_set_modal(window.cast(), 1)
        gtk_window_set_default_size(window.cast(), 600, 640)
        window.setProperty("title", message.isOwn ? translated("Your Message") : message.senderName)
        let content = Box(.vertical)
        content.append(Widget(sinking: adw_header_bar_new()))
        let text = Widget(sinking: gtk_text_view_new())
        gtk_text_view_set_editable(text.cast(), 0)
        gtk_text_view_set_cursor_visible(text.cast(), 0)
        gtk_text_view_set_wrap_mode(text.cast(), GTK_WRAP_WORD_CHAR)
        for set in [gtk_text_view_set_left_margin, gtk_text_view_set_right_margin] { set(text.cast(), 18) }
        for set in [gtk_text_view_set_top_margin, gtk_text_view_set_bottom_margin] { set(text.cast(), 12) }
        text.setAccessibleLabel(translated("Message"))
        let messageText = message.text.replacing("\0", with: "\u{FFFD}")
        gtk_text_buffer_set_text(
            gtk_text_view_get_buffer(text.cast()), messageText, Int32(clamping: messageText.utf8.count))
        content.append(ScrolledWindow(text))
        adw_window_set_content(window.cast(), content.cast())
        let keys = Object(owning: UnsafeMutableRawPointer(gtk_shortcut_controller_new()))
        gtk_shortcut_controller_add_shortcut(
            keys.cast(),
            gtk_shortcut_new(
                gtk_keyval_trigger_new(guint(GDK_KEY_Escape), GdkModifierType(rawValue: 0)),
                gtk_named_action_new("window.close")))
        window.addController(keys)
        gtk_window_present(window.cast())
        text.grabFocus()
        return window
    }
}
