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
        room.setEllipsize(.end)
        room.hexpand = true
        for style in ["caption", "dim-label", "numeric"] { time.addStyle(style) }
        text.addStyle("caption")
        text.wrap = true
        text.setWrapMode(.wordOrCharacter)
        text.lines = 3
        text.maxWidthChars = 28
        room.maxWidthChars = 14
        text.setEllipsize(.end)
        for label in [room, text] { label.xalign = 0 }
        line.append(room)
        line.append(time)
        column.append(line)
        column.append(text)
    }

    func show(_ result: SearchResult) {
        room.text = result.roomName
        time.text = DateText.desktop.brief(result.sentAt, result.day)
        time.tooltip = DateText.desktop.full(result.sentAt)
        let line = result.line(.gettext)
        text.text = line.text
        let attributes = TextAttributes()
        for match in line.matches { attributes.add(.bold, to: match) }
        text.setAttributes(attributes)
        IndexedList.item(of: widget).setAccessibleLabel(
            result.accessibleText(time: DateText.desktop.full(result.sentAt), .gettext))
    }
}
