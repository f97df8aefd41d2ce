import ChatViewModels
import ComposerGtk
import GtkKit
import MediaGtk

/// The card of a mentioned user or room: avatar, name, identifier and action (HKW-56).
///
/// Retain it while it is shown: releasing it cancels loading the avatar.
final class UserCard {
    let widget: Widget
    private let avatar = AvatarView(size: 48)

    /// The card's content and action.
    struct Content {
        var card: MentionCard
        /// Opens what the mention leads to; `nil` if the card has no button.
        var open: (@MainActor () -> Void)?
    }

    init(_ content: Content, avatarLoader: AvatarLoader?) {
        let mention = content.card
        let card = Box(.horizontal, spacing: 12)
        widget = card
        card.addStyle("user-card")
        avatar.show(mention.name, mention.avatarURI, from: avatarLoader)
        avatar.widget.setFallback(mention.avatarFallback)
        avatar.widget.valign = .start
        card.append(avatar.widget)
        let column = Box(.vertical, spacing: 3)
        column.valign = .center
        column.append(Self.label(mention.name, "heading"))
        if !mention.identifier.isEmpty {
            let identifier = Self.label(mention.identifier, "caption")
            identifier.addStyle("dim-label")
            // Selectable, so that the identifier can be copied, but not focusable: on Tab, a selectable label claims to
            // take the focus but leaves it where it was.
            identifier.isSelectable = true
            identifier.canFocus = false
            column.append(identifier)
        }
        if let open = content.open, let opening = mention.opening {
            let button = Button(mnemonic: opening.button(.gettext))
            button.halign = .start
            button.marginTop = 6
            button.onClick(open)
            column.append(button)
        }
        card.append(column)
        card.setAccessibleLabel(mention.accessibleText)
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
