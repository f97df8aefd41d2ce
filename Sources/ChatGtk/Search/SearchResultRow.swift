import ChatViewModels
import ComposerGtk
import Foundation
import GtkKit

/// A search result: room and time, sender and the text around the match.
final class SearchResultRow {
    let widget: Widget
    private let room = Label()
    private let time = Label()
    private let text = Label()
    private var shown: Content?
    /// The number of times that the widgets were set.
    private(set) var renderCount = 0

    /// Everything that determines the texts.
    private struct Content: Equatable {
        let result: SearchResult
        let isTwelveHour: Bool
        let zone: Int
    }

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

    /// Sets the widgets unless they already show the result: each letter and each page render the whole list, and GTK
    /// lays a label out again when its attributes are set.
    func show(_ result: SearchResult) {
        let content = Content(
            result: result, isTwelveHour: ClockFormat.desktop.isTwelveHour, zone: Date.localZoneRevision)
        guard content != shown else { return }
        shown = content
        renderCount += 1
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
