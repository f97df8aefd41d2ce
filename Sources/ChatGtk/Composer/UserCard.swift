import CGtk
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
            adw_avatar_set_icon_name(avatar.widget.cast(), icon)
            adw_avatar_set_show_initials(avatar.widget.cast(), 0)
        }
        gtk_widget_set_valign(avatar.widget.cast(), GTK_ALIGN_START)
        card.append(avatar.widget)
        let column = Box(.vertical, spacing: 3)
        gtk_widget_set_valign(column.cast(), GTK_ALIGN_CENTER)
        column.append(Self.label(content.name, "heading"))
        if !content.identifier.isEmpty {
            let identifier = Self.label(content.identifier, "caption")
            identifier.addStyle("dim-label")
            // Selectable, so that the identifier can be copied, but not focusable: on Tab, a selectable label claims to
            // take the focus but leaves it where it was.
            gtk_label_set_selectable(identifier.cast(), 1)
            gtk_widget_set_can_focus(identifier.cast(), 0)
            column.append(identifier)
        }
        if let action = content.action {
            let button = Button(sinking: gtk_button_new_with_mnemonic(action.label))
            gtk_widget_set_halign(button.cast(), GTK_ALIGN_START)
            gtk_widget_set_margin_top(button.cast(), 6)
            button.onClick(action.run)
            column.append(button)
        }
        card.append(column)
        card.setAccessibleLabel([content.name, content.identifier].filter { !$0.isEmpty }.joined(separator: ", "))
    }

    private static func label(_ text: String, _ style: String) -> Label {
        let label = Label(text)
        label.addStyle(style)
        gtk_label_set_xalign(label.cast(), 0)
        gtk_label_set_ellipsize(label.cast(), PANGO_ELLIPSIZE_END)
        gtk_label_set_max_width_chars(label.cast(), 28)
        return label
    }
}
