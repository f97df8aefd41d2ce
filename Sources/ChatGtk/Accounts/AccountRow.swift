import ChatCore
import ChatViewModels
import GtkKit

/// A row of the account list: avatar, name, user ID or status, unread count, and a check mark if displayed.
enum AccountRow {
    /// - Parameter signOut: called by the button of an account that cannot be opened.
    static func make(_ row: AccountsCoordinator.Row, signOut: @escaping @MainActor () -> Void) -> Widget {
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
        if row.offersSignOut { line.append(signOutButton(of: row, signOut)) }
        let result = ListBoxRow(line)
        result.setAccessibleLabel(text.accessibleText(of: row))
        return result
    }

    /// Shows the account's initials, or a computer for the local rooms.
    static func show(_ row: AccountsCoordinator.Row, in avatar: Avatar) {
        avatar.text = AccountText(.desktop).name(of: row)
        avatar.setFallback(row.avatarFallback)
    }

    private static func signOutButton(
        of row: AccountsCoordinator.Row, _ signOut: @escaping @MainActor () -> Void
    ) -> Button {
        let button = Button(icon: "system-log-out-symbolic")
        let text = AccountText(.desktop).signOutButton(of: row)
        button.tooltip = text
        button.setAccessibleLabel(text)
        button.addStyle("flat")
        button.valign = .center
        button.isSensitive = !row.isSigningOut
        button.onClick(signOut)
        return button
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
