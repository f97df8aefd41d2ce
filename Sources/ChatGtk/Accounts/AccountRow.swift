import CGtk
import ChatCore
import ChatViewModels
import GtkKit

/// A row of the account list: avatar, name, user ID or status, unread count, and a check mark if displayed.
enum AccountRow {
    static func make(_ row: AccountsCoordinator.Row) -> Widget {
        let line = Box(.horizontal, spacing: 12)
        let text = AccountText(.desktop)
        let name = text.name(of: row)
        let avatar = Widget(sinking: adw_avatar_new(32, name, 1))
        if row.isLocal { adw_avatar_set_icon_name(avatar.cast(), "computer-symbolic") }
        if row.isLocal { adw_avatar_set_show_initials(avatar.cast(), 0) }
        line.append(avatar)
        let column = Box(.vertical)
        gtk_widget_set_hexpand(column.cast(), 1)
        gtk_widget_set_valign(column.cast(), GTK_ALIGN_CENTER)
        let detail = text.detail(of: row)
        column.append(label(name, style: nil))
        if !detail.isEmpty { column.append(label(detail, style: "dim-label")) }
        line.append(column)
        if row.unreadCount > 0 {
            let badge = Label(row.unreadCount > 99 ? "99+" : "\(row.unreadCount)")
            badge.addStyle("unread-badge")
            gtk_widget_set_valign(badge.cast(), GTK_ALIGN_CENTER)
            line.append(badge)
        }
        if row.isSelected { line.append(Widget(sinking: gtk_image_new_from_icon_name("object-select-symbolic"))) }
        let result = Widget(sinking: gtk_list_box_row_new())
        gtk_list_box_row_set_child(result.cast(), line.cast())
        result.setAccessibleLabel(text.accessibleText(of: row))
        return result
    }

    private static func label(_ text: String, style: String?) -> Label {
        let label = Label(text)
        gtk_label_set_xalign(label.cast(), 0)
        gtk_label_set_ellipsize(label.cast(), PANGO_ELLIPSIZE_END)
        if let style {
            label.addStyle(style)
            label.addStyle("caption")
        }
        return label
    }
}
