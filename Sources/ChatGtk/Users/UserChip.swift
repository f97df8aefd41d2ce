import ChatCore
import ChatViewModels
import GtkKit

/// A chosen user, whom a click removes.
final class UserChip: ArrangedRow {
    let user: User
    let widget: FlowBoxChild
    private let button = Button()

    var id: MemberID { user.id }

    init(_ user: User, removed: @escaping @MainActor () -> Void) {
        self.user = user
        let line = Box(.horizontal, spacing: 6)
        let name = Label(user.title)
        name.setEllipsize(.end)
        name.maxWidthChars = 24
        line.append(name)
        line.append(Image(icon: "parlance-close-symbolic"))
        button.setChild(line)
        button.addStyle("user-chip")
        button.tooltip = user.id.rawValue
        button.setAccessibleLabel(UserSearchText(.desktop).removal(of: user))
        button.onClick(removed)
        widget = FlowBoxChild(button)
        widget.isFocusable = false
    }

    func grabFocus() { button.grabFocus() }
}
