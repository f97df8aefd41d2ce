import ChatCore
import ChatViewModels
import ComposerGtk
import GtkKit
import MediaGtk

/// A row of the room list: avatar, name, time, last message and unread count.
final class RoomRow {
    let widget: Widget
    private let avatar = AvatarView(size: 40)
    private let name = Label()
    private let time = Label()
    private let preview = Label()
    private let badge = Label()
    private let mentions = Label()
    private let title = Label()
    private let column = Box(.vertical, spacing: 3)

    init() {
        let row = Box(.horizontal, spacing: 12)
        widget = row
        row.addStyle("room-row")
        row.append(avatar.widget)
        column.hexpand = true
        column.valign = .center
        row.append(column)
        column.append(line(name, time))
        let second = line(preview, mentions)
        second.append(badge)
        column.append(second)
        for style in ["caption-heading", "dim-label"] { title.addStyle(style) }
        title.xalign = 0
        row.append(title)
        name.addStyle("room-name")
        for style in ["caption", "dim-label", "numeric"] { time.addStyle(style) }
        for style in ["caption", "dim-label", "room-preview"] { preview.addStyle(style) }
        badge.addStyle("unread-badge")
        for style in ["unread-badge", "mention-badge"] { mentions.addStyle(style) }
        for label in [badge, mentions] { label.valign = .center }
    }

    /// Shows a section title instead of a room.
    func show(_ section: SectionTitle) {
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

    func show(_ row: RoomListViewModel.Row, _ avatarLoader: AvatarLoader?) {
        setTitle(false)
        avatar.show(row.name, row.avatar, from: avatarLoader)
        if row.kind == .notes {
            avatar.widget.iconName = "document-edit-symbolic"
        }
        avatar.widget.showsInitials = row.kind != .notes
        name.text = row.name
        time.text = DateText.brief(row.lastActivity, row.day)
        preview.text = row.previewText(.gettext)
        if case .draft = row.preview { preview.addStyle("draft") } else { preview.removeStyle("draft") }
        if case .failed = row.preview { preview.addStyle("error") } else { preview.removeStyle("error") }
        badge.isVisible = row.unreadLabel != nil
        badge.text = row.unreadLabel ?? ""
        mentions.isVisible = row.mentionLabel != nil
        mentions.text = row.mentionLabel ?? ""
        widget.setStyle("unread", row.unreadCount > 0)
        IndexedList.item(of: widget).setAccessibleLabel(row.accessibleText(time: time.text, .gettext))
    }

    private func line(_ first: Label, _ second: Label) -> Box {
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
