import ChatCore
import ChatViewModels
import ComposerGtk
import Foundation
import GtkKit
import MediaGtk

/// A row of the room list: avatar, name, time, last message and a badge.
///
/// GTK makes 200 rows of a list, of which a window shows twenty: a row has no widgets before it shows something, and
/// those that few rows show are made when they are first shown.
final class RoomRow {
    let widget: Widget
    private let box = Box(.horizontal, spacing: 12)
    /// The widgets of a room; `nil` in a row that has not shown one.
    private var body: RoomRowBody?
    private var title: Label?
    private let dateText: DateText
    /// The displayed content, or `nil` for a section title.
    private var shown: Content?
    private var formatted: (moment: Moment, text: String)?
    /// The number of times that the widgets were set.
    private(set) var renderCount = 0

    private struct Content: Equatable {
        let row: RoomListViewModel.Row
        let isInView: Bool
        let moment: Moment
        let avatars: ObjectIdentifier?
    }

    /// Everything that determines the text of a time.
    private struct Moment: Equatable {
        let date: Date
        let day: RelativeDay
        let isTwelveHour: Bool
        let zone: Int
    }

    init(dateText: DateText = .desktop) {
        self.dateText = dateText
        widget = box
        box.addStyle("room-row")
    }

    /// Shows a section title instead of a room.
    func show(_ section: SectionTitle) {
        shown = nil
        let title = title ?? makeTitle()
        setTitle(true)
        title.text = section.text
        IndexedList.item(of: widget).setAccessibleLabel(section.text)
    }

    private func makeTitle() -> Label {
        let title = Label()
        for style in ["caption-heading", "dim-label"] { title.addStyle(style) }
        title.xalign = 0
        box.append(title)
        self.title = title
        return title
    }

    private func setTitle(_ isTitle: Bool) {
        title?.isVisible = isTitle
        body?.setVisible(!isTitle)
        IndexedList.item(of: widget).setStyle("section-title", isTitle)
    }

    /// Sets the widgets unless they already show the row: a change of one room renders the whole list, and GTK lays out
    /// and draws each widget that is set.
    /// - Parameter isInView: whether the room's messages are visible beside the list.
    func show(_ row: RoomListViewModel.Row, isInView: Bool, _ avatarLoader: AvatarLoader?) {
        let moment = Moment(
            date: row.lastActivity, day: row.day, isTwelveHour: ClockFormat.desktop.isTwelveHour,
            zone: Date.localZoneRevision)
        let content = Content(
            row: row, isInView: isInView, moment: moment, avatars: avatarLoader.map { ObjectIdentifier($0) })
        if content == shown {
            // Retries an avatar that failed to load.
            if row.avatar != nil { body?.showAvatar(of: row, avatarLoader) }
            return
        }
        shown = content
        renderCount += 1
        let body = body ?? RoomRowBody(in: box)
        self.body = body
        setTitle(false)
        let time = text(of: moment)
        body.show(row, time: time, isInView: isInView, avatarLoader)
        widget.setStyle("unread", row.isUnread(isInView: isInView))
        IndexedList.item(of: widget).setAccessibleLabel(
            row.accessibleText(time: time, isInView: isInView, .gettext))
    }

    private func text(of moment: Moment) -> String {
        if let formatted, formatted.moment == moment { return formatted.text }
        let text = dateText.brief(moment.date, moment.day)
        formatted = (moment, text)
        return text
    }
}
