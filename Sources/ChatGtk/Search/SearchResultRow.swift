import CGtk
import ChatViewModels
import ComposerGtk
import GtkKit

/// A search result: room and time, sender and the text around the match.
final class SearchResultRow {
    let widget: Widget
    private let room = Label()
    private let time = Label()
    private let text = Label()

    init() {
        let column = Box(.vertical, spacing: 3)
        widget = column
        column.addStyle("search-result")
        let line = Box(.horizontal, spacing: 6)
        room.addStyle("room-name")
        gtk_label_set_ellipsize(room.cast(), PANGO_ELLIPSIZE_END)
        gtk_widget_set_hexpand(room.cast(), 1)
        for style in ["caption", "dim-label", "numeric"] { time.addStyle(style) }
        text.addStyle("caption")
        gtk_label_set_wrap(text.cast(), 1)
        gtk_label_set_wrap_mode(text.cast(), PANGO_WRAP_WORD_CHAR)
        gtk_label_set_lines(text.cast(), 3)
        gtk_label_set_max_width_chars(text.cast(), 28)
        gtk_label_set_max_width_chars(room.cast(), 14)
        gtk_label_set_ellipsize(text.cast(), PANGO_ELLIPSIZE_END)
        for label in [room, text] { gtk_label_set_xalign(label.cast(), 0) }
        line.append(room)
        line.append(time)
        column.append(line)
        column.append(text)
    }

    func show(_ result: SearchResult) {
        room.text = result.roomName
        time.text = DateText.brief(result.sentAt, result.day)
        time.tooltip = DateText.full(result.sentAt)
        let start = result.senderText(.gettext) + " "
        text.text = start + result.snippet
        let attributes = pango_attr_list_new()
        defer { pango_attr_list_unref(attributes) }
        for match in result.matches {
            let bold = pango_attr_weight_new(PANGO_WEIGHT_BOLD)
            bold?.pointee.start_index = guint(start.utf8.count + match.lowerBound)
            bold?.pointee.end_index = guint(start.utf8.count + match.upperBound)
            pango_attr_list_insert(attributes, bold)
        }
        gtk_label_set_attributes(text.cast(), attributes)
        IndexedList.item(of: widget).setAccessibleLabel(
            result.accessibleText(time: DateText.full(result.sentAt), .gettext))
    }
}
