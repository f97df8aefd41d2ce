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
        time.text = DateText.brief(result.sentAt, result.day)
        time.tooltip = DateText.full(result.sentAt)
        let start = result.senderText(.gettext) + " "
        text.text = start + result.snippet
        let attributes = TextAttributes()
        let offset = start.utf8.count
        for match in result.matches { attributes.add(.bold, to: offset + match.lowerBound..<offset + match.upperBound) }
        text.setAttributes(attributes)
        IndexedList.item(of: widget).setAccessibleLabel(
            result.accessibleText(time: DateText.full(result.sentAt), .gettext))
    }
}
