import CGtk
import GtkKit

/// Who or what a mention means: picture, name, identifier, and the way there (HKW-56).
///
/// To be kept while it is shown: its picture may take a while.
final class UserCard {
    let widget: Widget
    private let avatar = AvatarView(size: 48)

    /// What is known of it.
    struct Content {
        var name: String
        /// What tells it from others of that name; empty for nothing.
        var identifier: String
        var avatarURI: String?
        /// In place of a picture, for what is no person.
        var icon: String?
        /// What the button says and does; nil for none.
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
            // An identifier may be pasted somewhere else. Tab goes to the button: a selectable label would say that it
            // took the focus and leave it where it was.
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
