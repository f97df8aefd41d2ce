import ChatCore
import ChatViewModels
import GtkKit

/// A row of the account list: avatar, name, user ID or status, unread count, and a check mark if displayed.
enum AccountRow {
    static func make(_ row: AccountsCoordinator.Row) -> Widget {
        let line = Box(.horizontal, spacing: 12)
        let text = AccountText(.desktop)
        let name = text.name(of: row)
        let avatar = Avatar(size: 32)
        show(row, in: avatar)
        line.append(avatar)
        let column = Box(.vertical)
        column.hexpand = true
        column.valign = .center
        let detail = text.detail(of: row)
        column.append(label(name, style: nil))
        if !detail.isEmpty { column.append(label(detail, style: "dim-label")) }
        line.append(column)
        if let unread = row.unreadLabel {
            let badge = Label(unread)
            badge.addStyle("unread-badge")
            badge.valign = .center
            line.append(badge)
        }
        if row.isSelected { line.append(Image(icon: "object-select-symbolic")) }
        let result = ListBoxRow(line)
        result.setAccessibleLabel(text.accessibleText(of: row))
        return result
    }

    /// Shows the account's initials, or a computer for the local rooms.
    static func show(_ row: AccountsCoordinator.Row, in avatar: Avatar) {
        avatar.text = AccountText(.desktop).name(of: row)
        avatar.setFallback(row.avatarFallback)
    }

    private static func label(_ text: String, style: String?) -> Label {
        let label = Label(text)
        label.xalign = 0
        label.setEllipsize(.end)
        if let style {
            label.addStyle(style)
            label.addStyle("caption")
        }
        return label
    }
}
