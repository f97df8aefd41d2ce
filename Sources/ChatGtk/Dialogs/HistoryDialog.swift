import CGtk
import ChatViewModels
import GtkKit

/// The edit history of a message, newest version first, with the changes of each edit.
enum HistoryDialog {
    static func present(_ versions: [MessageVersion], over parent: Widget) {
        let builder = Builder(resource: Resource.ui("history"))
        let window: Widget = builder["window"]
        let list: Box = builder["versions"]
        for entry in HistoryText(.desktop).entries(versions) { list.append(row(entry)) }
        gtk_window_set_transient_for(window.cast(), parent.cast())
        gtk_window_present(window.cast())
    }

    private static func row(_ entry: HistoryText.Entry) -> Widget {
        let row = Box(.vertical, spacing: 6)
        row.addStyle("history-version")
        let title = Label(entry.title)
        title.addStyle("heading")
        let text = Label()
        gtk_label_set_markup(text.cast(), markup(entry.version))
        text.setAccessibleLabel(entry.accessibleText)
        for label in [title, text] {
            gtk_label_set_xalign(label.cast(), 0)
            gtk_label_set_wrap(label.cast(), 1)
            gtk_label_set_wrap_mode(label.cast(), PANGO_WRAP_WORD_CHAR)
            row.append(label)
        }
        return row
    }

    /// Underline and strikethrough supplement the colors for color-blind users; both colors are legible on light and
    /// dark backgrounds.
    static func markup(_ version: MessageVersion) -> String {
        version.segments.map { segment in
            let text = Markup.escaped(segment.text.replacing("\0", with: "\u{FFFD}"))
            return switch segment.change {
            case .unchanged: text
            case .added: "<span underline='single' foreground='#26a269'>\(text)</span>"
            case .removed: "<span strikethrough='true' foreground='#e01b24'>\(text)</span>"
            }
        }.joined()
    }
}
