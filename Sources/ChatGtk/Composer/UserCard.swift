import GtkKit
import MediaGtk

/// The card of a mentioned user or room: avatar, name, identifier and action (HKW-56).
///
/// Retain it while it is shown: releasing it cancels loading the avatar.
final class UserCard {
    let widget: Widget
    private let avatar = AvatarView(size: 48)

    /// What the card shows.
    struct Content {
        var name: String
        /// Disambiguates the name; empty for none.
        var identifier: String
        var avatarURI: String?
        /// An icon in place of the avatar, for anything but a user.
        var icon: String?
        /// The button's label and action, or `nil` for no button.
        var action: (label: String, run: @MainActor () -> Void)?
    }

    init(_ content: Content, avatarLoader: AvatarLoader?) {
        let card = Box(.horizontal, spacing: 12)
        widget = card
        card.addStyle("person-card")
        avatar.show(content.name, content.avatarURI, from: avatarLoader)
        if let icon = content.icon {
            avatar.widget.iconName = icon
            avatar.widget.showsInitials = false
        }
        avatar.widget.valign = .start
        card.append(avatar.widget)
        let column = Box(.vertical, spacing: 3)
        column.valign = .center
        column.append(Self.label(content.name, "heading"))
        if !content.identifier.isEmpty {
            let identifier = Self.label(content.identifier, "caption")
            identifier.addStyle("dim-label")
            // Selectable, so that the identifier can be copied, but not focusable: on Tab, a selectable label claims to
            // take the focus but leaves it where it was.
            identifier.isSelectable = true
            identifier.canFocus = false
            column.append(identifier)
        }
        if let action = content.action {
            let button = Button(mnemonic: action.label)
            button.halign = .start
            button.marginTop = 6
            button.onClick(action.run)
            column.append(button)
        }
        card.append(column)
        card.setAccessibleLabel([content.name, content.identifier].filter { !$0.isEmpty }.joined(separator: ", "))
    }

    private static func label(_ text: String, _ style: String) -> Label {
        let label = Label(text)
        label.addStyle(style)
        label.xalign = 0
        label.setEllipsize(.end)
        label.maxWidthChars = 28
        return label
    }
}
