import ChatCore
import ChatViewModels
import ComposerGtk
import Foundation
import GtkKit
import MediaGtk

/// A row of the room list: avatar, name, time, last message and a badge.
final class RoomRow {
    let widget: Widget
    private let avatar = AvatarView(size: 40)
    private let name = Label()
    private let time = Label()
    /// What precedes the text of a draft or an unsent message.
    private let previewPrefix = Label()
    private let preview = Label()
    private let badge = Label()
    private let muted = Image(icon: "notifications-disabled-symbolic")
    private let title = Label()
    private let column = Box(.vertical, spacing: 3)
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
        let row = Box(.horizontal, spacing: 12)
        widget = row
        row.addStyle("room-row")
        row.append(avatar.widget)
        column.hexpand = true
        column.valign = .center
        row.append(column)
        column.append(line(name, time))
        let second = line(preview, muted)
        second.append(badge)
        second.prepend(previewPrefix)
        column.append(second)
        for style in ["caption-heading", "dim-label"] { title.addStyle(style) }
        title.xalign = 0
        row.append(title)
        name.addStyle("room-name")
        for style in ["caption", "dim-label", "numeric"] { time.addStyle(style) }
        for style in ["caption", "dim-label", "room-preview"] { preview.addStyle(style) }
        for style in ["caption", "preview-prefix"] { previewPrefix.addStyle(style) }
        for style in ["unread-badge", "numeric"] { badge.addStyle(style) }
        badge.valign = .center
        muted.addStyle("dim-label")
    }

    /// Shows a section title instead of a room.
    func show(_ section: SectionTitle) {
        shown = nil
        setTitle(true)
        title.text = section.text
        IndexedList.item(of: widget).setAccessibleLabel(section.text)
    }

    private func setTitle(_ isTitle: Bool) {
        title.isVisible = isTitle
        avatar.widget.isVisible = !isTitle
        column.isVisible = !isTitle
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
            if row.avatar != nil { avatar.show(row.name, row.avatar, from: avatarLoader) }
            return
        }
        shown = content
        renderCount += 1
        setTitle(false)
        avatar.show(row.name, row.avatar, from: avatarLoader)
        avatar.widget.setFallback(row.avatarFallback)
        name.text = row.name
        time.text = text(of: moment)
        let line = row.previewLine(.gettext)
        preview.text = line.text
        previewPrefix.isVisible = !line.prefix.isEmpty
        previewPrefix.text = line.prefix
        previewPrefix.setStyle("draft", line.emphasis == .draft)
        previewPrefix.setStyle("error", line.emphasis == .failure)
        let badgeText = row.badge(isInView: isInView)
        badge.isVisible = badgeText != nil
        badge.text = badgeText ?? ""
        badge.setStyle("muted", row.isMuted)
        muted.isVisible = row.isMuted
        widget.setStyle("unread", row.isUnread(isInView: isInView))
        IndexedList.item(of: widget).setAccessibleLabel(
            row.accessibleText(time: time.text, isInView: isInView, .gettext))
    }

    private func text(of moment: Moment) -> String {
        if let formatted, formatted.moment == moment { return formatted.text }
        let text = dateText.brief(moment.date, moment.day)
        formatted = (moment, text)
        return text
    }

    private func line(_ first: Label, _ second: Widget) -> Box {
        let line = Box(.horizontal, spacing: 6)
        first.xalign = 0
        first.setEllipsize(.end)
        // Limits the natural width: a long text would widen the list at the expense of the other pane.
        first.maxWidthChars = 26
        first.isSingleLine = true
        first.hexpand = true
        line.append(first)
        line.append(second)
        return line
    }
}
