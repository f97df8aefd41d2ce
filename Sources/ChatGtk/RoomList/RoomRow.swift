import CGtk
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
        gtk_widget_set_hexpand(column.cast(), 1)
        gtk_widget_set_valign(column.cast(), GTK_ALIGN_CENTER)
        row.append(column)
        column.append(line(name, time))
        let second = line(preview, mentions)
        second.append(badge)
        column.append(second)
        for style in ["caption-heading", "dim-label"] { title.addStyle(style) }
        gtk_label_set_xalign(title.cast(), 0)
        row.append(title)
        name.addStyle("room-name")
        for style in ["caption", "dim-label", "numeric"] { time.addStyle(style) }
        for style in ["caption", "dim-label", "room-preview"] { preview.addStyle(style) }
        badge.addStyle("unread-badge")
        for style in ["unread-badge", "mention-badge"] { mentions.addStyle(style) }
        for label in [badge, mentions] { gtk_widget_set_valign(label.cast(), GTK_ALIGN_CENTER) }
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
            adw_avatar_set_icon_name(avatar.widget.cast(), "document-edit-symbolic")
            adw_avatar_set_show_initials(avatar.widget.cast(), 0)
        } else {
            adw_avatar_set_show_initials(avatar.widget.cast(), 1)
        }
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
        gtk_label_set_xalign(first.cast(), 0)
        gtk_label_set_ellipsize(first.cast(), PANGO_ELLIPSIZE_END)
        // Limits the natural width: a long text would widen the list at the expense of the other pane.
        gtk_label_set_max_width_chars(first.cast(), 26)
        gtk_label_set_single_line_mode(first.cast(), 1)
        gtk_widget_set_hexpand(first.cast(), 1)
        line.append(first)
        line.append(second)
        return line
    }
}
