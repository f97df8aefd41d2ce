import CGtk
import GtkKit

/// Opens GTK's emoji chooser; belongs in the composer's end slot.
final class EmojiButton {
    let widget: MenuButton
    /// Called with the chosen emoji.
    var onPick: ((String) -> Void)?

    init() {
        widget = MenuButton(sinking: gtk_menu_button_new())
        widget.iconName = "face-smile-symbolic"
        widget.tooltip = translated("Add an Emoji")
        widget.setAccessibleLabel(translated("Add an Emoji"))
        for style in ["flat", "circular", "parlance-composer-button"] { widget.addStyle(style) }
        gtk_menu_button_set_direction(widget.cast(), GTK_ARROW_UP)
        // Created on first use: it loads a table of all emoji.
        widget.setPopover { [weak self] in
            let chooser = Widget(sinking: gtk_emoji_chooser_new())
            chooser.connect("emoji-picked") { [weak self] arguments in self?.onPick?(arguments.string(0)) }
            return chooser
        }
    }

    func open() { gtk_menu_button_popup(widget.cast()) }
}
