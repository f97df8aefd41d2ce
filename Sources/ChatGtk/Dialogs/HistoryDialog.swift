import ChatViewModels
import GtkKit

/// The edit history of a message, newest version first, with the changes of each edit.
enum HistoryDialog {
    static func present(_ versions: [MessageVersion], over parent: Widget) {
        let builder = Builder(resource: Resource.ui("history"))
        let window: TopLevel = builder["window"]
        let list: Box = builder["versions"]
        for (index, version) in versions.enumerated() {
            list.append(row(version, isOldest: index == versions.count - 1))
        }
        window.setTransient(for: parent)
        window.present()
    }

    private static func row(_ version: MessageVersion, isOldest: Bool) -> Widget {
        let row = Box(.vertical, spacing: 6)
        row.addStyle("history-version")
        let when = isOldest ? translated("Sent %s") : translated("Edited %s")
        let title = Label(when.replacing("%s", with: DateText.full(version.writtenAt)))
        title.addStyle("heading")
        let text = Label()
        text.setMarkup(markup(version))
        text.setAccessibleLabel(accessibleText(version))
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

    private static func accessibleText(_ version: MessageVersion) -> String {
        version.segments.map { segment in
            switch segment.change {
            case .unchanged: segment.text
            case .added: translated("Added: %s.").replacing("%s", with: segment.text)
            case .removed: translated("Removed: %s.").replacing("%s", with: segment.text)
            }
        }.joined(separator: " ")
    }
}
