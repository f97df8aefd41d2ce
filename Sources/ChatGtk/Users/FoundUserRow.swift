import ChatCore
import GtkKit
import MediaGtk

/// A user among the results of a search.
final class FoundUserRow: ArrangedRow {
    let user: User
    let widget: ActionRow
    private let avatar = AvatarView(size: 32)
    private let mark = Image(icon: "object-select-symbolic")

    var id: MemberID { user.id }

    init(_ user: User, avatarLoader: AvatarLoader) {
        self.user = user
        widget = ActionRow(user.title)
        if user.name != nil { widget.setSubtitle(user.id.rawValue) }
        widget.limitToOneLineEach()
        widget.isActivatable = true
        avatar.show(user.title, user.avatar, from: avatarLoader)
        widget.addPrefix(avatar.widget)
        widget.addSuffix(mark)
    }

    func show(isChosen: Bool) { mark.isVisible = isChosen }

    func grabFocus() { widget.grabFocus() }
}
