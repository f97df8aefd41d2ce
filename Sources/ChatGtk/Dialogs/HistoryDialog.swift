import ChatViewModels
import GtkKit

/// The edit history of a message, newest version first, with the changes of each edit.
enum HistoryDialog {
    static func present(_ versions: [MessageVersion], over parent: Widget) {
        let builder = Builder(resource: Resource.ui("history"))
        let dialog = Dialog(builder)
        let list: Box = builder["versions"]
        for entry in HistoryText(.desktop).entries(versions) { list.append(row(entry)) }
        dialog.present(over: parent)
    }

    private static func row(_ entry: HistoryText.Entry) -> Widget {
        let row = Box(.vertical, spacing: 6)
        row.addStyle("history-version")
        let title = Label(entry.title)
        title.addStyle("heading")
        let text = Label()
        text.setMarkup(markup(entry.version))
        text.setAccessibleLabel(entry.accessibleText)
        for label in [title, text] {
            label.xalign = 0
            label.wrap = true
            label.setWrapMode(.wordOrCharacter)
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
